// engine.read(): a read-only session on a copy of a transcript in memory. Calls that would write throw; prepare() and compact()
// work on copies.
import type { Compaction, CompactionJob } from './core/compaction/job.ts'
import { missingFromSummary } from './core/compaction/missing.ts'
import { type CompactionPlan, planCompaction } from './core/compaction/plan.ts'
import { runCompaction } from './core/compaction/run.ts'
import { defined } from './core/message/json.ts'
import type { EngineEvent } from './core/ports/events.ts'
import { noHooks } from './core/ports/hooks.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { Compacted, Failed } from './core/ports/outcome.ts'
import { createGuard, createListeners, type Listeners, safeModel } from './core/ports/safely.ts'
import { type HeldSession, StoreError } from './core/ports/session-store.ts'
import type { ContextNote } from './core/session/context-note.ts'
import { answeredBy, explainTranscript } from './core/session/explain-transcript.ts'
import { overheadOf } from './core/session/gauge.ts'
import { type EnginePorts, type HostFunctions, safeFunctions } from './core/session/host.ts'
import { type CompactOptions, compactInput, requestBase } from './core/session/input.ts'
import type { Session, SessionOptions } from './core/session/session-api.ts'
import { compactionJobAt, type Transcript } from './core/session/transcript.ts'
import { completeSettings, type Environment } from './core/settings/resolve.ts'
import type { EngineSettings } from './core/settings/table.ts'
import type { Fold } from './core/transcript/view/fold.ts'
import { memorySession } from './stores/memory.ts'

export type ReadSession = Omit<Session, 'compact'> & {
  /**
   * Makes a compaction and returns it with its records. Writes nothing, and the session stays the same.
   *
   *     const made = await session.compact({ instructions: 'Keep the schema decisions.' })
   *     if (made.type === 'compacted') console.log(made.summary)
   */
  readonly compact: (options?: DraftOptions) => Promise<Compacted | Failed>

  /**
   * Returns what a compaction would do now, without doing it and without asking a model.
   *
   *     const plan = await session.plan({ upTo: uuid })
   */
  readonly plan: (options?: DraftOptions) => Promise<CompactionPlan>

  /**
   * Returns the facts that a summary of this conversation lacks, as a text for the agent. Empty if nothing is missing.
   *
   *     const session = await engine.read('session.jsonl', { before: boundary })
   *     const note = await session.missing(summary)
   */
  readonly missing: (summary: string, options?: { readonly maxTokens?: number }) => Promise<string>
}

/** Options for a compaction that is not written. */
export type DraftOptions = CompactOptions & {
  /** Maximum tokens of the whole new context, without the system prompt and the tools. */
  readonly budget?: number
}

/** The input for opening a session in memory. */
export type ReadInput = {
  readonly held: HeldSession
  /** The fold of its entries, for a session that adds nothing. */
  readonly fold: Fold | undefined
  readonly model: ModelClient
  readonly options: SessionOptions
  readonly settings: EngineSettings
  readonly restore: Transcript['restore']
  readonly listeners: Listeners
  /** The values that the session itself counted with, if our engine wrote it. */
  readonly note: ContextNote | undefined
}

export type ReadSessionInput = {
  readonly transcript: Transcript
  readonly model: ModelClient
  readonly settings: EngineSettings
  readonly environment: Environment
  readonly options: SessionOptions
  readonly ports: EnginePorts
  /** The host's own functions, which may fail. */
  readonly functions: HostFunctions & { readonly onEvent?: ((event: EngineEvent) => void) | undefined }
  /** The whole transcript. Default: its entries. */
  readonly whole?: Whole | undefined
  readonly open: (input: ReadInput) => Promise<Session>
}

/** Reads and searches everything that a session ever had. */
export type Whole = Partial<Pick<HeldSession, 'all' | 'recall' | 'read'>>

/** A read session for our own tools, which also see how a compaction was made. */
export type OwnReadSession = Omit<ReadSession, 'compact'> & {
  readonly compact: (options?: DraftOptions) => Promise<Compaction | Failed>
}

