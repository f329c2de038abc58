// A session in memory for tests: a fixed clock, predictable ids, a model with scripted answers.
import { Collapser } from '../../collapse/collapse.ts'
import { reductionsWith } from '../../mechanisms/lists.ts'
import type { Mechanisms, RunningMechanism } from '../../mechanisms/mechanism.ts'
import type { JsonObject } from '../../message/json.ts'
import type { Block } from '../../message/message.ts'
import { noTokens } from '../../message/usage.ts'
import type { EngineEvent } from '../../ports/events.ts'
import { type Hooks, noHooks } from '../../ports/hooks.ts'
import {
  type ModelAnswer,
  type ModelCapabilities,
  type ModelClient,
  type ModelFailure,
  type ModelRequest,
  noCapabilities,
} from '../../ports/model.ts'
import { createGuard, createListeners, hostTimeoutMs } from '../../ports/safely.ts'
import { noPosition } from '../../ports/session-store.ts'
import { completeSettings, readEnvironment } from '../../settings/resolve.ts'
import type { EngineSettings } from '../../settings/table.ts'
import type { Entry } from '../../transcript/format/entry.ts'
import { type Learned, nothingLearned } from '../context-note.ts'
import { type ConversationInput, createConversation } from '../conversation.ts'
import type { RequestBase } from '../input.ts'
import { type Ask, createCleanUps, createRuntime, type Runtime } from '../runtime.ts'
import { createSession, type OwnSession } from '../session.ts'

export type MemoryStore = Omit<ConversationInput['store'], 'entries'> & {
  readonly entries: () => Iterable<Entry>
  readonly close: () => void | Promise<void>
}

export function memoryStore(): MemoryStore {
  const all: Entry[] = []
  return {
    append: (records) => {
      for (const record of records) all.push({ record, position: noPosition })
      return { type: 'stored' }
    },
    flush: async () => ({ type: 'stored' }),
    entries: () => all,
    close: () => undefined,
  }
}

export type WorldOptions = {
  readonly settings?: EngineSettings
  readonly environment?: Readonly<Record<string, string>>
  readonly compaction?: readonly RunningMechanism[]
  readonly mechanisms?: Partial<Mechanisms>
  readonly base?: RequestBase
  readonly ask?: Ask
  readonly hooks?: Hooks
  readonly summaryPrompt?: Runtime['ports']['summaryPrompt']
  readonly model?: ModelClient
  readonly store?: MemoryStore
  readonly learned?: Learned
  readonly wait?: Runtime['ports']['wait']
  readonly pause?: Runtime['ports']['pause']
}

export type World = {
  readonly session: OwnSession
  readonly runtime: Runtime
  readonly learned: Learned
  readonly events: EngineEvent[]
  readonly turn: (milliseconds: number) => void
  readonly records: () => readonly JsonObject[]
}

/** Answers with the result of `reply`; a text is an answer. */
export function scripted(
  reply: (request: ModelRequest, count: number) => string | ModelAnswer | ModelFailure,
  options: { readonly model?: string; readonly capabilities?: Partial<ModelCapabilities> } = {},
): ModelClient & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = []
  const model = options.model ?? 'claude-opus-4-5'
  return {
    requests,
    provider: 'scripted',
    model,
    capabilities: () => ({ ...noCapabilities, promptCache: true, ...options.capabilities }),
    send: async (request) => {
      requests.push(request)
      const said = reply(request, requests.length)
      return typeof said === 'string' ? answerOf(said, { model, id: `msg_${requests.length}` }) : said
    },
  }
}

export function answerOf(
  content: string | readonly Block[],
  more: Partial<Omit<ModelAnswer, 'content'>> = {},
): ModelAnswer {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return {
    type: 'answer',
    id: 'msg_1',
    model: 'claude-opus-4-5',
    content: blocks,
    stopReason: 'end_turn',
    usage: noTokens,
    ...more,
  }
}

/** Waits end at once. A deadline, which only matters if something hangs, lasts until it is cancelled. */
const shortWait: Runtime['ports']['wait'] = (milliseconds, signal) =>
  new Promise((resolve) => {
    if (milliseconds < hostTimeoutMs) resolve()
    else signal?.addEventListener('abort', resolve, { once: true })
  })

export function createTestWorld(options: WorldOptions = {}): World {
  const events: EngineEvent[] = []
  let time = Date.UTC(2026, 10, 1)
  let ids = 0
  const now = () => time
  const store = options.store ?? memoryStore()
  const entries = [...store.entries()]
  // Prevents duplicate ids when a session is opened again.
  const prefix = entries.length === 0 ? 'id' : `id-${entries.length}`
  const newId = () => `${prefix}-${++ids}`
  const model = options.model ?? scripted(() => 'Done.')
  const { settings = {}, learned = nothingLearned(), hooks = noHooks, wait = shortWait } = options
  const listeners = createListeners((event) => void events.push(event), { sessionId: 'session-1' })
  const { emit } = listeners
  const guard = createGuard({ emit, wait })
  const collapser = settings.collapse ? new Collapser() : undefined
  const envelope = {}
  const runtime = createRuntime({
    conversation: createConversation({ store, sessionId: 'session-1', envelope, entries, now, newId }),
    // Uses the thresholds of the specification by default.
    settings: completeSettings(
      readEnvironment({ economy: 'claude-code', ...settings }, options.environment ?? {}).settings,
    ),
    environment: options.environment ?? {},
    mechanisms: {
      reduce: [...(collapser ? [collapser.mechanism] : []), ...reductionsWith(settings.reductions)],
      compact: options.compaction ?? [],
      ...options.mechanisms,
    },
    ports: { now, newId, wait, hooks, emit, summaryPrompt: options.summaryPrompt, pause: options.pause },
    guard,
    ask: options.ask,
    learned,
    model: { client: model, name: model.model },
    base: options.base ?? {},
    cleanUps: createCleanUps(new Set(), { isSubagent: false, guard }),
    background: collapser ? [collapser] : [],
  })
  const session = createSession({ runtime, listeners, close: () => store.close() })
  return {
    session,
    runtime,
    learned,
    events,
    turn: (milliseconds) => {
      time += milliseconds
    },
    records: () => [...store.entries()].map(({ record }) => record),
  }
}
