// One pass over the entries of a transcript: counts, graph, answers, turns, and epochs (the parts between compactions). It
// keeps no contents, only a row for each entry.

import { type JsonObject, stringAt } from '../../message/json.ts'
import { isRequest, textOf } from '../../message/message.ts'
import { contextTokens } from '../../message/usage.ts'
import { type Entry, type Head, isSpoken, readHead } from '../format/entry.ts'
import { type AnswerLine, originOf, readAnswerLine, saidIn } from '../format/messages.ts'
import { type Change, type ChangesInForce, changeAt, changesInForce } from './changes.ts'
import {
  addHead,
  type BoundaryAt,
  buildGraph,
  createEntryTable,
  type EntryTable,
  type Graph,
  isSidechainAt,
  logicalParentAt,
  noParent,
  resolvePending,
  rowOf,
  typeAt,
} from './graph.ts'

export type Compaction = {
  readonly uuid: string
  readonly line: number
  readonly trigger: string
  readonly tokensBefore: number | undefined
  /** The size that the boundary reports, otherwise the context of the first answer after it. */
  readonly tokensAfter: number | undefined
  readonly durationMs: number | undefined
  readonly time: string | undefined
  readonly kept: number
  /** Old clients: messages before the compaction, and the share of them that was kept. */
  readonly totalMessages?: number
  readonly compressionRatio?: number
  readonly summary: { readonly uuid: string | undefined; readonly characters: number } | undefined
  readonly isUndone?: true
}

export type Epoch = {
  /** 0 is the part before the first compaction. */
  readonly number: number
  readonly openedBy: Compaction | undefined
  /** Tree entries of the main conversation, or of the sub-agent whose file it is. */
  readonly entries: number
  /** Lines of the conversation itself: user and assistant. */
  readonly messages: number
  /** Messages that a person typed: the turns since the last compaction. */
  readonly humanTurns: number
  readonly roots: number
  readonly orphans: number
  readonly from: string | undefined
  readonly to: string | undefined
  readonly tokensAtEnd: number | undefined
}

/** Counts once, with the usage of the line that has the most output, because old clients wrote stubs first. */
export type Answer = AnswerLine & { readonly epoch: number; readonly sidechain: boolean }

export type TurnEnd = {
  readonly tokens: number
  /** Time of the newest answer of the turn, in milliseconds since 1970. */
  readonly time?: number
}

export type Scan = {
  readonly records: number
  /** Number of records of each type; system records by their subtype. */
  readonly types: ReadonlyMap<string, number>
  readonly table: EntryTable
  readonly graph: Graph
  readonly boundaries: readonly BoundaryAt[]
  /** Rewinds in force: their row, and the row they return to. */
  readonly rewinds: ReadonlyMap<number, number>
  readonly answers: readonly Answer[]
  /** Epochs of the main conversation, or of the sub-agent if the file has nothing else. */
  readonly epochs: readonly Epoch[]
  /** The size of the context at the end of each turn that got an answer with usage. */
  readonly turns: readonly TurnEnd[]
  readonly sessionIds: readonly string[]
  readonly versions: readonly string[]
}

/** Whether anything in the file belongs to a conversation. */
export function isTranscript(scan: Pick<Scan, 'sessionIds' | 'epochs' | 'answers'>): boolean {
  return scan.sessionIds.length > 0 || scan.answers.length > 0 || scan.epochs.some(({ entries }) => entries > 0)
}

export type Scanner = {
  readonly add: (entry: Entry) => void
  readonly finish: () => Scan
}

