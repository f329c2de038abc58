// Input and result of a compaction. The same record serves manual, automatic and reactive, full and partial compactions.
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

/** from: summarizes the message and all later ones. up-to: summarizes all earlier ones. The rest stays. */
export type PartialChoice = { readonly type: 'from' | 'up-to'; readonly uuid: string }

export type CompactionJob = {
  readonly trigger: Trigger
  /** The cause, for people and statistics: `manual`, `threshold`, `overflow` … */
  readonly reason: string
  readonly view: View
  /** Returns any record by its uuid, for facts that messages lack. */
  readonly recordOf?: (uuid: string) => JsonObject | undefined
  /** The conversation's own request, exactly as the next turn would send it. Without it, no cache is shared. */
  readonly conversation?: ModelRequest | undefined
  /** The window of the conversation's model, if the host or an error named it. */
  readonly contextWindow?: number | undefined
  /** The window that the session uses: the model's, or a smaller one from a setting. Default: `contextWindow`. */
  readonly sessionWindow?: number | undefined
  readonly instructions?: string | undefined
  readonly partial?: PartialChoice | undefined
  /** Use this summary instead of asking a model. It passes the same checks; the boundary names its mechanism. */
  readonly given?: { readonly text: string; readonly mechanism: string; readonly why: string } | undefined
  readonly settings?: Partial<CompactionSettings>
  readonly counting?: Counting
  /** Tokens of the view. Default: all of it is counted. */
  readonly viewTokens?: number | undefined
  /** Estimated tokens of the system prompt and the tools. */
  readonly overhead?: number
  /** The size that people see, and the conversion from estimates. Default: both are read from the view. */
  readonly size?: number | undefined
  readonly scale?: SizeScale | undefined
  /** The threshold of automatic compaction; 0 if there is none. */
  readonly threshold: number
  /** An automatic compaction must get below this size. Default: a share of the threshold. */
  readonly target?: number | undefined
  /** Maximum tokens of the whole new context, by our counter. */
  readonly budget?: number | undefined
  /** Returns the facts from before the view, which may require reading a whole file. Default: read from the last boundary. */
  readonly carried?: (() => Ledger) | undefined
  /** Text that the user typed while the agent worked and that is in no message. */
  readonly queued?: readonly QueuedWords[]
  readonly restore?: Restore | undefined
  readonly isAutonomous?: boolean
  readonly transcriptPath?: string | undefined
  readonly recall?: boolean
  /** Id of the turn of this compaction. The next compaction names it. */
  readonly turnId?: string | undefined
  readonly sessionId: string
  /** The newest entry of the chain. Default: the newest of the view. */
  readonly lastUuid?: string | undefined
  readonly envelope?: JsonObject | undefined
}

export type SizedJob = CompactionJob & { readonly size: number; readonly scale: SizeScale }

/** Estimated tokens of the new context by source. */
export type Composition = {
  /** Text of the model, including its quotations of the user. */
  readonly model: number
  /** Words of the user, added by code. In a summary without a model, the conversation. */
  readonly user: number
  readonly state: number
  readonly rules: number
  /** The record, and doubts about names, next to a summary. */
  readonly facts: number
  readonly restored: number
}

/** A compaction with all details. */
export type Compaction = Compacted & {
  readonly messages: readonly ViewMessage[]
  readonly summary: string
  /** The user's latest request at the end of the context. Absent if a kept message contains it. */
  readonly request?: string
  readonly composition: Composition
  readonly boundaryUuid: string
  readonly summaryUuid: string
  readonly keptUuids: readonly string[]
  /** Both by the same counter, without system prompt and tools. */
  readonly tokens: { readonly before: number; readonly after: number }
  readonly model?: string
  readonly fidelity: FidelityReport
  readonly ledger: Ledger
  readonly restored: Restoration
  /** Text of PostCompact hooks for the model. */
  readonly contextAfter: readonly string[]
}