export async function readSession(input: ReadSessionInput): Promise<OwnReadSession> {
  const { transcript, options, ports, environment: env, whole } = input
  const { path, entries, restore, envelope } = transcript
  const id = transcript.sessionId ?? 'unknown'
  const name = options.model ?? transcript.note?.model ?? answeredBy(transcript) ?? input.model.model
  // The notes do not apply to another model.
  const note = transcript.note?.model === name ? transcript.note : undefined
  const model = note ? withNotedWindow(input.model, note) : input.model
  const settings = { ...note?.settings, ...input.settings }
  const own = { ...options, model: name, envelope: { ...envelope, ...options.envelope } }
  const listeners = createListeners(input.functions.onEvent, { sessionId: id })
  const guard = createGuard({ emit: listeners.emit, wait: ports.wait })
  const open = (fold: Fold | undefined, changed: EngineSettings = {}) => {
    const held = { ...memorySession(id, entries), path: path || undefined, ...whole }
    const more = { settings: { ...settings, ...changed }, options: own, listeners }
    return input.open({ held, fold, model, restore, note, ...more })
  }
  const session = await open(transcript.fold)
  const { explain: ofSession } = session
  const base = options.system === undefined && options.tools === undefined ? undefined : requestBase(options)
  const overhead = base && overheadOf(base, { model: name })
  const explained = () =>
    explainTranscript(transcript, { env, model: options.model, settings: input.settings, overhead })
  const job = (given: DraftOptions = {}): CompactionJob => {
    const { instructions, from, upTo } = compactInput(given)
    const { budget } = given
    const uuid = from ?? upTo
    const partial = uuid === undefined ? undefined : ({ type: from === undefined ? 'up-to' : 'from', uuid } as const)
    const { summary, recall } = completeSettings(settings)
    return {
      ...compactionJobAt(transcript),
      ...{ sessionWindow: explained().contextWindow.value, settings: summary, recall },
      ...defined({ instructions, partial, budget }),
    }
  }
  return Object.assign(session, refusedCalls, {
    explain: () => ({ ...ofSession(), ...explained() }),
    prepare: async (prepare?: Parameters<Session['prepare']>[0]) => {
      // No model is asked, so an automatic compaction is omitted.
      const copy = await open(undefined, settings.compaction === 'off' ? {} : { compaction: 'manual' })
      return copy.prepare(prepare)
    },
    compact: async (given: DraftOptions = {}) => {
      const { redact, summaryPrompt } = safeFunctions(input.functions, guard)
      const outside = { ...ports, redact, summaryPrompt, hooks: noHooks, emit: listeners.emit }
      return runCompaction(
        job(given),
        { ...outside, model: safeModel(model, guard) },
        defined({ signal: given.signal }),
      )
    },
    plan: async (given: DraftOptions = {}) => planCompaction(job(given), model),
    missing: async (summary: string, { maxTokens }: { readonly maxTokens?: number } = {}) =>
      missingFromSummary(job(), { summary, ...defined({ maxTokens }) }),
  })
}

function withNotedWindow(client: ModelClient, { model, provider, learnedWindow }: ContextNote): ModelClient {
  const noted = defined({ window: learnedWindow ?? provider.window, maxOutput: provider.maxOutput })
  return { ...client, capabilities: (name) => ({ ...client.capabilities(name), ...(name === model ? noted : {}) }) }
}

function refuseWrite(name: string): never {
  const why = `${name}() would write, and this session was opened with read(). Use open() to continue it.`
  throw new StoreError(why, { reason: 'read-only' })
}

const refusedCalls = {
  add: () => refuseWrite('add'),
  record: () => refuseWrite('record'),
  send: async () => refuseWrite('send'),
  recover: async () => refuseWrite('recover'),
  undo: async () => refuseWrite('undo'),
  snip: async () => refuseWrite('snip'),
  pin: async () => refuseWrite('pin'),
  unpin: async () => refuseWrite('unpin'),
  clear: async () => refuseWrite('clear'),
  rewind: async () => refuseWrite('rewind'),
  subagent: async () => refuseWrite('subagent'),
} satisfies Partial<Session>
