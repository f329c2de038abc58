// Sends one request for a summary and judges the answer. Emits signs of life while it waits, and adds up the usage.
import { addCounts, billedCounts, type TokenCounts } from '../../message/usage.ts'
import type { ModelAnswer, ModelFailure, ModelRequest } from '../../ports/model.ts'
import { type Failed, type FailedReason, failed, stopped, type Tried } from '../../ports/outcome.ts'
import type { CompactionPorts } from '../../ports/ports.ts'
import { createStop } from '../../ports/safely.ts'
import type { CompactionRun } from '../history.ts'
import { judgeSummary } from './judge.ts'
import { onDemandText } from './request.ts'

export type Summary = {
  readonly type: 'summary'
  readonly mechanism: string
  readonly text: string
  readonly answer: ModelAnswer
  readonly request: ModelRequest
}

export type Asking = {
  readonly mechanism: string
  readonly request: ModelRequest
  readonly prompt: string
  /** Tokens of the summarized messages: a summary must have fewer. */
  readonly sourceTokens: number
  /** How often it is sent when the stream breaks. */
  readonly sends: number
  readonly countTokens: (text: string) => number
}

/** For the result of the compaction, and for listeners now. */
export function note({ ports, tried }: CompactionRun, item: Tried): void {
  tried.push(item)
  ports.emit({ type: 'mechanism-tried', mechanism: item.mechanism, outcome: item.outcome, why: item.why })
}

export async function ask(run: CompactionRun, asking: Asking): Promise<Summary | Failed> {
  const { ports, signal } = run
  const { mechanism, request, prompt, sourceTokens, countTokens } = asking
  const noted = (reason: FailedReason, why: string): Failed => {
    note(run, { mechanism, outcome: 'failed', why, reason })
    return failed(reason, why)
  }
  const answer = await send(asking, run)
  if (signal?.aborted) return stopped
  const { overflow } = answer.type === 'failed' ? answer : {}
  // The provider's own limit overrides every table.
  if (overflow?.limit !== undefined && overflow.limit !== run.limit) {
    run.limit = overflow.limit
    const { endpoint = ports.model.provider } = ports.model
    ports.emit({ type: 'limit-learned', endpoint, model: request.model, limit: overflow.limit })
  }
  if (isTooLong(answer)) {
    const why = answer.type === 'failed' ? answer.message : 'the answer met the end of the window'
    return { ...noted('prompt-too-long', why), overflow }
  }
  if (answer.type === 'failed') return answer.reason === 'aborted' ? stopped : noted('api-error', answer.message)
  const billed = billedCounts(answer.usage)
  run.usage = addCounts(run.usage, billed)
  if (mechanism === 'cache-sharing' || mechanism === 'server-compaction') run.hitRate = hitRateOf(billed)
  const words = { ...answer, content: onDemandText(answer.content) }
  const judged = judgeSummary({ answer: words, prompt, countTokens, sourceTokens })
  if (typeof judged !== 'string') return noted(judged.reason, judged.why)
  note(run, { mechanism, outcome: 'done', why: `${countTokens(judged)} tokens` })
  return { type: 'summary', mechanism, text: judged, answer, request }
}

function isTooLong(answer: ModelAnswer | ModelFailure): boolean {
  if (answer.type === 'answer') return answer.stopReason === 'model_context_window_exceeded'
  return answer.reason === 'overflow' || answer.reason === 'too-large'
}

/** A client may have tried several times itself; all tries together count. */
async function send({ request, sends }: Asking, run: CompactionRun): Promise<ModelAnswer | ModelFailure> {
  const { ports, signal } = run
  for (let sent = 0; ; ) {
    run.attempts++
    const answer = await keptAlive(ports, () =>
      ports.model.send(request, {
        ...(signal ? { signal } : {}),
        onEvent: (event) => {
          if (event.type !== 'progress') return
          ports.emit({ type: 'compaction-progressed', phase: 'summarizing', outputTokens: event.outputTokens })
        },
      }),
    )
    if (signal?.aborted || answer.type === 'answer' || answer.reason !== 'transient') return answer
    sent += Math.max(1, answer.tries)
    if (sent >= sends) return answer
    await ports.wait(1_000 * sent, signal)
  }
}

const keepAliveEvery = 30_000

/** A summary can take longer than a proxy waits for the next byte. */
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

function hitRateOf({ input, cacheRead, cacheWrite }: TokenCounts): number | undefined {
  const prompt = input + cacheRead + cacheWrite
  return prompt === 0 ? undefined : cacheRead / prompt
}
