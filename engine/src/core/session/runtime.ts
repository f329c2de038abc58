// Everything a session works with. No field is ever assigned again: each part owns its state.
import { modelFacts } from '../catalog/models.ts'
import type { Mechanisms } from '../mechanisms/mechanism.ts'
import type { MemoryDecline } from '../memory/plan.ts'
import { defined, errorText } from '../message/json.ts'
import { billedCounts, noTokens } from '../message/usage.ts'
import type { Hooks } from '../ports/hooks.ts'
import type { ModelClient } from '../ports/model.ts'
import type { Declined } from '../ports/outcome.ts'
import type { CompactionPorts } from '../ports/ports.ts'
import type { Restore } from '../ports/restore.ts'
import { callNow, createStop, type Guard, type Stop, safeModel } from '../ports/safely.ts'
import type { Environment } from '../settings/resolve.ts'
import type { Settings } from '../settings/table.ts'
import type { Edit } from '../transcript/format/edits.ts'
import type { Conversation } from './conversation.ts'
import { Gauge, type GaugeInput } from './gauge.ts'
import { createUsageMeter, Tracker, type UsageMeter } from './tracking.ts'

/** Ask mode. Undefined, or no answer in time, means no. */
export type Ask = (question: { readonly tokens: number; readonly threshold: number }) => Promise<boolean | undefined>

export type Runtime = {
  /** Owns the records and the view. */
  readonly conversation: Conversation
  /** Owns the model in use, sizes and thresholds. */
  readonly gauge: Gauge
  /** Owns the turn, the breaker and the state of the cache. */
  readonly tracker: Tracker
  readonly usage: UsageMeter
  readonly settings: Settings
  /** Settings of the host that cannot be used, for `explain()`. */
  readonly warnings?: readonly string[]
  readonly environment: Environment
  readonly mechanisms: Mechanisms
  readonly ports: Omit<CompactionPorts, 'model'>
  readonly restore?: Restore | undefined
  /** For calls of host code that have no port of their own. */
  readonly guard: Guard
  readonly ask?: Ask | undefined
  /** Pins the messages that the host retains. */
  readonly retainer?: ((conversation: Conversation) => void) | undefined
  readonly cleanUps: CleanUps
  readonly background: readonly BackgroundWorker[]
  /** Stopped when the session is closed. */
  readonly closing: Stop
  readonly memoryState?: (() => MemoryState) | undefined
}

/** Takes notes or stages summaries in the background. Only `close()` waits for it. */
export type BackgroundWorker = {
  readonly afterAnswer: (runtime: Runtime) => void
  readonly beforeRequest?: (runtime: Runtime) => void
  /** A compaction reduced the context to this size. */
  readonly afterCompaction: (tokens: number) => void
  readonly idle: () => Promise<void>
}

/** The part of explain() about session memory. */
export type MemoryState = {
  readonly isOn: boolean
  readonly path?: string
  readonly isExtracting: boolean
  /** Three extractions in a row failed. */
  readonly hasStopped: boolean
  readonly lastSeen?: string
  /** The reason why the last compaction did not use the notes. */
  readonly declined?: Declined<MemoryDecline>
  readonly problem?: string
}

type RuntimeInput = Omit<Runtime, 'gauge' | 'tracker' | 'usage' | 'closing'> &
  Pick<GaugeInput, 'model' | 'base' | 'learned' | 'noted' | 'overhead' | 'tokenizer'>

export function createRuntime({ model, base, learned, noted, overhead, tokenizer, ...parts }: RuntimeInput): Runtime {
  const tracker = new Tracker(parts.ports.newId())
  const safe = { ...model, client: safeModel(model.client, parts.guard) }
  const gauge = new Gauge({ ...parts, tracker, model: safe, base, learned, noted, overhead, tokenizer })
  return { ...parts, gauge, tracker, usage: createUsageMeter(), closing: createStop() }
}

export type Reduction = { readonly edits: readonly Edit[]; readonly freed: number }

