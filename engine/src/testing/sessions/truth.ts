// The generator's knowledge about a session: which lines are in view, which calls are open, the effects of each compaction.
// Recorded while writing, never derived from the records.
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'

export type LiveTruth = {
  /** The view: boundary, summary, kept lines, what followed. */
  readonly uuids: readonly string[]
  /** Lines in the chain after the last user or assistant line, outside the view. */
  readonly trailing: readonly string[]
  readonly assistantLines: number
  readonly userLines: number
  /** Distinct message ids. */
  readonly messages: number
  readonly toolUses: number
  readonly toolResults: number
  readonly unpaired: number
}

export type BoundaryTruth = {
  readonly uuid: string
  readonly summaryUuid: string
  readonly trigger: 'auto' | 'manual'
  readonly preTokens: number
  readonly postTokens: number
  readonly kept: readonly string[]
  readonly logicalParentUuid: string
  /** Old clients often name a line that was never written. */
  readonly logicalParentIsWritten: boolean
}

export type EpochTruth = {
  /** Undefined for the first epoch. */
  readonly boundary?: BoundaryTruth
  /** Main-thread lines from its boundary up to the next. */
  readonly entries: number
}

export type AnswerTruth = {
  readonly messageId: string
  /** From the last line of the answer. */
  readonly usage: JsonObject
  readonly lines: number
  /** Counted from 0. */
  readonly epoch: number
  readonly sidechain: boolean
}

export type SidechainTruth = {
  readonly agentId: string
  readonly toolUseId: string
  readonly uuids: readonly string[]
}

export type MicrocompactTruth = { readonly uuid: string; readonly compactedToolIds: readonly string[] }

export type Truth = {
  readonly boundaries: number
  readonly live: LiveTruth
  readonly epochs: readonly EpochTruth[]
  readonly answers: readonly AnswerTruth[]
  readonly sidechains: readonly SidechainTruth[]
  readonly microcompacts: readonly MicrocompactTruth[]
}

export class Witness {
  private live: JsonObject[] = []
  private readonly epochs: EpochTruth[] = [{ entries: 0 }]
  private readonly answers: AnswerTruth[] = []
  private readonly sidechains: { agentId: string; toolUseId: string; uuids: string[] }[] = []
  private readonly microcompacts: MicrocompactTruth[] = []

  /** A main-thread line; a dead end is in no view. */
  wrote(record: JsonObject, isInView: boolean): void {
    if (isInView) this.live.push(record)
    this.addEntries(1)
  }

  opensSidechain(agentId: string, toolUseId: string): void {
    this.sidechains.push({ agentId, toolUseId, uuids: [] })
  }

  wroteSidechain(record: JsonObject): void {
    this.sidechains.at(-1)?.uuids.push(stringAt(record, 'uuid') ?? '')
  }

  answered(answer: Omit<AnswerTruth, 'epoch'>): void {
    this.answers.push({ ...answer, epoch: this.epochs.length - 1 })
  }

  microcompacted(micro: MicrocompactTruth): void {
    this.microcompacts.push(micro)
  }

  /** The view restarts with boundary, summary and kept lines. */
  compacted(compaction: {
    readonly boundary: BoundaryTruth
    readonly records: readonly JsonObject[]
    /** Main-thread lines of the old epoch that are written after the boundary. */
    readonly movedEntries: number
  }): void {
    this.live = [...compaction.records]
    this.addEntries(-compaction.movedEntries)
    this.epochs.push({ boundary: compaction.boundary, entries: compaction.movedEntries + 2 })
  }

  truth(): Truth {
    return {
      boundaries: this.epochs.length - 1,
      live: liveTruth(this.live),
      epochs: [...this.epochs],
      answers: [...this.answers],
      sidechains: [...this.sidechains],
      microcompacts: [...this.microcompacts],
    }
  }

  private addEntries(count: number): void {
    const last = this.epochs.pop() ?? { entries: 0 }
    this.epochs.push({ ...last, entries: last.entries + count })
  }
}

function liveTruth(records: readonly JsonObject[]): LiveTruth {
  const end = records.findLastIndex((record) => record.type === 'user' || record.type === 'assistant') + 1
  const inView = records.slice(0, end)
  const assistants = inView.filter((record) => record.type === 'assistant')
  const blocks = inView.flatMap((record) => arrayAt(record.message, 'content')).filter(isObject)
  const calls = blocks.filter((block) => block.type === 'tool_use').map((block) => block.id)
  const results = blocks.filter((block) => block.type === 'tool_result').map((block) => block.tool_use_id)
  const answered = new Set(results)
  return {
    uuids: inView.map(uuidOf),
    trailing: records.slice(end).map(uuidOf),
    assistantLines: assistants.length,
    userLines: inView.filter((record) => record.type === 'user').length,
    messages: new Set(assistants.map((record) => objectAt(record, 'message')?.id)).size,
    toolUses: calls.length,
    toolResults: results.length,
    unpaired: calls.filter((id) => !answered.has(id)).length,
  }
}

export function uuidOf(record: JsonObject): string {
  return stringAt(record, 'uuid') ?? ''
}
