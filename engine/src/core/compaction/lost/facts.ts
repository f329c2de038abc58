// A fact that a compaction lost, and what is known of the conversation it comes from.
import type { Ledger } from '../../ledger/facts.ts'
import type { Entry } from '../../transcript/format/entry.ts'

/** The most harmful first. */
export const lostTypes = ['rule', 'decision', 'request', 'failure', 'command', 'file'] as const

export type LostType = (typeof lostTypes)[number]

export type LostFact = {
  readonly type: LostType
  /** The user's words, the command or the path, verbatim; of a failure, the line that reported it. */
  readonly text: string
  /** The question that was answered, the call that was rejected, the command that failed; of a command, how it failed. */
  readonly about?: string
  /** What the agent found out about a failure. */
  readonly cause?: string
  /** Set if another agent said it, not a person. */
  readonly by?: 'agent'
  /** The message it comes from. */
  readonly uuid: string
  readonly line: number
  readonly time?: string
  /** The compaction after which no context had it: 1 is the first. */
  readonly compaction: number
}

export type KnownFacts = {
  readonly ledger: Ledger
  /** The ledger at each compaction that was not undone, oldest first. */
  readonly before: readonly Ledger[]
  /** The entry of each time of the ledger. */
  readonly entryAt: (time: number) => Entry | undefined
  readonly entryOf: (uuid: string) => Entry | undefined
}