/** Writes edits that make the context smaller, with the tokens they freed and the size before them. */
export function writeReduction({ conversation, gauge }: Runtime, reduction: Reduction): void {
  const size = gauge.size().tokens
  conversation.edit(withFreed(reduction).map((edit) => ({ ...edit, size })))
}

/** For edits of messages that were already sent. */
export function reduceView(runtime: Runtime, reduction: Reduction): void {
  writeReduction(runtime, reduction)
  runtime.tracker.viewChange()
}

/** The first of several edits gets the sum of the freed tokens. */
export function withFreed({ edits, freed }: Reduction): readonly Edit[] {
  return edits.map((edit, at) => ({ ...edit, freed: at === 0 ? freed : 0 }))
}

/**
 * The session's model for requests besides the turn. Their usage is counted, they use the session's window, and messages are
 * stored before they are sent.
 */
export function summarizer({ conversation, gauge, usage }: Runtime): ModelClient {
  const { client, name } = gauge.model()
  return {
    ...client,
    capabilities: (model) => {
      const known = client.capabilities(model)
      const isOwn = model === name
      const window = isOwn ? gauge.window() : (gauge.limit(client, model) ?? known.window)
      // The host's limit for answers applies to its own model and to models that are unknown.
      const table = known.maxOutput ?? modelFacts(model)?.maxOutput
      const maxOutput = isOwn ? (gauge.maxOutput() ?? table) : (table ?? gauge.maxOutput())
      return { ...known, ...defined({ window, maxOutput }) }
    },
    send: async (request, options) => {
      try {
        await conversation.stored()
      } catch (error) {
        return { type: 'failed', reason: 'transient', message: errorText(error), tries: 0 }
      }
      const result = await client.send(request, options)
      const counts = result.type === 'answer' ? billedCounts(result.usage) : noTokens
      usage.add({ source: request.source, usage: counts, model: request.model })
      return result
    },
  }
}

/** Clears state from before a compaction. The list of skills stays, because listing them again costs thousands of tokens. */
export type CleanUp = {
  readonly name: string
  /** Whether it belongs to one conversation or to all. */
  readonly scope: 'conversation' | 'all'
  /** `tokens`: the size after the compaction. */
  readonly clear: (after: { readonly tokens: number }) => void
}

export type CleanUps = ReturnType<typeof createCleanUps>

/** For one conversation. `shared` holds those for all conversations of an engine; a sub-agent's compaction skips these. */
export function createCleanUps(
  shared: Set<CleanUp>,
  { isSubagent, guard }: { readonly isSubagent: boolean; readonly guard: Guard },
) {
  const own = new Set<CleanUp>()
  return {
    register: (owner: CleanUp): (() => void) => {
      const home = owner.scope === 'all' ? shared : own
      home.add(owner)
      return () => void home.delete(owner)
    },
    /** Runs after a compaction, in the order of registration. */
    run: (after: { readonly tokens: number }): void => {
      const owners = [...own, ...(isSubagent ? [] : shared)]
      // An error must not stop the others, because the compaction is already written.
      for (const owner of owners)
        callNow(
          () => owner.clear(after),
          (why) => guard.report('clean-up', `${owner.name}: ${why}`),
        )
    },
  }
}

const joining = ['SessionStart', 'PostCompact', 'SubagentStart']

/** Appends context that hooks add after a compaction, or when a session starts, to the conversation. */
export function hooksInto(conversation: Conversation, hooks: Hooks): Hooks {
  return {
    run: async (call, options) => {
      const outcome = await hooks.run(call, options)
      const { event } = call
      const source = 'source' in call ? call.source : undefined
      // A compaction places and measures the context of its own SessionStart hooks.
      if (!joining.includes(event) || source === 'compact') return outcome
      const hookName = source === undefined ? event : `${event}:${source}`
      const facts = { type: 'hook_additional_context', hookEvent: event, hookName }
      conversation.append(outcome.context.map((content) => ({ type: 'attachment', attachment: { ...facts, content } })))
      return outcome
    },
  }
}
