// One pass over the entries of a transcript: what it holds, its graph, its answers, its epochs. Contents are looked
// at and let go; what stays in memory is a head for each entry.
import { type Answer, createAnswerBook, readAnswerLine } from './answers.ts'
import { type Entry, type Head, headOf } from './entry.ts'
import { createEpochCounter, type Epoch } from './epochs.ts'
import { buildGraph, type Graph } from './graph.ts'

export type Scan = {
  readonly records: number
  /** How many of each type; system records by their subtype. */
  readonly types: ReadonlyMap<string, number>
  readonly graph: Graph
  readonly answers: readonly Answer[]
  readonly epochs: readonly Epoch[]
  readonly sessionIds: readonly string[]
  readonly versions: readonly string[]
}

export type Scanner = {
  readonly add: (entry: Entry) => void
  readonly finish: () => Scan
}

export function createScanner(): Scanner {
  const heads: Head[] = []
  const types = new Map<string, number>()
  const answers = createAnswerBook()
  const epochs = createEpochCounter()
  const sessionIds = new Set<string>()
  const versions = new Set<string>()
  return {
    add: (entry) => {
      const { record } = entry
      const head = headOf(entry)
      heads.push(head)
      const type = head.type === 'system' ? `system/${head.subtype ?? ''}` : head.type
      types.set(type, (types.get(type) ?? 0) + 1)
      const answer = readAnswerLine(record)
      epochs.add(record, head, answer)
      if (answer) answers.add(answer, { epoch: epochs.current(), sidechain: head.sidechain })
      if (typeof record.sessionId === 'string') sessionIds.add(record.sessionId)
      if (typeof record.version === 'string') versions.add(record.version)
    },
    finish: () => {
      const graph = buildGraph(heads)
      return {
        records: heads.length,
        types,
        graph,
        answers: answers.answers(),
        epochs: epochs.finish(graph),
        sessionIds: [...sessionIds],
        versions: [...versions],
      }
    },
  }
}
