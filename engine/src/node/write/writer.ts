// The single writer of a session. It appends records so that a crash at any byte loses at most the record being
// written. It never changes written records and never writes without the lease.
import { dirname, join, resolve } from 'node:path'
import { isObject, type JsonObject, toJson } from '../../core/message/json.ts'
import {
  acquireLease,
  type Holder,
  type Lease,
  type LeaseLost,
  type LeaseOptions,
  newToken,
  nodeLeasePorts,
} from '../lease/lease.ts'
import {
  copyWholeRecords,
  type Disk,
  type DiskProblem,
  diskProblem,
  ignoring,
  systemError,
  tolerating,
  writeWhole,
} from './disk.ts'

/** When to fsync: never, at each `flush` (the end of each call of a session), or after each append. */
export type Sync = 'never' | 'turn' | 'always'

export type WriterOptions = LeaseOptions & {
  /** What to do if another process holds the lease: refuse (default), or continue in a copy. */
  readonly ifHeld?: 'refuse' | 'fork'
  /** Default: never. */
  readonly sync?: Sync
  /** Which uuids were in the file when it was opened. Default: none. */
  readonly knows?: (uuid: string) => boolean
  /** Keeps uuids and parents unchanged, because the records are copied from another session. */
  readonly isCopy?: boolean
}

export type OpenResult =
  | { readonly type: 'opened'; readonly writer: TranscriptWriter; readonly forkedFrom?: string }
  | { readonly type: 'held'; readonly by: Holder }
  | ({ readonly type: 'open-failed' } & DiskProblem)

export type AppendResult =
  | { readonly type: 'appended'; readonly records: number; readonly bytes: number }
  | RecordRefused
  | LeaseLost
  /** `left`: whether the file contains nothing of it or a part (a torn line, or some of several records). */
  | ({ readonly type: 'write-failed'; readonly left: 'nothing' | 'part' } & DiskProblem)
  | SyncFailed

export type FlushResult = { readonly type: 'flushed' } | SyncFailed

/** The records are in the file but may not survive a power cut. */
export type SyncFailed = { readonly type: 'sync-failed' } & DiskProblem

export type TranscriptWriter = {
  readonly path: string
  readonly token: () => string
  /**
   * In one write, in call order. Records that belong together (a compaction) are written all or none. Only a kill or a power cut
   * during that write can leave some of them; the next process that opens the session undoes half a compaction.
   */
  readonly appendAll: (records: readonly JsonObject[]) => AppendResult
  readonly flush: () => FlushResult
  readonly close: () => FlushResult
}

/** Creates the file and its folders if they are missing. */
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
      throw systemError('EINVAL', `${path} is not a regular file. Pass the path of a file, or of a new one.`)
    }
    if (options.sync !== undefined && options.sync !== 'never') syncFolder(disk, dirname(path))
    return { type: 'opened', writer: writerOn({ path, file, disk, lease: asked.lease }, options) }
  } catch (error) {
    asked.lease.release()
    throw error
  }
}

/** Makes the name of a new file survive a power cut. On systems where folders cannot be opened, the system does this itself. */
function syncFolder(disk: Disk, folder: string): void {
  const file = ignoring(['EISDIR', 'EPERM', 'EACCES'], () => disk.open(folder, 'read'))
  if (file === undefined) return
  try {
    ignoring(['EINVAL', 'EPERM'], () => disk.sync(file))
  } finally {
    disk.close(file)
  }
}

export function heldMessage(path: string, { owner, pid, host, since, freeInMs }: Holder): string {
  const held = `${path} is being written by ${owner} (process ${pid} on ${host}, since ${since}).`
  if (freeInMs === undefined) return held
  const seconds = Math.ceil(freeInMs / 1_000)
  return `${held} Whether that process still runs cannot be checked from here: if it has ended, the session is free in ${seconds} s.`
}

export function whyNotAppended(result: Exclude<AppendResult, { readonly type: 'appended' }>): string {
  if (result.type !== 'lease-lost') return result.message
  return `Another process has taken over this session${result.by ? `: ${result.by.owner}` : ''}.`
}

type OpenFile = { readonly path: string; readonly file: number; readonly disk: Disk; readonly lease: Lease }

