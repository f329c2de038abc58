// engine.read(): a session to look at, on a copy in memory of what a transcript has. Calls that would write throw, and
// prepare() works on another copy.
import type { CompactionJob } from './core/compaction/job.ts'
import { missingFromSummary } from './core/compaction/missing.ts'
import { type CompactionPlan, planCompaction } from './core/compaction/plan.ts'
import { defined } from './core/message/json.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { HeldSession } from './core/ports/session-store.ts'
import { StoreError } from './core/ports/store.ts'
import type { ContextNote } from './core/session/context-note.ts'
import { type CompactOptions, compactInput } from './core/session/input.ts'
import type { Recall } from './core/session/recall.ts'
import type { Session, SessionOptions } from './core/session/session-api.ts'
import { compactionJobAt, type Transcript } from './core/session/transcript.ts'
import { completeSettings } from './core/settings/resolve.ts'
import type { EngineSettings } from './core/settings/table.ts'
import type { Fold } from './core/transcript/view/fold.ts'
import { memorySession } from './stores/memory.ts'

export type ReadSession = Session & {
  /**
   * Returns what a compaction would do now, without doing it and without asking a model.
   *
   *     const plan = await session.plan({ upTo: uuid })
   */
  readonly plan: (options?: CompactOptions) => Promise<CompactionPlan>

  /**
   * Returns what a summary of this conversation leaves out, as a text for the agent; empty if nothing is missing.
   *
   *     const session = await engine.read('session.jsonl', { before: boundary })
   *     const note = await session.missing(summary)
   */
  readonly missing: (summary: string, options?: { readonly maxTokens?: number }) => Promise<string>
}

/** What a session in memory is opened with. */
export type ReadInput = {
  readonly held: HeldSession
  /** Of its entries, for a session that adds nothing. */
  readonly fold: Fold | undefined
  readonly model: ModelClient
  readonly options: SessionOptions
  readonly settings: EngineSettings
  readonly restore: Transcript['restore']
  /** What the session itself counted with, where an engine of ours wrote it. */
  readonly note: ContextNote | undefined
}

export type ReadSessionInput = {
  readonly transcript: Transcript
  readonly model: ModelClient
  readonly settings: EngineSettings
  readonly options: SessionOptions
  /** Searches the whole transcript. Default: its entries are searched. */
  readonly recall?: Recall | undefined
  readonly open: (input: ReadInput) => Promise<Session>
}

export async function readSession(input: ReadSessionInput): Promise<ReadSession> {
  const { transcript, options, recall } = input
  const { path, entries, view, restore, envelope } = transcript
  const answered = view.messages.findLast(({ model: name }) => name !== undefined && name !== '<synthetic>')?.model
  const name = options.model ?? transcript.note?.model ?? answered ?? input.model.model
  // Of another model the notes say nothing.
  const note = transcript.note?.model === name ? transcript.note : undefined
  const model = note ? withNotedWindow(input.model, note) : input.model
  const settings = { ...note?.settings, ...input.settings }
  const own = { ...options, model: name, envelope: { ...envelope, ...options.envelope } }
  const open = (fold: Fold | undefined, changed: EngineSettings = {}) => {
    const held = { ...memorySession(transcript.sessionId ?? 'unknown', entries), path: path || undefined, ...recall }
    return input.open({ held, fold, model, options: own, settings: { ...settings, ...changed }, restore, note })
  }
  const session = await open(transcript.fold)
  const { contextWindow } = session.explain()
  const { summary, recall: isRecalling } = completeSettings(settings)
  const job = (more: Partial<CompactionJob> = {}): CompactionJob => ({
    ...compactionJobAt(transcript),
    sessionWindow: contextWindow.value,
    settings: summary,
    recall: isRecalling,
    ...more,
  })
  return Object.assign(session, refusing, {
    prepare: async (prepare?: Parameters<Session['prepare']>[0]) => {
      // No model is asked: an automatic compaction is left out.
      const copy = await open(undefined, settings.compaction === 'off' ? {} : { compaction: 'manual' })
      return copy.prepare(prepare)
    },
    plan: async (given: CompactOptions = {}) => {
      const { instructions, from, upTo } = compactInput(given)
      const uuid = from ?? upTo
      const partial = uuid === undefined ? undefined : ({ type: from === undefined ? 'up-to' : 'from', uuid } as const)
      return planCompaction(job(defined({ instructions, partial })), model)
    },
    missing: async (summary: string, { maxTokens }: { readonly maxTokens?: number } = {}) =>
      missingFromSummary(job(), { summary, ...defined({ maxTokens }) }),
  })
}

function withNotedWindow(client: ModelClient, { model, provider, learnedWindow }: ContextNote): ModelClient {
  const noted = defined({ window: learnedWindow ?? provider.window, maxOutput: provider.maxOutput })
  return { ...client, capabilities: (name) => ({ ...client.capabilities(name), ...(name === model ? noted : {}) }) }
}

function refuse(name: string): never {
  const why = `${name}() would write, and this session was opened with read(). Use open() to continue it.`
  throw new StoreError(why, { reason: 'read-only' })
}

const refusing = {
  add: () => refuse('add'),
  record: () => refuse('record'),
  send: async () => refuse('send'),
  recover: async () => refuse('recover'),
  compact: async () => refuse('compact'),
  undo: async () => refuse('undo'),
  snip: async () => refuse('snip'),
  pin: async () => refuse('pin'),
  unpin: async () => refuse('unpin'),
  clear: async () => refuse('clear'),
  rewind: async () => refuse('rewind'),
  subagent: async () => refuse('subagent'),
} satisfies Partial<Session>
