// Epochs: the stretches of a session between compactions, counted while the records stream by.
import { textOf } from '../../message/block.ts'
import { type JsonObject, stringAt } from '../../message/json.ts'
import { contextTokens } from '../../message/usage.ts'
import type { AnswerLine } from '../format/answers.ts'
import type { Boundary } from '../format/boundary.ts'
import { readEdit } from '../format/edits.ts'
import { type Head, isSpoken } from '../format/entry.ts'
import { originOf, saidIn } from '../format/origin.ts'
import { type EntryTable, isSidechainAt, noParent, rowOf, typeAt } from '../tree/entry-table.ts'
import type { Graph } from '../tree/graph.ts'
import { type Change, standingOf } from '../tree/standing.ts'

/** The compaction that opened an epoch. */
export type Compaction = {
  readonly uuid: string
  readonly line: number
  readonly trigger: string
  readonly tokensBefore: number | undefined
  /** As the boundary says, or else what the first answer after it was given. */
  readonly tokensAfter: number | undefined
  readonly durationMs: number | undefined
  readonly time: string | undefined
  /** How many messages were kept word for word. */
  readonly kept: number
  readonly summary: { readonly uuid: string | undefined; readonly characters: number } | undefined
  /** It was taken back, and is not in force. */
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
  /** The context at the newest answer of the epoch. */
  readonly tokensAtEnd: number | undefined
}

export type EntryFacts = {
  readonly row: number
  readonly head: Head
  readonly answer: AnswerLine | undefined
}

export type EpochCounter = {
  readonly current: () => number
  readonly add: (record: JsonObject, facts: EntryFacts) => void
  readonly finish: (table: EntryTable, graph: Graph) => readonly Epoch[]
}

type Counts = {
  readonly start: number
  readonly boundary: { readonly head: Head; readonly info: Boundary; readonly time: string | undefined } | undefined
  summary: Compaction['summary']
  entries: number
  messages: number
  humanTurns: number
  from: string | undefined
  to: string | undefined
  firstInput: number | undefined
  lastTokens: number | undefined
}

/** Of the main conversation; in a file that holds nothing but a sub-agent's, of that. */
export function createEpochCounter(): EpochCounter {
  const main = counterOf({ isSide: false })
  const side = counterOf({ isSide: true })
  const counted = () => (main.isEmpty() ? side : main)
  return {
    current: () => counted().current(),
    add: (record, facts) => (facts.head.sidechain ? side : main).add(record, facts),
    finish: (table, graph) => counted().finish(table, graph),
  }
}

function counterOf({ isSide }: { readonly isSide: boolean }): EpochCounter & { readonly isEmpty: () => boolean } {
  let open = emptyCounts(0, undefined)
  const epochs = [open]
  const changes: Change[] = []
  return {
    isEmpty: () => epochs.length === 1 && open.entries === 0,
    current: () => epochs.length - 1,
    add: (record, { row, head, answer }) => {
      if (head.uuid === undefined) return
      const time = stringAt(record, 'timestamp')
      if (head.boundary) {
        open = emptyCounts(row, { head, info: head.boundary, time })
        epochs.push(open)
      }
      const edit = readEdit(record)
      if (edit || head.boundary) changes.push({ row, uuid: head.uuid, edit })
      open.entries++
      if (time !== undefined) {
        open.from ??= time
        open.to = time
      }
      if (isSpoken(head)) countSpoken(open, record, head)
      if (answer) countAnswer(open, answer)
    },
    finish: (table, graph) => {
      const { out } = standingOf(changes, (uuid) => rowOf(table, uuid))
      return epochs.map((counts, number) =>
        finishEpoch(counts, { number, table, graph, out, isSide, next: epochs[number + 1] }),
      )
    },
  }
}

function emptyCounts(start: number, boundary: Counts['boundary']): Counts {
  return {
    start,
    boundary,
    summary: undefined,
    entries: 0,
    messages: 0,
    humanTurns: 0,
    from: undefined,
    to: undefined,
    firstInput: undefined,
    lastTokens: undefined,
  }
}

function countSpoken(open: Counts, record: JsonObject, head: Head): void {
  open.messages++
  if (head.type !== 'user' || head.toolResults.length > 0) return
  const origin = originOf(record)
  if (origin === 'human') open.humanTurns++
  if (origin === 'summary') {
    open.summary ??= { uuid: head.uuid, characters: textOf(saidIn(record)).length }
  }
}

function countAnswer(open: Counts, answer: AnswerLine): void {
  const size = contextTokens(answer.usage)
  if (size === 0) return
  open.firstInput ??= size - answer.usage.output
  open.lastTokens = size
}

type Finished = {
  readonly number: number
  readonly table: EntryTable
  readonly graph: Graph
  /** Rows of boundaries and edits that are not in force. */
  readonly out: ReadonlySet<number>
  readonly isSide: boolean
  readonly next: Counts | undefined
}

function finishEpoch(counts: Counts, { number, table, graph, out, isSide, next }: Finished): Epoch {
  const end = next?.start ?? table.rows
  const isCounted = (row: number) => typeAt(table, row) !== '' && isSidechainAt(table, row) === isSide
  let roots = 0
  for (let row = counts.start; row < end; row++) if (table.parents[row] === noParent && isCounted(row)) roots++
  return {
    number,
    openedBy: compactionOf(counts, { graph, out }),
    entries: counts.entries,
    messages: counts.messages,
    humanTurns: counts.humanTurns,
    roots,
    orphans: graph.orphans.filter((row) => row >= counts.start && row < end && isCounted(row)).length,
    from: counts.from,
    to: counts.to,
    tokensAtEnd: counts.lastTokens,
  }
}

function compactionOf(counts: Counts, { graph, out }: Pick<Finished, 'graph' | 'out'>): Compaction | undefined {
  if (!counts.boundary) return undefined
  const { head, info, time } = counts.boundary
  return {
    uuid: head.uuid ?? '',
    line: head.line,
    trigger: info.trigger,
    tokensBefore: info.preTokens,
    tokensAfter: info.postTokens ?? counts.firstInput,
    durationMs: info.durationMs,
    time,
    kept: graph.kept.get(counts.start)?.length ?? 0,
    summary: counts.summary,
    ...(out.has(counts.start) ? { isUndone: true } : {}),
  }
}
