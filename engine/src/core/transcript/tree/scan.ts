// One pass over the entries of a transcript: what it holds, its graph, its answers, its epochs. Contents are looked
// at and let go; what stays in memory is a row for each entry.
import { contextTokens } from '../../message/usage.ts'
import { type Answer, createAnswerBook, readAnswerLine } from '../format/answers.ts'
import { type Entry, headOf } from '../format/entry.ts'
import { createEpochCounter, type Epoch } from '../report/epochs.ts'
import { createTurnBook, type TurnEnd } from '../report/turns.ts'
import { addHead, createEntryTable, type EntryTable, resolvePending } from './entry-table.ts'
import { type BoundaryAt, buildGraph, type Graph } from './graph.ts'

export type Scan = {
  readonly records: number
  /** How many of each type; system records by their subtype. */
  readonly types: ReadonlyMap<string, number>
  readonly table: EntryTable
  readonly graph: Graph
  readonly boundaries: readonly BoundaryAt[]
  readonly answers: readonly Answer[]
  readonly epochs: readonly Epoch[]
  readonly turns: readonly TurnEnd[]
  readonly sessionIds: readonly string[]
  readonly versions: readonly string[]
}

/** Whether anything in the file belongs to a conversation. */
export function isTranscript({
  sessionIds,
  epochs,
  answers,
}: Pick<Scan, 'sessionIds' | 'epochs' | 'answers'>): boolean {
  return sessionIds.length > 0 || answers.length > 0 || epochs.some(({ entries }) => entries > 0)
}

export type Scanner = {
  readonly add: (entry: Entry) => void
  readonly finish: () => Scan
}

export function createScanner(): Scanner {
  const table = createEntryTable(new Map())
  const boundaries: BoundaryAt[] = []
  const types = new Map<string, number>()
  const answers = createAnswerBook()
  const epochs = createEpochCounter()
  const turns = createTurnBook()
  const sessionIds = createFewStrings()
  const versions = createFewStrings()
  return {
    add: (entry) => {
      const { record } = entry
      const head = headOf(entry)
      const answer = readAnswerLine(record)
      const row = addHead(table, head, answer ? contextTokens(answer.usage) : 0)
      if (head.boundary) boundaries.push({ row, boundary: head.boundary, isLegacy: head.type === 'compact_system' })
      const type = head.type === 'system' ? `system/${head.subtype ?? ''}` : head.type
      types.set(type, (types.get(type) ?? 0) + 1)
      epochs.add(record, { row, head, answer })
      turns.add(record, { head, answer })
      if (answer) answers.add(answer, { epoch: epochs.current(), sidechain: head.sidechain })
      sessionIds.add(record.sessionId)
      versions.add(record.version)
    },
    finish: () => {
      resolvePending(table)
      const graph = buildGraph(table, boundaries)
      return {
        records: table.rows,
        types,
        table,
        graph,
        boundaries,
        answers: answers.answers(),
        epochs: epochs.finish(table, graph),
        turns: turns.turns(),
        sessionIds: sessionIds.all(),
        versions: versions.all(),
      }
    },
  }
}

/** Strings of which the same one comes nearly always: looked at before they are hashed. */
function createFewStrings(): { readonly add: (value: unknown) => void; readonly all: () => readonly string[] } {
  const strings = new Set<string>()
  let last: unknown
  return {
    all: () => [...strings],
    add: (value) => {
      if (value === last) return
      last = value
      if (typeof value === 'string') strings.add(value)
    },
  }
}
