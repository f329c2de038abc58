// Sends one request for a summary and says what came of it. Keeps the connection's watchers awake meanwhile, adds up
// what was used, and never sends again what was too long.
import { addCounts, billedCounts, noTokens, type TokenCounts } from '../../message/usage.ts'
import type { CompactionFailure, Tried } from '../../ports/events.ts'
import type { AbortSignalPort, ModelAnswer, ModelFailure, ModelRequest, Overflow } from '../../ports/model.ts'
import type { CompactionPorts } from '../../ports/ports.ts'
import { createStop } from '../../ports/stop.ts'
import { type JudgeInput, judgeSummary } from './judge.ts'
import { onDemandText } from './request.ts'
import type { TextCounter } from './too-long.ts'

export type Asked =
  | { readonly type: 'summary'; readonly text: string; readonly answer: ModelAnswer; readonly request: ModelRequest }
  | { readonly type: 'overflow'; readonly overflow: Overflow | undefined; readonly why: string }
  | { readonly type: 'failed'; readonly reason: CompactionFailure; readonly why: string }
  | { readonly type: 'aborted' }

export type Asking = {
  readonly mechanism: string
  readonly request: ModelRequest
  readonly prompt: string
  readonly sourceTokens: JudgeInput['sourceTokens']
  /** How often it is sent when the stream breaks. */
  readonly sends: number
}

export type Asker = {
  readonly ask: (asking: Asking) => Promise<Asked>
  readonly note: (tried: Tried) => void
  readonly tried: () => readonly Tried[]
  readonly usage: () => TokenCounts
  /** Of the request that shared the cache: which part of its prompt was read from there. */
  readonly hitRate: () => number | undefined
}

export type AskerOptions = {
  readonly ports: CompactionPorts
  readonly signal: AbortSignalPort | undefined
  readonly countTokens: TextCounter
}

const keepAliveEvery = 30_000

export function createAsker({ ports, signal, countTokens }: AskerOptions): Asker {
  const tried: Tried[] = []
  const tooLong: ModelRequest[] = []
  const told = new Set<string>()
  let usage = noTokens
  let hitRate: number | undefined
  const note = (item: Tried): void => {
    tried.push(item)
    ports.emit({ type: 'mechanism-tried', mechanism: item.mechanism, outcome: item.outcome, why: item.why })
  }
  /** The real window, where a provider names it: worth more than what any table says. It names it with every refusal. */
  const tellLimit = (asked: string, overflow: Overflow | undefined): void => {
    const { endpoint = ports.model.provider } = ports.model
    const limit = overflow?.limit
    if (limit === undefined || told.has(`${limit} ${asked}`)) return
    told.add(`${limit} ${asked}`)
    ports.emit({ type: 'limit-learned', endpoint, model: asked, limit })
  }
  const ask = async (asking: Asking): Promise<Asked> => {
    const { mechanism, request, prompt, sourceTokens } = asking
    if (tooLong.some((other) => isSame(other, request)))
      return { type: 'overflow', overflow: undefined, why: 'it was too long before' }
    const answer = await send(asking, { ports, signal })
    const seen = interpret(answer)
    if (seen.type === 'aborted') return seen
    if (seen.type === 'overflow') {
      tooLong.push(request)
      tellLimit(request.model, seen.overflow)
    }
    if (seen.type !== 'answer') {
      note({
        mechanism,
        outcome: 'failed',
        why: seen.why,
        reason: seen.type === 'overflow' ? 'prompt_too_long' : 'api_error',
      })
      return seen
    }
    usage = addCounts(usage, billedCounts(seen.answer.usage))
    if (mechanism === 'cache-sharing' || mechanism === 'server-compaction')
      hitRate = hitRateOf(billedCounts(seen.answer.usage))
    const words = { ...seen.answer, content: onDemandText(seen.answer.content) }
    const judged = judgeSummary({ answer: words, prompt, countTokens, sourceTokens })
    if (judged.type === 'refused') {
      note({ mechanism, outcome: 'failed', why: judged.why, reason: judged.reason })
      return { type: 'failed', reason: judged.reason, why: judged.why }
    }
    note({ mechanism, outcome: 'done', why: `${countTokens(judged.text)} tokens` })
    return { type: 'summary', text: judged.text, answer: seen.answer, request }
  }
  return { ask, note, tried: () => tried, usage: () => usage, hitRate: () => hitRate }
}

/** As far as its length goes. */
function isSame(one: ModelRequest, other: ModelRequest): boolean {
  if (one.messages.length !== other.messages.length) return false
  const words = ({ model, system, messages }: ModelRequest) => JSON.stringify([model, system, messages])
  return words(one) === words(other)
}

type Surroundings = Pick<AskerOptions, 'ports' | 'signal'>

/** A client may have tried several times itself; all tries together count. */
async function send({ request, sends }: Asking, { ports, signal }: Surroundings): Promise<ModelAnswer | ModelFailure> {
  for (let sent = 0; ; ) {
    const answer = await keptAlive(ports, () =>
      ports.model.send(request, {
        ...(signal ? { signal } : {}),
        onEvent: (event) => {
          if (event.type !== 'progress') return
          ports.emit({ type: 'compaction-progressed', phase: 'summarizing', outputTokens: event.outputTokens })
        },
      }),
    )
    if (signal?.aborted) return { type: 'failed', reason: 'aborted', message: 'aborted', tries: 1 }
    if (answer.type === 'answer' || answer.reason !== 'transient') return answer
    sent += Math.max(1, answer.tries)
    if (sent >= sends) return answer
    await ports.wait(1_000 * sent, signal)
  }
}

/** Tells whoever listens, every half minute, that the work goes on: a summary can take longer than a proxy waits. */
async function keptAlive<T>(ports: CompactionPorts, work: () => Promise<T>): Promise<T> {
  const over = createStop()
  const beat = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await ports.wait(keepAliveEvery, over.signal)
      if (!over.signal.aborted) ports.emit({ type: 'compaction-progressed', phase: 'summarizing', keepAlive: true })
    }
  }
  const beating = beat()
  try {
    return await work()
  } finally {
    over.stop()
    await beating
  }
}

function interpret(
  answer: ModelAnswer | ModelFailure,
): { readonly type: 'answer'; readonly answer: ModelAnswer } | Exclude<Asked, { type: 'summary' }> {
  if (answer.type === 'answer') {
    if (answer.stopReason !== 'model_context_window_exceeded') return { type: 'answer', answer }
    return { type: 'overflow', overflow: undefined, why: 'the answer met the end of the window' }
  }
  const { reason, message, overflow } = answer
  if (reason === 'aborted') return { type: 'aborted' }
  if (reason === 'overflow' || reason === 'too-large') return { type: 'overflow', overflow, why: message }
  return { type: 'failed', reason: 'api_error', why: message }
}

function hitRateOf(usage: TokenCounts): number | undefined {
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  return prompt === 0 ? undefined : usage.cacheRead / prompt
}
