// What a summary is made from, and the options of making it.
import type { Ledger } from '../ledger/facts.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FidelityReport } from '../ports/fidelity.ts'
import type { CountTokens } from './human.ts'
import type { Variant } from './sections.ts'

export type SummarySource = {
  /** What is summarised, oldest first, an earlier summary included. */
  readonly messages: readonly ViewMessage[]
  /** Facts read off all of it, merged with those of earlier rounds. */
  readonly ledger: Ledger
  /** What stays word for word beside the summary. */
  readonly kept: readonly ViewMessage[]
}

export type ComposeOptions = {
  readonly source: SummarySource
  /** What a model wrote, its scratchpad taken off. Without it, code fills the sections. */
  readonly prose?: string
  /** What the person asked the summary to pay heed to. */
  readonly instructions?: string
  /** Of the whole text, in tokens as `countTokens` counts them. Never exceeded. */
  readonly budget: number
  /** For what people typed. Default 8,000. */
  readonly humanBudget?: number
  /** For the facts beside a model's prose. Default 4,000. */
  readonly ledgerBudget?: number
  readonly countTokens: CountTokens
  /** The model can call recall: pointers are calls of it. Default true. */
  readonly recall?: boolean
  /** Default 'full'. */
  readonly variant?: Variant
}

export type ComposedSummary = {
  readonly text: string
  readonly report: FidelityReport
  readonly tokens: number
}
