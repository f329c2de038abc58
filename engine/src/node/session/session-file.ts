// A session on disk as an engine works with it: what its window is made of, read from the tail, and a store that appends
// with the lease held. Nothing that was written is changed.
import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { stringAt } from '../../core/message/json.ts'
import type { Store, StoreResult } from '../../core/ports/store.ts'
import { undoOfTorn } from '../../core/transcript/format/compaction-records.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import { isSelfContained } from '../../core/transcript/tree/self-contained.ts'
import { forEachEntry } from '../read/entries.ts'
import { openLive } from '../read/live-file.ts'
import { sniffFormat } from '../read/sniff.ts'
import { type AppendResult, openWriter, type TranscriptWriter, type WriterOptions } from '../write/writer.ts'

export type SessionFile =
  | {
      readonly type: 'opened'
      readonly store: Store
      /** What the live window is made of, in the order of the file. */
      readonly entries: readonly Entry[]
      /** Whether those are all there are. */
      readonly isWhole: boolean
      readonly sessionId: string
      /** The session that it was copied from, because somebody else writes that one. */
      readonly forkedFrom?: string
    }
  | { readonly type: 'failed'; readonly why: string }

export type SessionFileOptions = WriterOptions & {
  /** Whether a session is begun or continued: a new one never takes an existing file, and only a transcript goes on. */
  readonly file: 'new' | 'existing'
}

export async function openSessionFile(path: string, { file, ...options }: SessionFileOptions): Promise<SessionFile> {
  const refused = file === 'new' ? whyNotNew(path) : whyNotContinued(path)
  if (refused !== undefined) return { type: 'failed', why: `${refused} Nothing was written.` }
  const known = new Set<string>()
  const opened = await openWriter(path, { ...options, knows: (uuid) => known.has(uuid) })
  if (opened.type === 'held') {
    const { owner, pid, host, since } = opened.by
    return { type: 'failed', why: `${path} is being written by ${owner} (process ${pid} on ${host}, since ${since}).` }
  }
  if (opened.type === 'open-failed') return { type: 'failed', why: opened.message }
  const { writer } = opened
  const found = readMended(writer, known)
  if (typeof found === 'string') {
    writer.close()
    return { type: 'failed', why: found }
  }
  const named = found.entries.map(({ record }) => stringAt(record, 'sessionId')).find((id) => id !== undefined)
  return {
    type: 'opened',
    store: storeOn(writer),
    ...found,
    sessionId: named ?? basename(writer.path, extname(writer.path)),
    ...(opened.forkedFrom === undefined ? {} : { forkedFrom: opened.forkedFrom }),
  }
}

function whyNotNew(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  return `${path} exists already. To continue that session, use open(); to start another, give start() a new path.`
}

/** Looked at before the file is opened for writing, so that a wrong path never makes or changes one. */
function whyNotContinued(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats)
    return `There is no session at ${path}. Check the path, or begin a new session there with start({ path }).`
  if (!stats.isFile()) return `${path} is not a file. Give the path of a transcript.`
  if (stats.size === 0) return undefined
  const file = openSync(path, 'r')
  try {
    const format = sniffFormat(file, stats.size)
    if (format === 'claude-code') return undefined
    return format === undefined
      ? `${path} is not a transcript: no record of a session was found in it. To begin a session, give start() a new path.`
      : `${path} is a session of another agent (${format}): it can be read, not continued.`
  } finally {
    closeSync(file)
  }
}

type Read = { readonly entries: readonly Entry[]; readonly isWhole: boolean }

/** What the window is made of. Half a compaction that a kill left is taken out of the view first, by one more record. */
function readMended(writer: TranscriptWriter, known: Set<string>): Read | string {
  const found = readWindow(writer.path)
  for (const { record } of found.entries) if (typeof record.uuid === 'string') known.add(record.uuid)
  const undo = undoOfTorn(found.entries, { uuid: randomUUID(), timestamp: new Date().toISOString() })
  if (undo === undefined) return found
  const stored = storeResult(writer.append(undo.record))
  return stored.type === 'store-failed' ? stored.why : readMended(writer, known)
}

/** What the window needs; all of it when an edit refers to something further back. */
function readWindow(path: string): Read {
  if (statSync(path).size === 0) return { entries: [], isWhole: true }
  const live = openLive(path)
  if (live.isWhole || isSelfContained(live.read)) return { entries: live.read, isWhole: live.isWhole }
  return { entries: allEntries(path), isWhole: true }
}

function allEntries(path: string): readonly Entry[] {
  const entries: Entry[] = []
  forEachEntry(path, (entry) => entries.push(entry))
  return entries
}

function storeOn(writer: TranscriptWriter): Store {
  return {
    path: writer.path,
    append: (records) => storeResult(writer.appendAll(records)),
    entries: () => allEntries(writer.path),
    close: () => {
      writer.close()
    },
  }
}

function storeResult(result: AppendResult): StoreResult {
  switch (result.type) {
    case 'appended':
    case 'sync-failed':
      return { type: 'stored' }
    case 'refused':
      return { type: 'store-failed', why: result.problem.message }
    case 'lease-lost':
      return {
        type: 'store-failed',
        why: `Another process writes this session now${result.by ? `: ${result.by.owner}` : ''}.`,
      }
    case 'write-failed':
      return { type: 'store-failed', why: result.message }
  }
}
