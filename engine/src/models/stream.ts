// Reading a stream to its end: what is thrown by the other side is told apart from a mistake of ours, and listeners hear
// of text, thinking and progress in the order in which they come.
import type { ModelAnswer, SendOptions, StreamEvent } from '../core/ports/model.ts'
import { estimateTokens } from '../core/tokens/estimate/estimate.ts'
import { BrokenStream, failedTry } from './failure.ts'
import type { ModelPorts } from './ports.ts'
import type { FailedTry } from './retry.ts'

/** Made of the events of one stream. `add` and `answer` throw BrokenStream for what cannot be. */
export type Accumulator = {
  readonly add: (event: unknown) => Piece | undefined
  /** Nothing that matters can come any more: a connection that goes now takes nothing with it. */
  readonly isComplete: () => boolean
  readonly answer: () => ModelAnswer
}

/** What an event adds to what people see; `json` is shown to nobody and counted all the same. */
export type Piece = { readonly type: 'text' | 'thinking' | 'json'; readonly text: string }

const abortedTry: FailedTry = { type: 'try-failed', reason: 'aborted', message: 'aborted' }

type Trying = Pick<SendOptions, 'onEvent'> & {
  readonly signal: AbortSignal
  readonly ports: ModelPorts
  readonly endpoint: string
  readonly accumulator: Accumulator
}

export async function readStream(
  open: () => PromiseLike<AsyncIterable<unknown>>,
  { onEvent, ports, endpoint, accumulator, signal }: Trying,
): Promise<ModelAnswer | FailedTry> {
  let outputTokens = 0
  const tell = (event: StreamEvent): void => {
    if (!signal.aborted) onEvent?.(event)
  }
  try {
    for await (const event of theirs(open)) {
      if (signal.aborted) return abortedTry
      const piece = accumulator.add(event)
      if (piece === undefined || piece.text === '') continue
      outputTokens += estimateTokens(piece.text)
      if (piece.type !== 'json') tell({ type: piece.type, text: piece.text })
      tell({ type: 'progress', outputTokens })
    }
    if (signal.aborted) return abortedTry
    return accumulator.answer()
  } catch (error) {
    if (error instanceof Theirs && signal.aborted) return abortedTry
    if (error instanceof Theirs && accumulator.isComplete()) return accumulator.answer()
    if (error instanceof Theirs) return failedTry(error.cause, { now: ports.now(), endpoint })
    if (error instanceof BrokenStream) return { type: 'try-failed', reason: 'transient', message: error.message }
    throw error
  }
}

/** Whatever `run` throws is the other side's doing. */
export async function tryOnce<T extends object>(
  run: () => PromiseLike<T>,
  { ports, endpoint }: Pick<Trying, 'ports' | 'endpoint'>,
): Promise<T | FailedTry> {
  try {
    return await run()
  } catch (error) {
    return failedTry(error, { now: ports.now(), endpoint })
  }
}

class Theirs extends Error {}

async function* theirs(open: () => PromiseLike<AsyncIterable<unknown>>): AsyncGenerator<unknown> {
  const iterator = await orTheirs(async () => (await open())[Symbol.asyncIterator]())
  let isOver = false
  try {
    while (!isOver) {
      const next = await orTheirs(() => iterator.next())
      isOver = next.done === true
      if (!isOver) yield next.value
    }
  } catch (error) {
    isOver = true
    throw error
  } finally {
    // Whoever stopped listening early: the connection is closed, and how that went is the other side's doing too.
    if (!isOver) await orTheirs(async () => iterator.return?.())
  }
}

async function orTheirs<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    throw new Theirs('thrown by the other side', { cause })
  }
}
