// The file operations that writing a session needs, as a port, so that tests can count, shorten and interrupt them. All
// are synchronous: nothing can run between a lease check and the write it allows. Also writes of whole files.

import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { JsonObject } from '../../core/message/json.ts'
import type { StoreErrorReason } from '../../core/ports/session-store.ts'

/** None of them follows a symbolic link at the end of the path. */
export type Opening = 'read' | 'append' | 'create-only'

const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants
const noFollow = constants.O_NOFOLLOW ?? 0
const flags: Readonly<Record<Opening, number>> = {
  read: O_RDONLY | noFollow,
  append: O_RDWR | O_APPEND | O_CREAT | noFollow,
  'create-only': O_WRONLY | O_CREAT | O_EXCL | noFollow,
}

export const nodeDisk = {
  open: (path: string, opening: Opening): number => openSync(path, flags[opening], 0o600),
  /** `names` counts hard links: 0 if the file was removed while open. */
  stat: (file: number) => {
    const found = fstatSync(file)
    return { size: found.size, isFile: found.isFile(), names: found.nlink, inode: found.ino, modifiedAt: found.mtimeMs }
  },
  read: (file: number, into: Uint8Array, position: number): number => readSync(file, into, 0, into.length, position),
  /** May write less than given, like write(2). */
  write: (file: number, bytes: Uint8Array): number => writeSync(file, bytes),
  truncate: (file: number, size: number): void => ftruncateSync(file, size),
  sync: (file: number): void => fsyncSync(file),
  close: (file: number): void => closeSync(file),
  /** Fails with EEXIST if the name is taken: of many callers exactly one succeeds. */
  link: (from: string, to: string): void => linkSync(from, to),
  rename: (from: string, to: string): void => renameSync(from, to),
  unlink: (path: string): void => unlinkSync(path),
  list: (folder: string): readonly string[] => readdirSync(folder),
  makeFolder: makeFolders,
}

export type Disk = Readonly<typeof nodeDisk>

/** Creates parents too. Not `recursive: true`: under /proc Node would retry forever. */
function makeFolders(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const { code } = diskProblem(error)
    if (code === 'EEXIST' && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
    if (code !== 'ENOENT' || existsSync(dirname(path))) throw error
    makeFolders(dirname(path))
    makeFolders(path)
  }
}

export type DiskProblem = { readonly code: string; readonly message: string }

/** A system error in plain words. Throws any other error again, because it is a bug of ours. */
export function diskProblem(error: unknown): DiskProblem {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error) {
    const words = error.syscall === ownCall ? undefined : plainWords[error.code]
    const path = 'path' in error && typeof error.path === 'string' ? `${error.path}: ` : ''
    return { code: error.code, message: words === undefined ? error.message : `${path}${words}` }
  }
  throw error
}

/** The reason for a StoreError after a failed operation on a session's file. */
export function storeReason({ code }: Pick<DiskProblem, 'code'>): StoreErrorReason {
  if (code === 'ENOENT' || code === 'ESTALE') return 'lost'
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return 'denied'
  return ['ELOOP', 'EEXIST', 'ENOTDIR', 'EISDIR', 'EINVAL', 'ENAMETOOLONG'].includes(code) ? 'invalid' : 'unavailable'
}

/** Omits the path, for a list that already shows it. */
export function whyUnreadable(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return ('code' in error && plainWords[String(error.code)]) || error.message
}

const plainWords: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder. Check the name.',
  EACCES: 'permission denied. Run as another user, or change the mode.',
  EPERM: 'permission denied. Run as another user, or change the mode.',
  ENOTDIR: 'part of the path is not a folder. Check the name.',
  EISDIR: 'this is a folder. Name a file.',
  EEXIST: 'the file exists already. Choose another name.',
  ELOOP: 'symbolic links are not followed here. Name the file itself.',
  ENAMETOOLONG: 'the name is too long. Choose a shorter one.',
  EROFS: 'the file system is read-only. Choose another place.',
  ENOSPC: 'no space left on the disk. Free some, or choose another place.',
  EDQUOT: 'the disk quota is used up. Free some space, or choose another place.',
}

const ownCall = 'none'

/** An error that we detect before the system does, in the same form. */
export function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, syscall: ownCall })
}

/** Undefined if the system fails with one of these codes. Other errors are thrown. */
export function ignoring<T>(codes: readonly string[], run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (codes.includes(diskProblem(error).code)) return undefined
    throw error
  }
}

/** Undefined if the system fails for any reason. */
export function tolerating<T>(run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    diskProblem(error)
    return undefined
  }
}

