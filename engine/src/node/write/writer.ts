// The one writer of a session: appends records so that a crash at any byte costs at most the record it cut.
// It never changes a record that was written, and never writes without the lease.
import { dirname, join, resolve } from 'node:path'
import type { JsonObject } from '../../core/message/json.ts'
import { createIdTable } from '../../core/transcript/tree/id-table.ts'
import {
  acquireLease,
  type Holder,
  type Lease,
  type LeaseLost,
  type LeaseOptions,
  newToken,
  nodeLeasePorts,
} from '../lease/lease.ts'
import { type Disk, type DiskProblem, diskProblem, systemError, unless, writeWhole } from './disk.ts'
import { copyWholeRecords } from './fork.ts'
import { type LineRules, type RecordProblem, toLines } from './record-lines.ts'

export type WriterOptions = LeaseOptions & {
  /** What to do when somebody else writes this session: say who (the default), or go on in a copy of it. */
  readonly ifHeld?: 'refuse' | 'fork'
  /** When bytes are forced onto the disk: never (the system decides), at each `flush`, or with each append. */
  readonly sync?: 'never' | 'turn' | 'always'
  /** Which uuids the file held before it was opened. None, unless said. */
  readonly knows?: (uuid: string) => boolean
  /** Whether a `logicalParentUuid` may lie in another file: refused unless said. */
  readonly foreignLogicalParents?: 'refuse' | 'allow'
}

export type OpenResult =
  | { readonly type: 'opened'; readonly writer: TranscriptWriter; readonly forkedFrom?: string }
  | { readonly type: 'held'; readonly by: Holder }
  | ({ readonly type: 'open-failed' } & DiskProblem)

export type AppendResult =
  | { readonly type: 'appended'; readonly records: number; readonly bytes: number }
  | { readonly type: 'refused'; readonly problem: RecordProblem }
  | LeaseLost
  /** `left` is what the file has of it: nothing, or a part (of one record a torn line, of several maybe whole ones). */
  | ({ readonly type: 'write-failed'; readonly left: 'nothing' | 'part' } & DiskProblem)
  | SyncFailed

export type FlushResult = { readonly type: 'flushed' } | SyncFailed

/** The records are in the file, and may not outlive a power cut. */
export type SyncFailed = { readonly type: 'sync-failed' } & DiskProblem

export type TranscriptWriter = {
  readonly path: string
  /** The lease's token at this moment. */
  readonly token: () => string
  /** One record, in one write. Records stand in the file in the order of the calls. */
  readonly append: (record: JsonObject) => AppendResult
  /**
   * Several records that belong together (a compaction's), in one write: all of them or none. Only a kill or a power cut
   * in the middle of that write can leave the first of them alone; a compaction of ours is then taken out of the view by
   * whoever opens the session next.
   */
  readonly appendAll: (records: readonly JsonObject[]) => AppendResult
  /** For the end of a turn. */
  readonly flush: () => FlushResult
  /** Flushes and gives the lease back. Once closed, a writer takes no more. */
  readonly close: () => FlushResult
}

/** Opens a session for writing, and makes it and its folders where they are missing. */
export async function openWriter(path: string, options: WriterOptions): Promise<OpenResult> {
  const session = resolve(path)
  const ports = { ...nodeLeasePorts, ...options.ports }
  try {
    ports.disk.makeFolder(dirname(session))
    const first = openHere(session, ports.disk, options)
    if (first.type !== 'held' || options.ifHeld !== 'fork') return first
    const fork = join(dirname(session), `${newToken(ports)}.jsonl`)
    await copyWholeRecords(ports.disk, session, fork)
    const opened = openHere(fork, ports.disk, options)
    return opened.type === 'opened' ? { ...opened, forkedFrom: session } : opened
  } catch (error) {
    return { type: 'open-failed', ...diskProblem(error) }
  }
}

function openHere(path: string, disk: Disk, options: WriterOptions): OpenResult {
  const asked = acquireLease(path, options)
  if (asked.type === 'held') return asked
  try {
    const file = disk.open(path, 'append')
    const state = disk.stat(file)
    if (!state.isFile) {
      disk.close(file)
      throw systemError('EINVAL', `${path} is not a file. Give the path of a file, or of none yet.`)
    }
    if (options.sync !== undefined && options.sync !== 'never') syncFolder(disk, dirname(path))
    return { type: 'opened', writer: writerOn({ path, file, disk, lease: asked.lease }, options) }
  } catch (error) {
    asked.lease.release()
    throw error
  }
}

/** So that a new file's name outlives a power cut too. Not every system lets a folder be opened; there it does unasked. */
function syncFolder(disk: Disk, folder: string): void {
  const file = unless(['EISDIR', 'EPERM', 'EACCES'], () => disk.open(folder, 'read'))
  if (file === undefined) return
  try {
    unless(['EINVAL', 'EPERM'], () => disk.sync(file))
  } finally {
    disk.close(file)
  }
}

