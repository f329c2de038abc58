// The query loop: prepare, send, run tools, repeat until the model stops. The session takes care of compaction, recovery
// and the transcript.
import type { MessageInput, ModelAnswer, StreamEvent, Turn } from 'everlong'
import { blocksOf, isToolUse, type ToolUseBlock, type ViewMessage } from 'everlong/internal'
import type { Preparation } from 'everlong/internal/compaction'
import type { Session } from 'everlong/node'
import { createChannel } from './channel.ts'
import type { LoopEvent, LoopState, StopReason } from './events.ts'
import { runTools, type ToolRun } from './run-tools.ts'
import { type AnyTool, offerTools } from './tool.ts'

export type QueryOptions = {
  /** Must already contain the user's request. */
  readonly session: Session
  readonly tools?: readonly AnyTool[]
  readonly signal?: AbortSignal
  /** The maximum number of answers. */
  readonly maxTurns?: number
  /** The state that an earlier loop returned, to continue from there. */
  readonly state?: LoopState
  /** Called before each request and before the loop ends. Returns new messages, such as text that the person typed. */
  readonly incoming?: () => Promise<readonly MessageInput[]>
}

type Loop = Required<Pick<QueryOptions, 'session' | 'tools' | 'signal' | 'incoming'>> & {
  readonly channel: ReturnType<typeof createChannel<LoopEvent>>
}

/** Ends with a `stopped` event and returns the final state. */
export async function* query(options: QueryOptions): AsyncGenerator<LoopEvent, LoopState> {
  const { session, tools = [], signal = new AbortController().signal, maxTurns = Number.POSITIVE_INFINITY } = options
  const channel = createChannel<LoopEvent>()
  const loop: Loop = { session, tools, signal, channel, incoming: options.incoming ?? (async () => []) }
  offerTools(session, tools)
  const stopListening = session.on((event) => channel.push({ type: 'engine', event }))
  let state = options.state ?? firstState(session)
  let why: StopReason | undefined
  try {
    for (let answers = 0; why === undefined; answers++) {
      if (answers >= maxTurns) why = 'turn-limit'
      else [state, why] = yield* iterate(loop, state)
    }
    // A sub-agent's session runs its own hook.
    if (why === 'finished' && session.agentId === undefined) {
      const { messages } = yield* channel.until(session.runHooks({ event: 'Stop' }, { signal }))
      for (const text of messages) yield { type: 'notice', text }
    }
  } finally {
    stopListening()
  }
  yield { type: 'stopped', why, state }
  return state
}

function firstState(session: Session): LoopState {
  const { turnId, breaker } = session.tracking()
  return { turnId, turn: 0, isCompacted: false, failures: breaker.failures }
}

/** One request, its answer and its tool calls. Returns a reason if the loop should stop. */
async function* iterate(
  loop: Loop,
  before: LoopState,
): AsyncGenerator<LoopEvent, readonly [LoopState, StopReason | undefined]> {
  const { session, signal, channel } = loop
  yield* takeIncoming(loop)
  if (signal.aborted) return [before, 'aborted']
  const onEvent = (event: StreamEvent) => channel.push({ type: 'stream', event })
  let newest: ViewMessage | undefined
  const onPrepared = (preparation: Preparation) => {
    newest = session.messages().at(-1)
    announce(loop, preparation)
  }
  const turn = yield* channel.until(session.send({ signal, onEvent, onPrepared }))
  const state = stateAfter(loop, turn, before)
  if (turn.type === 'blocked') {
    if (turn.why === 'aborted') return [state, 'aborted']
    yield { type: 'blocked', why: turn.why, tried: turn.tried }
    return [state, 'blocked']
  }
  if (turn.type === 'failed') {
    const { failure, steps } = turn
    if (failure.reason === 'aborted') return [state, 'aborted']
    yield { type: 'failed', failure, steps }
    return [state, 'failed']
  }
  const { answer, uuid } = turn
  yield { type: 'answer', answer, uuid }
  const calls = blocksOf(answer.content).filter(isToolUse)
  if (calls.length > 0) yield* callTools(loop, calls)
  const next = { ...state, turn: state.turn + 1 }
  if (signal.aborted) return [next, 'aborted']
  if (calls.length > 0 || shouldContinue(loop, answer, newest)) return [next, undefined]
  return [next, (yield* takeIncoming(loop)) ? undefined : 'finished']
}

/** Returns whether there were any. */
async function* takeIncoming({ session, incoming, channel }: Loop): AsyncGenerator<LoopEvent, boolean> {
  const messages = yield* channel.until(incoming())
  if (messages.length > 0) session.add(messages)
  return messages.length > 0
}

/** Emits notices and the records of a compaction before the answer streams. */
function announce({ channel }: Loop, { notices, compaction }: Preparation): void {
  for (const text of notices) channel.push({ type: 'notice', text })
  for (const record of compaction?.records ?? []) channel.push({ type: 'record', record })
}

/** A compaction resets the counters. */
function stateAfter({ session }: Loop, { compactions }: Turn, state: LoopState): LoopState {
  const { turnId, breaker } = session.tracking()
  if (compactions.length === 0) return { ...state, turnId, failures: breaker.failures }
  return { turnId, turn: 0, isCompacted: true, failures: 0 }
}

async function* callTools(loop: Loop, calls: readonly ToolUseBlock[]): AsyncGenerator<LoopEvent, void> {
  const { session, tools, signal, channel } = loop
  const results = yield* channel.until(runTools({ session, tools, calls, signal, emit: channel.push }))
  session.add({ role: 'user', content: results.map(({ block }) => block), ...detailsOf(results) })
}

/** Clients store details only for a single call, because those of several could not be told apart. */
function detailsOf(results: readonly ToolRun[]): { readonly toolUseResult?: unknown } {
  const [only] = results
  return results.length === 1 && only?.details !== undefined ? { toolUseResult: only.details } : {}
}

const windowEnded = 'Your answer was cut off by the end of the context window. Continue where it ends.'

/**
 * True if the server paused its turn, the window cut the answer off, or the user typed something meanwhile. `newest` is
 * the message that was answered: after an answer without content it is still the newest, and asking again would loop.
 */
function shouldContinue({ session }: Loop, { stopReason }: ModelAnswer, newest: ViewMessage | undefined): boolean {
  if (stopReason === 'pause_turn') return true
  if (stopReason === 'model_context_window_exceeded') {
    session.add({ role: 'user', content: windowEnded, origin: 'meta' })
    return true
  }
  const last = session.messages().at(-1)
  return last?.role === 'user' && JSON.stringify(last) !== JSON.stringify(newest)
}
