// Epochs: the parts of a session between compactions, counted while the records stream by.
import { textOf } from '../../message/block.ts'
import { type JsonObject, stringAt } from '../../message/json.ts'
import type { Origin } from '../../message/message.ts'
import { type Head, isSpoken } from '../format/entry.ts'
import type { AnswerLine } from '../format/origin.ts'
import { saidIn } from '../format/origin.ts'
import { type Change, changeAt, standingOf } from '../tree/changes.ts'
import { type EntryTable, isSidechainAt, noParent, rowOf, typeAt } from '../tree/entry-table.ts'
import type { Graph } from '../tree/graph.ts'

export type Compaction = {
  readonly uuid: string
  readonly line: number
  readonly trigger: string
  readonly tokensBefore: number | undefined
  /** As the boundary says, or else what the first answer after it was given. */
  readonly tokensAfter: number | undefined
  readonly durationMs: number | undefined
  readonly time: string | undefined
  readonly kept: number
  readonly summary: { readonly uuid: string | undefined; readonly characters: number } | undefined
  readonly isUndone?: true
}

export type Epoch = {
  /** 0 is what came before the first compaction. */
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

export type Scanned = {
  readonly record: JsonObject
  readonly row: number
  readonly head: Head
  readonly answer: AnswerLine | undefined
  /** The context after the answer; 0 where nothing is reported. */
  readonly tokens: number
  /** Of user records without tool results. */
  readonly origin: Origin | undefined
}

export type EpochCounter = {
  readonly current: () => number
  readonly add: (scanned: Scanned) => void
  readonly finish: (table: EntryTable, graph: Graph) => readonly Epoch[]
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }
type Open = Writable<Omit<Epoch, 'openedBy'>> & { openedBy: Writable<Compaction> | undefined }

/** Epochs of the main conversation, or of the sub-agents inside the file. */
type Counted = {
  readonly isSide: boolean
  readonly epochs: Open[]
  readonly starts: number[]
  readonly changes: Change[]
}

/** Of the main conversation; in a file that holds nothing but a sub-agent's, of that. */
export function createEpochCounter(): EpochCounter {
  const main: Counted = { isSide: false, epochs: [newEpoch(0)], starts: [0], changes: [] }
  const side: Counted = { isSide: true, epochs: [newEpoch(0)], starts: [0], changes: [] }
  const counted = () => (main.epochs.length === 1 && main.epochs[0]?.entries === 0 ? side : main)
  return {
    current: () => counted().epochs.length - 1,
    add: (scanned) => count(scanned.head.sidechain ? side : main, scanned),
    finish: (table, graph) => finished(counted(), table, graph),
  }
}

function newEpoch(number: number): Open {
  return {
    number,
    openedBy: undefined,
    entries: 0,
    messages: 0,
    humanTurns: 0,
    roots: 0,
    orphans: 0,
    from: undefined,
    to: undefined,
    tokensAtEnd: undefined,
  }
}

function count({ epochs, starts, changes }: Counted, { record, row, head, answer, tokens, origin }: Scanned): void {
  if (head.uuid === undefined) return
  const time = stringAt(record, 'timestamp')
  if (head.boundary) {
    starts.push(row)
    epochs.push({ ...newEpoch(epochs.length), openedBy: compactionAt(head, time) })
  }
  const change = changeAt(row, record, head)
  if (change) changes.push(change)
  const open = epochs.at(-1)
  if (!open) return
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
  return {
    uuid,
    line,
    trigger: boundary?.trigger ?? 'unknown',
    tokensBefore: boundary?.preTokens,
    tokensAfter: boundary?.postTokens,
    durationMs: boundary?.durationMs,
    time,
    kept: 0,
    summary: undefined,
  }
}

function finished({ epochs, starts, changes, isSide }: Counted, table: EntryTable, graph: Graph): readonly Epoch[] {
  const { out } = standingOf(changes, (uuid) => rowOf(table, uuid))
  const isCounted = (row: number) => typeAt(table, row) !== '' && isSidechainAt(table, row) === isSide
  return epochs.map((epoch, number) => {
    const start = starts[number] ?? 0
    const end = starts[number + 1] ?? table.rows
    const orphans = graph.orphans.filter((row) => row >= start && row < end && isCounted(row)).length
    let roots = 0
    for (let row = start; row < end; row++) if (table.parents[row] === noParent && isCounted(row)) roots++
    const kept = graph.kept.get(start)?.length ?? 0
    const openedBy = epoch.openedBy && {
      ...epoch.openedBy,
      kept,
      ...(out.has(start) ? { isUndone: true as const } : {}),
    }
    return { ...epoch, openedBy, roots, orphans }
  })
}