export function remove(disk: Disk, path: string): void {
  ignoring(['ENOENT'], () => disk.unlink(path))
}

/** Opens the file, and always closes it. */
export function withFile<T>(disk: Disk, [path, opening]: readonly [string, Opening], use: (file: number) => T): T {
  const file = disk.open(path, opening)
  try {
    return use(file)
  } finally {
    disk.close(file)
  }
}

type WritableFile = { readonly disk: Disk; readonly file: number }

/** Repeats short writes until all bytes are written. */
export function writeWhole(to: WritableFile, bytes: Uint8Array, onProgress?: (written: number) => void): void {
  let written = 0
  while (written < bytes.length) {
    written += to.disk.write(to.file, written === 0 ? bytes : bytes.subarray(written))
    onProgress?.(written)
  }
}

// Writes whole files: a reader never sees part of one, even after a crash of the process or the machine. Removes the remains of a
// failure.

export type WholeFileOptions = {
  readonly disk?: Disk
  /** fsync before it gets its name. Default: true. */
  readonly flush?: boolean
}

/** Replaces an existing file and creates missing folders. */
export function replaceFile(path: string, bytes: Uint8Array, options: WholeFileOptions = {}): void {
  const { disk = nodeDisk } = options
  disk.makeFolder(dirname(path))
  const draft = writeDraft(path, bytes, options)
  try {
    disk.rename(draft, path)
  } catch (error) {
    remove(disk, draft)
    throw error
  }
}

/** False if the name is taken; nothing changes then. */
export function createFile(path: string, bytes: Uint8Array, options: WholeFileOptions = {}): boolean {
  const { disk = nodeDisk } = options
  const draft = writeDraft(path, bytes, options)
  try {
    const isLinked = ignoring(['EEXIST'], () => {
      disk.link(draft, path)
      return true
    })
    return isLinked ?? false
  } finally {
    remove(disk, draft)
  }
}

function writeDraft(path: string, bytes: Uint8Array, { disk = nodeDisk, flush = true }: WholeFileOptions): string {
  const draft = `${path}.${randomUUID()}.draft`
  try {
    withFile(disk, [draft, 'create-only'], (file) => {
      writeWhole({ disk, file }, bytes)
      if (flush) disk.sync(file)
    })
    return draft
  } catch (error) {
    remove(disk, draft)
    throw error
  }
}

/** One record on each line. False if the name is taken; nothing changes then. */
export function writeNewTranscript(path: string, give: (write: (record: JsonObject) => void) => void): boolean {
  return writeNewFile(path, (write) => give((record) => write(`${JSON.stringify(record)}\n`)))
}

const batchSize = 500

/** Writes a text in parts. */
export function writeNewFile(path: string, give: (write: (text: string) => void) => void): boolean {
  const file = ignoring(['EEXIST'], () => nodeDisk.open(path, 'create-only'))
  if (file === undefined) return false
  let pending: string[] = []
  const flush = (): void => {
    writeWhole({ disk: nodeDisk, file }, Buffer.from(pending.join('')))
    pending = []
  }
  try {
    give((text) => {
      if (pending.push(text) === batchSize) flush()
    })
    flush()
    return true
  } catch (error) {
    remove(nodeDisk, path)
    throw error
  } finally {
    nodeDisk.close(file)
  }
}

const chunkSize = 1 << 20

/** Copies a session that another process is writing, up to its last whole line. A missing one gives an empty copy. */
export async function copyWholeRecords(disk: Disk, from: string, to: string): Promise<void> {
  const draft = `${to}.draft`
  const target = disk.open(draft, 'create-only')
  try {
    try {
      await copyInto(disk, from, target)
    } finally {
      disk.close(target)
    }
    disk.link(draft, to)
  } finally {
    remove(disk, draft)
  }
}

async function copyInto(disk: Disk, from: string, target: number): Promise<void> {
  const source = ignoring(['ENOENT'], () => disk.open(from, 'read'))
  if (source === undefined) return
  try {
    const { size } = disk.stat(source)
    const chunk = new Uint8Array(chunkSize)
    let wholeLines = 0
    for (let at = 0, got = -1; got !== 0; at += got) {
      got = disk.read(source, chunk, at)
      if (got === 0 && at < size) throw new Error(`${from} was truncated while it was being copied.`)
      const part = chunk.subarray(0, got)
      writeWhole({ disk, file: target }, part)
      const lineEnd = part.lastIndexOf(0x0a) + 1
      if (lineEnd > 0) wholeLines = at + lineEnd
      // Lets leases be renewed during a long copy.
      await setImmediate()
    }
    disk.truncate(target, wholeLines)
  } finally {
    disk.close(source)
  }
}