function writerOn(open: OpenFile, options: WriterOptions): TranscriptWriter {
  const { disk, file, lease, path } = open
  const sync = options.sync ?? 'never'
  // The only data kept about each record, because a session can be very long.
  const written = new Set<string>()
  const knows = (uuid: string) => written.has(uuid) || (options.knows?.(uuid) ?? false)
  let closed = false
  // Unknown at first and after a failure; checked before the next write.
  let endsWithNewline: boolean | undefined
  // The file size when last checked. It only grows.
  let length = disk.stat(file).size

  const appendAll = (records: readonly JsonObject[]): AppendResult => {
    if (closed) throw new Error(`The writer of ${path} is closed. Open it again to write.`)
    const lines = toLines(records, { knows, isCopy: options.isCopy })
    if (lines.type === 'refused') return lines
    if (records.length === 0) return { type: 'appended', records: 0, bytes: 0 }
    // Encoded early, to keep the time between lease check and write as short as possible.
    let bytes: Uint8Array = Buffer.from(lines.text)
    try {
      const state = lease.confirm()
      if (state.type === 'lease-lost') return state
      const { names, size } = disk.stat(file)
      // A record written to an unlinked file would be lost silently.
      if (names === 0) throw systemError('ENOENT', `${path} was removed or replaced. Open it again to write.`)
      if (size < length) {
        const gone = `${path} was truncated by ${length - size} bytes by another program, and records are lost.`
        throw systemError('ESTALE', `${gone} Nothing more is written. Open it again to continue with what is left.`)
      }
      length = size
      endsWithNewline ??= endsLine(open, size)
      // A record torn by a crash stays on its own line.
      if (!endsWithNewline) bytes = Buffer.concat([Buffer.from('\n'), bytes])
    } catch (error) {
      return { type: 'write-failed', left: 'nothing', ...diskProblem(error) }
    }
    const failure = writeOrRevert(open, bytes)
    endsWithNewline = failure === undefined ? true : undefined
    if (failure !== undefined) return failure
    length += bytes.length
    for (const uuid of lines.uuids) written.add(uuid)
    const flushed = sync === 'always' ? fsync(open) : undefined
    if (flushed?.type === 'sync-failed') return flushed
    return { type: 'appended', records: records.length, bytes: bytes.length }
  }

  const flush = (): FlushResult => (sync === 'never' || closed ? { type: 'flushed' } : fsync(open))
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
  return { path, token: lease.token, appendAll, flush, close }
}

function fsync(open: OpenFile): FlushResult {
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

function writeOrRevert(open: OpenFile, bytes: Uint8Array): AppendResult | undefined {
  let written = 0
  try {
    writeWhole(open, bytes, (soFar) => {
      written = soFar
    })
    return undefined
  } catch (error) {
    return { type: 'write-failed', ...diskProblem(error), left: revert(open, bytes.subarray(0, written)) }
  }
}

/**
 * Truncates the remains of a failed write, because half a compaction is worse than none. Only if the end of the file is exactly
 * that, because a process that ignores leases may have written too.
 */
function revert(open: OpenFile, part: Uint8Array): 'nothing' | 'part' {
  if (part.length === 0) return 'nothing'
  const { disk, file } = open
  // Only the first failure is reported.
  const left = tolerating(() => {
    const start = disk.stat(file).size - part.length
    if (start < 0) return 'part'
    const end = new Uint8Array(part.length)
    disk.read(file, end, start)
    if (Buffer.compare(end, part) !== 0) return 'part'
    disk.truncate(file, start)
    return 'nothing'
  })
  return left ?? 'part'
}

type LineRules = {
  readonly knows: (uuid: string) => boolean
  /** Keeps uuids and parents unchanged, for a copy of another session. */
  readonly isCopy?: boolean | undefined
}

type RecordLines = { readonly type: 'lines'; readonly text: string; readonly uuids: readonly string[] } | RecordRefused

/** Names the record, the problem and the remedy. */
type RecordRefused = { readonly type: 'refused'; readonly message: string }

/** Refuses a record that would read back differently. Never changes it. */
export function toLines(records: readonly unknown[], { knows, isCopy }: LineRules): RecordLines {
  const uuids = new Set<string>()
  const lines: string[] = []
  for (const [index, record] of records.entries()) {
    const refused = (why: string): RecordRefused => ({ type: 'refused', message: `Record ${index}: ${why}` })
    if (!isObject(record))
      return refused('it is not an object and would not read back the same. Use plain JSON values.')
    const line = toJson(record)
    if (typeof line !== 'string') {
      return refused(`${line.where || 'it'} ${line.why} and would not read back the same. Use plain JSON values.`)
    }
    const problem = isCopy ? undefined : uuidProblem(record, (uuid) => uuids.has(uuid) || knows(uuid))
    if (problem !== undefined) return refused(problem)
    if (typeof record.uuid === 'string') uuids.add(record.uuid)
    lines.push(line, '\n')
  }
  return { type: 'lines', text: lines.join(''), uuids: [...uuids] }
}

function uuidProblem(record: JsonObject, knows: (uuid: string) => boolean): string | undefined {
  for (const field of ['uuid', 'parentUuid', 'logicalParentUuid'] as const) {
    const value = record[field]
    if (value === undefined || (value === null && field !== 'uuid')) continue
    if (typeof value !== 'string')
      return `${field} is not a string. Give a uuid, or null for a record without a parent.`
    if (field === 'uuid' && knows(value))
      return `the uuid ${value} is in the session already. Give each record a new one.`
    if (field !== 'uuid' && !knows(value)) {
      return `${field} ${value} is not a record of this session. Write that record first; if it was in the file when it was opened, \`knows\` must return true for it.`
    }
  }
  return undefined
}
