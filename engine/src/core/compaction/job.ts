// Input and result of a compaction: one record for manual, automatic and reactive, full and partial ones.
import type { Ledger } from '../ledger/facts.ts'
import type { JsonObject } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import type { FidelityReport, Trigger } from '../ports/hooks.ts'
import type { ModelRequest } from '../ports/model.ts'
import type { Compacted } from '../ports/outcome.ts'
import type { Restoration, Restore } from '../ports/restore.ts'
import type { CompactionSettings } from '../settings/resolve.ts'
import type { SizeScale } from '../tokens/context-size.ts'
import type { Counting } from '../tokens/estimate/counting.ts'
import type { QueuedWords } from '../transcript/format/messages.ts'
import type { View } from '../transcript/view/fold.ts'

/** from: the message and all later ones are summarized. up-to: all earlier ones are. The rest stays. */
export type PartialChoice = { readonly type: 'from' | 'up-to'; readonly uuid: string }

export type CompactionJob = {
  readonly trigger: Trigger
  /** Why now, for people and statistics: `manual`, `threshold`, `overflow` … */
  readonly reason: string
  readonly view: View
  /** Any record by its uuid, for facts that messages do not have. */
  readonly recordOf?: (uuid: string) => JsonObject | undefined
  /** The conversation's own request, exactly as the next turn would send it; without it no cache is shared. */
  readonly conversation?: ModelRequest | undefined
  /** The window of the conversation's model, where the host or an error said so. */
  readonly contextWindow?: number | undefined
  /** The window that the session works with: the model's, or less where a setting narrows it. Default: `contextWindow`. */
  readonly sessionWindow?: number | undefined
  readonly instructions?: string | undefined
  readonly partial?: PartialChoice | undefined
  /** Use this summary instead of asking a model. It goes through the same checks; the boundary names its mechanism. */
  readonly given?: { readonly text: string; readonly mechanism: string; readonly why: string } | undefined
  readonly settings?: Partial<CompactionSettings>
  readonly counting?: Counting
  /** The tokens of the view, where they are known; else all of it is counted. */
  readonly viewTokens?: number | undefined
  /** Estimated tokens of the system prompt and the tools. */
  readonly overhead?: number
  /** The size that people see, and how estimates relate to it; left out, both are read off the view. */
  readonly size?: number | undefined
  readonly scale?: SizeScale | undefined
  /** The threshold of automatic compaction; 0 if there is none. */
  readonly threshold: number
  /** The size that an automatic compaction must get below; the default is a share of the threshold. */
  readonly target?: number | undefined
  /** Tokens that the whole new context may have by our counter. */
  readonly budget?: number | undefined
  /** Returns the facts from before the view, which may mean reading a whole file. Default: read from the last boundary. */
  readonly carried?: (() => Ledger) | undefined
  /** Words that the user typed while the agent worked and that are in no message. */
  readonly queued?: readonly QueuedWords[]
  readonly restore?: Restore | undefined
  readonly isAutonomous?: boolean
  readonly transcriptPath?: string | undefined
  readonly recall?: boolean
  /** Of the turn in which this happens; the next compaction names it. */
  readonly turnId?: string | undefined
  readonly sessionId: string
  /** The newest entry of the chain; left out, the newest of the view. */
  readonly lastUuid?: string | undefined
  readonly envelope?: JsonObject | undefined
}

export type SizedJob = CompactionJob & { readonly size: number; readonly scale: SizeScale }

/** Estimated tokens of the new context by where they come from. */
export type Composition = {
  /** What the model wrote, its quotations of the user included. */
  readonly model: number
  /** What the user said, added by code; in a summary without a model, the conversation. */
  readonly user: number
  readonly state: number
  readonly rules: number
  /** The record and doubts about names, next to a summary. */
  readonly facts: number
  readonly restored: number
}

/** A compaction with everything that is known about it. */
export type Compaction = Compacted & {
  readonly messages: readonly ViewMessage[]
  readonly summary: string
  /** The user's latest request as the context ends with it; left out if a kept message has it. */
  readonly request?: string
  readonly composition: Composition
  readonly boundaryUuid: string
  readonly summaryUuid: string
  readonly keptUuids: readonly string[]
  /** By the same counter, without system prompt and tools. */
  readonly tokens: { readonly before: number; readonly after: number }
  readonly model?: string
  readonly fidelity: FidelityReport
  readonly ledger: Ledger
  readonly restored: Restoration
  /** What PostCompact hooks want the model to see. */
  readonly contextAfter: readonly string[]
}
