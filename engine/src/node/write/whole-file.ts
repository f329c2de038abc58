// Writes files so that nobody takes a part of one for the whole, whatever stops the process or the machine. Removes what
// a failure leaves.
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { JsonObject } from '../../core/message/json.ts'
import { type Disk, ignoring, nodeDisk, remove, withFile, writeWhole } from './disk.ts'

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

/** Of a text in parts. */
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