export function createScanner(): Scanner {
  const table = createEntryTable(new Map<string, number>())
  const boundaries: BoundaryAt[] = []
  const types = new Map<string, number>()
  const answers = new Map<string, Writable<Answer>>()
  const [main, side] = [newCount(), newCount()]
  const counted = () => (main.epochs.length === 1 && main.epochs[0]?.entries === 0 ? side : main)
  const turns: { readonly tokens: number; readonly timestamp: string | undefined }[] = []
  let isTurnOpen = false
  const sessionIds = new Set<unknown>()
  const versions = new Set<unknown>()
  return {
    add: (entry) => {
      const { record } = entry
      const head = readHead(entry)
      const answer = readAnswerLine(record)
      const tokens = answer ? contextTokens(answer.usage) : 0
      const row = addHead(table, head, tokens)
      const type = head.type === 'system' ? `system/${head.subtype ?? ''}` : head.type
      types.set(type, (types.get(type) ?? 0) + 1)
      // If a line was written twice, the first counts.
      if (table.duplicates.at(-1) === row) return
      if (head.boundary) boundaries.push({ row, boundary: head.boundary, isLegacy: head.type === 'compact_system' })
      const origin = head.type === 'user' && head.toolResults.length === 0 ? originOf(record) : undefined
      countEntry(head.sidechain ? side : main, { record, row, head, origin, answer, tokens })
      const known = answer && answers.get(answer.messageId)
      if (answer && !known)
        answers.set(answer.messageId, { ...answer, epoch: counted().epochs.length - 1, sidechain: head.sidechain })
      else if (known && answer.usage.output >= known.usage.output) known.usage = answer.usage
      if (origin !== undefined && isRequest(origin) && !head.sidechain) isTurnOpen = false
      if (tokens > 0 && !head.sidechain) {
        if (isTurnOpen) turns.pop()
        turns.push({ tokens, timestamp: stringAt(record, 'timestamp') })
        isTurnOpen = true
      }
      sessionIds.add(record.sessionId)
      versions.add(record.version)
    },
    finish: () => {
      resolvePending(table)
      const { out, rewinds } = changesInForce(counted().changes, (uuid) => rowOf(table, uuid))
      const graph = buildGraph(table, boundaries, { out: new Set(), rewinds })
      return {
        records: table.rows,
        types,
        table,
        graph,
        boundaries,
        rewinds,
        answers: [...answers.values()],
        epochs: epochsOf(counted(), { table, graph, boundaries, out, isSide: counted() === side }),
        turns: turns.map(({ tokens, timestamp }) => {
          const time = Date.parse(timestamp ?? '')
          return Number.isNaN(time) ? { tokens } : { tokens, time }
        }),
        sessionIds: [...sessionIds].filter((id) => typeof id === 'string'),
        versions: [...versions].filter((version) => typeof version === 'string'),
      }
    },
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type OpenEpoch = Writable<Omit<Epoch, 'openedBy'>> & { openedBy: Writable<Compaction> | undefined }

/** Counts for the main conversation, or for the sub-agents inside the file. */
function newCount() {
  return { epochs: [newEpoch(0)], starts: [0], changes: [] as Change[] }
}

function newEpoch(number: number, openedBy?: Compaction): OpenEpoch {
  const unknown = { from: undefined, to: undefined, tokensAtEnd: undefined }
  return { number, openedBy, entries: 0, messages: 0, humanTurns: 0, roots: 0, orphans: 0, ...unknown }
}

type Scanned = {
  readonly record: JsonObject
  readonly row: number
  readonly head: Head
  /** For user records without tool results. */
  readonly origin: ReturnType<typeof originOf>
  readonly answer: AnswerLine | undefined
  /** The size of the context after the answer; 0 if nothing is reported. */
  readonly tokens: number
}

function countEntry({ epochs, starts, changes }: ReturnType<typeof newCount>, scanned: Scanned): void {
  const { record, row, head, origin, answer, tokens } = scanned
  if (head.uuid === undefined) return
  const time = stringAt(record, 'timestamp')
  if (head.boundary) {
    starts.push(row)
    epochs.push(newEpoch(epochs.length, compactionAt(head, time)))
  }
  const change = changeAt(row, record, head)
  if (change) changes.push(change)
  const open = epochs.at(-1) as OpenEpoch
  open.entries++
  if (isSpoken(head)) open.messages++
  if (origin === 'human') open.humanTurns++
  open.from ??= time
  open.to = time ?? open.to
  if (tokens > 0) open.tokensAtEnd = tokens
  const { openedBy } = open
  if (!openedBy) return
  if (origin === 'summary') openedBy.summary ??= { uuid: head.uuid, characters: textOf(saidIn(record)).length }
  if (tokens > 0) openedBy.tokensAfter ??= tokens - (answer?.usage.output ?? 0)
}

function compactionAt({ uuid = '', line, boundary }: Head, time: string | undefined): Compaction {
  const { trigger = 'unknown', preTokens: tokensBefore, postTokens: tokensAfter, durationMs } = boundary ?? {}
  const { totalMessages, compressionRatio } = boundary ?? {}
  return {
    ...{ uuid, line, trigger, tokensBefore, tokensAfter, durationMs, time, kept: 0, summary: undefined },
    ...(totalMessages === undefined ? {} : { totalMessages }),
    ...(compressionRatio === undefined ? {} : { compressionRatio }),
  }
}

type Finished = Pick<Scan, 'table' | 'graph' | 'boundaries'> &
  Pick<ChangesInForce, 'out'> & { readonly isSide: boolean }

function epochsOf(
  { epochs, starts }: ReturnType<typeof newCount>,
  { table, graph, boundaries, out, isSide }: Finished,
): readonly Epoch[] {
  // The legacy record is outside the tree: the message after it is the root.
  const legacy = new Set(boundaries.flatMap(({ row, isLegacy }) => (isLegacy ? [row] : [])))
  const copies = new Set(table.duplicates)
  const isRoot = (row: number) => table.parents[row] === noParent && !legacy.has(row) && !copies.has(row)
  const isCounted = (row: number) => typeAt(table, row) !== '' && isSidechainAt(table, row) === isSide
  return epochs.map((epoch, number) => {
    const start = starts[number] ?? 0
    const end = starts[number + 1] ?? table.rows
    const orphans = graph.orphans.filter((row) => row >= start && row < end && isCounted(row)).length
    let roots = 0
    for (let row = start; row < end; row++) if (isRoot(row) && isCounted(row)) roots++
    const kept = graph.kept.get(start)?.length ?? 0
    const undone = out.has(start) ? { isUndone: true as const } : {}
    return { ...epoch, openedBy: epoch.openedBy && { ...epoch.openedBy, kept, ...undone }, roots, orphans }
  })
}

/**
 * The ancestry of an entry: the messages that led to it, back to the first one, across all compactions.
 * Rows, oldest first, with the entry itself last; empty if the file has no such entry. Each step goes to the logical parent if
 * that comes before the entry, else to the parent. A boundary without either goes to the entry before it. Kept messages
 * appear once, where they were first written.
 */
export function ancestryOf(
  { table, boundaries, rewinds }: Pick<Scan, 'table' | 'boundaries' | 'rewinds'>,
  uuid: string,
): readonly number[] {
  // The tree as if no compaction had happened.
  const out = new Set(boundaries.map(({ row }) => row))
  const { parents } = buildGraph(table, boundaries, { out, rewinds })
  const rows = new Set<number>()
  for (let row = rowOf(table, uuid); row >= 0 && !rows.has(row); ) {
    rows.add(row)
    const logical = logicalParentAt(table, row)
    row = logical >= 0 ? logical : (parents[row] ?? noParent)
  }
  return [...rows].reverse()
}
