// One pass over the entries of a transcript: what it holds, its graph, its answers, epochs and turns. Contents are looked
// at and let go; what stays in memory is a row for each entry.
import { stringAt } from '../../message/json.ts'
import { isRequest } from '../../message/message.ts'
import { contextTokens } from '../../message/usage.ts'
import { type Entry, headOf } from '../format/entry.ts'
import { type AnswerLine, originOf, readAnswerLine } from '../format/origin.ts'
import { createEpochCounter, type Epoch, type Scanned } from '../report/epochs.ts'
import { addHead, createEntryTable, type EntryTable, resolvePending } from './entry-table.ts'
import { type BoundaryAt, buildGraph, type Graph } from './graph.ts'

export type Answer = AnswerLine & {
  readonly epoch: number
  readonly sidechain: boolean
  readonly lines: number
}

export type TurnEnd = {
  readonly tokens: number
  /** Milliseconds since 1970, of the newest answer of the turn. */
  readonly time?: number
}

export type Scan = {
  readonly records: number
  /** How many of each type; system records by their subtype. */
  readonly types: ReadonlyMap<string, number>
  readonly table: EntryTable
  readonly graph: Graph
  readonly boundaries: readonly BoundaryAt[]
  readonly answers: readonly Answer[]
  readonly epochs: readonly Epoch[]
  /** How full the context was at the end of each turn that got an answer with usage. */
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
  const answers = createAnswerBook()
  const epochs = createEpochCounter()
  const turns = createTurnBook()
  const sessionIds = new Set<unknown>()
  const versions = new Set<unknown>()
  return {
    add: (entry) => {
      const { record } = entry
      const head = headOf(entry)
      const answer = readAnswerLine(record)
      const tokens = answer ? contextTokens(answer.usage) : 0
      const row = addHead(table, head, tokens)
      if (head.boundary) boundaries.push({ row, boundary: head.boundary, isLegacy: head.type === 'compact_system' })
      const type = head.type === 'system' ? `system/${head.subtype ?? ''}` : head.type
      types.set(type, (types.get(type) ?? 0) + 1)
      const isTyped = head.type === 'user' && head.toolResults.length === 0
      const scanned = { record, row, head, answer, tokens, origin: isTyped ? originOf(record) : undefined }
      epochs.add(scanned)
      turns.add(scanned)
      if (answer) answers.add(answer, epochs.current(), head.sidechain)
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
        sessionIds: [...sessionIds].filter((id) => typeof id === 'string'),
        versions: [...versions].filter((version) => typeof version === 'string'),
      }
    },
  }
}

/** An answer counts once, with the usage of the line that has the most output: old clients wrote stubs first. */
function createAnswerBook() {
  const byId = new Map<string, { -readonly [K in keyof Answer]: Answer[K] }>()
  return {
    answers: (): readonly Answer[] => [...byId.values()],
    add: (line: AnswerLine, epoch: number, sidechain: boolean): void => {
      const known = byId.get(line.messageId)
      if (!known) byId.set(line.messageId, { ...line, epoch, sidechain, lines: 1 })
      else {
        if (line.usage.output >= known.usage.output) known.usage = line.usage
        known.lines++
      }
    },
  }
}

/** A turn begins with what a person typed, and its newest answer tells its size. */
function createTurnBook() {
  const ends: { readonly tokens: number; readonly timestamp: string | undefined }[] = []
  let isOpen = false
  return {
    turns: (): readonly TurnEnd[] =>
      ends.map(({ tokens, timestamp }) => {
        const time = Date.parse(timestamp ?? '')
        return Number.isNaN(time) ? { tokens } : { tokens, time }
      }),
    add: ({ record, head, origin, tokens }: Scanned): void => {
      if (head.sidechain) return
      if (origin !== undefined && isRequest(origin)) isOpen = false
      if (tokens === 0) return
      if (isOpen) ends.pop()
      ends.push({ tokens, timestamp: stringAt(record, 'timestamp') })
      isOpen = true
    },
  }
}