type OpenFile = { readonly path: string; readonly file: number; readonly disk: Disk; readonly lease: Lease }

function writerOn(open: OpenFile, options: WriterOptions): TranscriptWriter {
  const { disk, file, lease, path } = open
  const sync = options.sync ?? 'never'
  // A session may go on for ever, and of each record this is all that stays: some bytes, not a string.
  const written = createIdTable()
  let count = 0
  const rules: LineRules = {
    knows: (uuid) => written.findId(uuid) >= 0 || (options.knows?.(uuid) ?? false),
    foreignLogicalParents: options.foreignLogicalParents === 'allow',
  }
  let closed = false
  // Unknown at the start and after a failure: then it is looked up before the next write.
  let endsWithNewline: boolean | undefined
  // How long the file was when we last looked. It only ever grows.
  let length = disk.stat(file).size

  const appendAll = (records: readonly JsonObject[]): AppendResult => {
    if (closed) throw new Error(`The writer of ${path} is closed. Open it again to write.`)
    const lines = toLines(records, rules)
    if (lines.type === 'refused') return lines
    if (records.length === 0) return { type: 'appended', records: 0, bytes: 0 }
    // Made before the look at the lease, so that as little time as can be lies between the look and the write.
    let bytes: Uint8Array = Buffer.from(lines.text)
    try {
      const state = lease.confirm()
      if (state.type === 'lease-lost') return state
      const { names, size } = disk.stat(file)
      // Written to a file that has no name any more, a record would be gone without a word.
      if (names === 0) throw systemError('ENOENT', `${path} was removed or replaced. Open it again to write.`)
      if (size < length) {
        const gone = `${path} was shortened by ${length - size} bytes from outside, and records are gone.`
        throw systemError('EIO', `${gone} Nothing more is written to it. Open it again to go on with what is left.`)
      }
      length = size
      endsWithNewline ??= endsLine(open, size)
      // A record that a crash cut stays a line of its own, and costs nothing but itself.
      if (!endsWithNewline) bytes = Buffer.concat([Buffer.from('\n'), bytes])
    } catch (error) {
      return { type: 'write-failed', left: 'nothing', ...diskProblem(error) }
    }
    const failure = writeOrTakeBack(open, bytes)
    endsWithNewline = failure === undefined ? true : undefined
    if (failure !== undefined) return failure
    length += bytes.length
    for (const uuid of lines.uuids) written.addId(uuid, count++)
    const flushed = sync === 'always' ? forceOut(open) : undefined
    if (flushed?.type === 'sync-failed') return flushed
    return { type: 'appended', records: records.length, bytes: bytes.length }
  }

  const flush = (): FlushResult => (sync === 'never' || closed ? { type: 'flushed' } : forceOut(open))
  const close = (): FlushResult => {
    if (closed) return { type: 'flushed' }
    const flushed = flush()
    closed = true
    try {
      disk.close(file)
    } finally {
      lease.release()
    }
    return flushed
  }
  return { path, token: lease.token, append: (record) => appendAll([record]), appendAll, flush, close }
}

function forceOut(open: OpenFile): FlushResult {
  try {
    open.disk.sync(open.file)
    return { type: 'flushed' }
  } catch (error) {
    return { type: 'sync-failed', ...diskProblem(error) }
  }
}

function endsLine(open: OpenFile, size: number): boolean {
  if (size === 0) return true
  const last = new Uint8Array(1)
  open.disk.read(open.file, last, size - 1)
  return last[0] === 0x0a
}

function writeOrTakeBack(open: OpenFile, bytes: Uint8Array): AppendResult | undefined {
  let written = 0
  try {
    writeWhole(open, bytes, (soFar) => {
      written = soFar
    })
    return undefined
  } catch (error) {
    const problem = diskProblem(error)
    return { type: 'write-failed', left: takeBack(open, bytes.subarray(0, written)), ...problem }
  }
}

/**
 * Cuts off what a failed write left at the end of the file: nobody was told that it is there, and half of a compaction
 * is worse than none. Only when the end is exactly that; somebody who does not know of leases may have written too.
 */
function takeBack(open: OpenFile, part: Uint8Array): 'nothing' | 'part' {
  if (part.length === 0) return 'nothing'
  try {
    const start = open.disk.stat(open.file).size - part.length
    if (start < 0) return 'part'
    const end = new Uint8Array(part.length)
    open.disk.read(open.file, end, start)
    if (Buffer.compare(end, part) !== 0) return 'part'
    open.disk.truncate(open.file, start)
    return 'nothing'
  } catch (error) {
    // A second failure on top of the first, which is the one to be told.
    diskProblem(error)
    return 'part'
  }
}
