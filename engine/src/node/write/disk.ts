// The few file operations that writing a session needs, as a port: tests count them, cut them short and interrupt them.
// All are synchronous, so that nothing can come between a check of the lease and the write it allows.
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

export type FileState = {
  readonly size: number
  readonly isFile: boolean
  /** How many names the file has; none when it was removed while it is open. */
  readonly names: number
  readonly inode: number
  readonly modifiedAt: number
}

/** How a file is opened. No way of opening follows a symbolic link at the end of the path. */
export type Opening = 'read' | 'append' | 'create-only'

export type Disk = {
  readonly open: (path: string, opening: Opening) => number
  readonly stat: (file: number) => FileState
  readonly read: (file: number, into: Uint8Array, position: number) => number
  /** May write less than it was given, as write(2) may. */
  readonly write: (file: number, bytes: Uint8Array) => number
  readonly truncate: (file: number, size: number) => void
  readonly sync: (file: number) => void
  readonly close: (file: number) => void
  /** A second name for a file. Fails with EEXIST when the name is taken: of many callers exactly one succeeds. */
  readonly link: (from: string, to: string) => void
  readonly rename: (from: string, to: string) => void
  readonly unlink: (path: string) => void
  readonly list: (folder: string) => readonly string[]
  readonly makeFolder: (path: string) => void
}

const { O_RDONLY, O_WRONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = constants
// Windows has neither the flag nor, for most users, the links.
const noFollow = constants.O_NOFOLLOW ?? 0
const flags: Readonly<Record<Opening, number>> = {
  read: O_RDONLY | noFollow,
  append: O_RDWR | O_APPEND | O_CREAT | noFollow,
  'create-only': O_WRONLY | O_CREAT | O_EXCL | noFollow,
}

export const nodeDisk: Disk = {
  open: (path, opening) => openSync(path, flags[opening], 0o600),
  stat: (file) => {
    const found = fstatSync(file)
    return { size: found.size, isFile: found.isFile(), names: found.nlink, inode: found.ino, modifiedAt: found.mtimeMs }
  },
  read: (file, into, position) => readSync(file, into, 0, into.length, position),
  write: (file, bytes) => writeSync(file, bytes),
  truncate: ftruncateSync,
  sync: fsyncSync,
  close: closeSync,
  link: linkSync,
  rename: renameSync,
  unlink: unlinkSync,
  list: (folder) => readdirSync(folder),
  makeFolder: makeFolders,
}

/**
 * With the folders above it, where they are missing. Not `recursive: true`: where the system lets nobody make a folder and
 * says that there is none (/proc), Node tries again for ever.
 */
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

/** What the system said, in plain words, when it was the system; anything else is a mistake of ours and goes on up. */
export function diskProblem(error: unknown): DiskProblem {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error) {
    const words = error.syscall === ownCall ? undefined : plainWords[error.code]
    const path = 'path' in error && typeof error.path === 'string' ? `${error.path}: ` : ''
    return { code: error.code, message: words === undefined ? error.message : `${path}${words}` }
  }
  throw error
}

/** For a list in which the path stands already. */
export function whyUnreadable(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return ('code' in error && plainWords[String(error.code)]) || error.message
}

const plainWords: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder. Check the name.',
  EACCES: 'no permission. Run as a user who has it, or change the mode.',
  EPERM: 'no permission. Run as a user who has it, or change the mode.',
  ENOTDIR: 'the path leads through something that is not a folder. Check the name.',
  EISDIR: 'this is a folder. Name a file.',
  EEXIST: 'the name is taken. Choose another place.',
  ELOOP: 'a link, and it is not followed here, or leads in a circle. Name the file itself.',
  ENAMETOOLONG: 'the name is too long. Choose a shorter one.',
  EROFS: 'the file system is read-only. Choose another place.',
  ENOSPC: 'no space left on the disk. Make room, or choose another place.',
  EDQUOT: 'the disk quota is used up. Make room, or choose another place.',
}

const ownCall = 'none'

/** A failure that we see before the system does, told in the same way. */
export function systemError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code, syscall: ownCall })
}

/** Runs it; undefined when the system answers with one of these codes. Other failures go on up. */
export function unless<T>(codes: readonly string[], run: () => T): T | undefined {
  try {
    return run()
  } catch (error) {
    if (codes.includes(diskProblem(error).code)) return undefined
    throw error
  }
}

/** Gone is gone: it need not have been there. */
export function remove(disk: Disk, path: string): void {
  unless(['ENOENT'], () => disk.unlink(path))
}

export type WritableFile = { readonly disk: Disk; readonly file: number }

/** One after another until all bytes are out: a short write is followed by the rest. */
export function writeWhole(to: WritableFile, bytes: Uint8Array, onProgress?: (written: number) => void): void {
  let written = 0
  while (written < bytes.length) {
    written += to.disk.write(to.file, written === 0 ? bytes : bytes.subarray(written))
    onProgress?.(written)
  }
}
