// A session in memory for tests: a clock that stands still, ids that can be foreseen, a model that says what it is told.

import type { Ladder } from '../../ladder/ladder.ts'
import { defaultLadder } from '../../ladder/ladder.ts'
import type { RunningMechanism } from '../../mechanisms/mechanism.ts'
import type { Block } from '../../message/block.ts'
import type { JsonObject } from '../../message/json.ts'
import { noTokens } from '../../message/usage.ts'
import type { EngineEvent } from '../../ports/events.ts'
import type { FileStore } from '../../ports/files.ts'
import { createGuard, hostTimeoutMs } from '../../ports/guarded.ts'
import { type Hooks, noHooks } from '../../ports/hooks.ts'
import type { ModelAnswer, ModelCapabilities, ModelClient, ModelFailure, ModelRequest } from '../../ports/model.ts'
import { createRequester } from '../../request/from-view.ts'
import { calibrationOf } from '../../tokens/estimate/calibrate.ts'
import { createCleanUps } from '../clean-up.ts'
import { createCollapser } from '../collapser.ts'
import { createConversation } from '../conversation.ts'
import { type Ask, type Desk, freshWeigher, type Lessons, type RequestBase } from '../desk.ts'
import { createSession } from '../session.ts'
import type { Session } from '../session-types.ts'
import type { EngineSettings } from '../settings.ts'
import { nothingSpent } from '../spent.ts'
import { memoryStore, type Store } from '../store.ts'
import { newTracking } from '../tracking.ts'

export type WorldOptions = {
  readonly settings?: EngineSettings
  readonly environment?: Readonly<Record<string, string>>
  readonly compaction?: readonly RunningMechanism[]
  readonly ladder?: Partial<Ladder>
  readonly base?: RequestBase
  readonly ask?: Ask
  readonly hooks?: Hooks
  readonly model?: ModelClient
  readonly store?: Store
  readonly lessons?: Lessons
  readonly wait?: Desk['ports']['wait']
}

export type World = {
  readonly session: Session
  readonly desk: Desk
  readonly events: EngineEvent[]
  readonly turn: (milliseconds: number) => void
  readonly records: () => readonly JsonObject[]
}

const abilities: ModelCapabilities = {
  cacheEdits: false,
  contextManagement: false,
  compaction: 'none',
  promptCache: true,
  offline: false,
}

/** Answers with what `reply` says; a text is an answer. */
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
    capabilities: () => ({ ...abilities, ...options.capabilities }),
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

const noFiles: FileStore = { read: async () => ({ type: 'missing' }) }

/** Waits are over at once. A deadline, which only matters where something hangs, lasts until it is called off. */
const shortWait: Desk['ports']['wait'] = (milliseconds, signal) =>
  new Promise((resolve) => {
    if (milliseconds < hostTimeoutMs) resolve()
    else signal?.addEventListener('abort', resolve, { once: true })
  })

export function createTestWorld(options: WorldOptions = {}): World {
  const events: EngineEvent[] = []
  let time = Date.UTC(2026, 10, 1)
  let ids = 0
  const now = () => time
  const newId = () => `id-${++ids}`
  const store = options.store ?? memoryStore()
  const model = options.model ?? scripted(() => 'Done.')
  const { settings = {}, lessons = { calibrations: {}, limits: {} }, hooks = noHooks, wait = shortWait } = options
  const collapser = createCollapser()
  let desk: Desk | undefined
  const session = createSession({
    id: 'session-1',
    listeners: [(event) => events.push(event)],
    close: () => store.close(),
    desk: (emit) => {
      const guard = createGuard({ emit, wait })
      desk = {
        conversation: createConversation({
          store,
          sessionId: 'session-1',
          envelope: {},
          entries: [...store.entries()],
          now,
          newId,
        }),
        settings,
        environment: options.environment ?? {},
        ladder: {
          ...defaultLadder(options.compaction ?? [], {
            collapse: settings.mode === 'collapse' ? collapser.rung : undefined,
            isNative: settings.reductions?.native !== undefined,
          }),
          ...options.ladder,
        },
        ports: { now, newId, wait, hooks, files: noFiles, emit },
        emit,
        guard,
        ask: options.ask,
        lessons,
        model,
        modelName: model.model,
        base: options.base ?? {},
        tracking: newTracking(newId()),
        weigher: freshWeigher({ settings, lessons }, model.model),
        calibration: calibrationOf(lessons.calibrations, model.model),
        noted: undefined,
        requester: createRequester(),
        sized: undefined,
        cheapest: undefined,
        cacheLifetime: undefined,
        delegated: undefined,
        spent: nothingSpent,
        cleanUps: createCleanUps(new Set(), { isSubagent: false, onProblem: (why) => guard.report('clean-up', why) }),
        ...(settings.mode === 'collapse' ? { collapser } : {}),
      }
      return desk
    },
  })
  if (!desk) throw new Error('A session was made without its desk.')
  return {
    session,
    desk,
    events,
    turn: (milliseconds) => {
      time += milliseconds
    },
    records: () => [...store.entries()].map(({ record }) => record),
  }
}
