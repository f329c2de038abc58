// Everything a session works with. No field is ever assigned again: what changes is inside the part that owns it.
import type { Ladder } from '../ladder/ladder.ts'
import type { Weigher } from '../mechanisms/weigher.ts'
import type { MemoryDecline } from '../memory/plan.ts'
import type { TokenCounts } from '../message/usage.ts'
import type { Emit } from '../ports/events.ts'
import { errorText, type Guard } from '../ports/guarded.ts'
import { guardedModel } from '../ports/guarded-ports.ts'
import type { AbortSignalPort, ModelClient, ModelRequest, QuerySource } from '../ports/model.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { Restore } from '../ports/restore.ts'
import type { Environment } from '../tokens/settings.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { Entry } from '../transcript/format/entry.ts'
import type { View } from '../transcript/view/fold.ts'
import type { CleanUps } from './callbacks.ts'
import type { Conversation } from './conversation.ts'
import { Gauge, type GaugeInput } from './gauge.ts'
import type { EngineSettings } from './settings.ts'
import { createUsageMeter, Tracker, type UsageMeter } from './tracking.ts'

/** Ask mode: undefined, or no answer in time, means no. */
export type Ask = (question: { readonly tokens: number; readonly threshold: number }) => Promise<boolean | undefined>

export type Runtime = {
  /** Owns the records and the view. */
  readonly conversation: Conversation
  /** Owns the model in use, sizes and thresholds. */
  readonly gauge: Gauge
  /** Owns the turn, the breaker and the state of the cache. */
  readonly tracker: Tracker
  readonly usage: UsageMeter
  readonly settings: EngineSettings
  readonly environment: Environment
  readonly ladder: Ladder
  readonly ports: Omit<CompactionPorts, 'model'>
  readonly restore?: Restore | undefined
  /** For calls of host code that have no port of their own. */
  readonly guard: Guard
  readonly ask?: Ask | undefined
  readonly cleanUps: CleanUps
  readonly background: readonly BackgroundWorker[]
  readonly memoryState?: (() => MemoryState) | undefined
}

/** Takes notes or stages summaries in the background. Only `close()` waits for it. */
export type BackgroundWorker = {
  /** An answer was recorded; `calls` is the number of tools it called. */
  readonly afterAnswer: (context: BackgroundContext, calls: number) => void
  readonly beforeRequest?: (context: BackgroundContext) => void
  /** A compaction left a context of this size. */
  readonly afterCompaction: (tokens: number) => void
  readonly idle: () => Promise<void>
}

/** The conversation as a background worker sees it. It can change nothing in it. */
export type BackgroundContext = {
  readonly view: () => View
  readonly tokens: () => number
  readonly effectiveWindow: () => number
  readonly entries: () => readonly Entry[]
  readonly weigher: () => Weigher
  readonly client: () => ModelClient
  readonly model: () => string
  /** The conversation's own request for a view. */
  readonly requestFor: (view: View) => ModelRequest
  readonly countTokens: (text: string) => number
  readonly isCompactionOff: () => boolean
  readonly emit: Emit
  /** Returns what it cost, if it cost anything and the price is known. */
  readonly addUsage: (source: QuerySource, usage: TokenCounts, model: string) => number | undefined
  /** Aborted when the session is closed. */
  readonly signal: AbortSignalPort
}

/** What explain() says about session memory. */
export type MemoryState = {
  readonly isOn: boolean
  readonly path?: string
  readonly isExtracting: boolean
  /** Three extractions in a row failed. */
  readonly hasStopped: boolean
  readonly lastSeen?: string
  /** Why the last compaction did not use the notes. */
  readonly declined?: { readonly why: MemoryDecline; readonly detail: string }
  readonly problem?: string
}

type RuntimeInput = Omit<Runtime, 'gauge' | 'tracker' | 'usage'> & Pick<GaugeInput, 'model' | 'base' | 'learned'>

export function createRuntime({ model, base, learned, ...parts }: RuntimeInput): Runtime {
  const tracker = new Tracker(parts.ports.newId())
  const guarded = { ...model, client: guardedModel(model.client, parts.guard) }
  const gauge = new Gauge({ ...parts, tracker, model: guarded, base, learned })
  return { ...parts, gauge, tracker, usage: createUsageMeter() }
}

export type Reduction = { readonly edits: readonly Edit[]; readonly freed: number }

/** Writes edits that make the context smaller, with what they freed and the size before them. */
export function writeReduction({ conversation, gauge }: Runtime, reduction: Reduction): void {
  const size = gauge.size().tokens
  conversation.edit(withFreed(reduction).map((edit) => ({ ...edit, size })))
}

/** The same for edits that change what was already sent. */
export function reduceView(runtime: Runtime, reduction: Reduction): void {
  writeReduction(runtime, reduction)
  runtime.tracker.viewChange()
}

/** What several edits free together is noted on the first of them. */
export function withFreed({ edits, freed }: Reduction): readonly Edit[] {
  return edits.map((edit, at) => ({ ...edit, freed: at === 0 ? freed : 0 }))
}

/** For background workers: what they send is stored first. */
export function afterStored(client: ModelClient, stored: () => Promise<void>): ModelClient {
  return {
    ...client,
    send: async (request, options) => {
      try {
        await stored()
      } catch (error) {
        return { type: 'failed', reason: 'transient', message: errorText(error), tries: 0 }
      }
      return client.send(request, options)
    },
  }
}
