// One pass over the entries of a transcript: what it holds, its graph, its answers, its epochs. Contents are looked
// at and let go; what stays in memory is a row for each entry.
import { type Answer, createAnswerBook, readAnswerLine } from './answers.ts'
import { type Entry, headOf } from './entry.ts'
import { addHead, createEntryTable, type EntryTable, resolvePending } from './entry-table.ts'
import { createEpochCounter, type Epoch } from './epochs.ts'
import { type BoundaryAt, buildGraph, type Graph } from './graph.ts'
import { createTurnBook, type TurnEnd } from './turns.ts'

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

export type Scanner = {
  readonly add: (entry: Entry) => void
  readonly finish: () => Scan
}

export function createScanner(): Scanner {
  const table = createEntryTable()
  const boundaries: BoundaryAt[] = []
  const types = new Map<string, number>()
  const answers = createAnswerBook()
  const epochs = createEpochCounter()
  const turns = createTurnBook()
  const sessionIds = new Set<string>()
  const versions = new Set<string>()
  return {
    add: (entry) => {
      const { record } = entry
      const head = headOf(entry)
      const answer = readAnswerLine(record)
      const row = addHead(table, head, answer?.usage)
      if (head.boundary) boundaries.push({ row, boundary: head.boundary, isLegacy: head.type === 'compact_system' })
      const type = head.type === 'system' ? `system/${head.subtype ?? ''}` : head.type
      types.set(type, (types.get(type) ?? 0) + 1)
      epochs.add(record, { row, head, answer })
      turns.add(record, { head, answer })
      if (answer) answers.add(answer, { epoch: epochs.current(), sidechain: head.sidechain })
      if (typeof record.sessionId === 'string') sessionIds.add(record.sessionId)
      if (typeof record.version === 'string') versions.add(record.version)
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
        sessionIds: [...sessionIds],
        versions: [...versions],
      }
    },
  }
}
