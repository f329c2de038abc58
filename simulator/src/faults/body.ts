// Faulty bodies: each function turns a stream of bytes into the same stream with one fault. Events are found only by their blank
// lines; nothing is parsed, so everything else stays identical to the byte.
import { integerBelow, type Random } from '../script/random.ts'
import { type Fault, FaultSignal } from './fault.ts'

export type Bytes = AsyncIterable<Uint8Array>

/** Dependencies of a faulty body: random numbers, waiting, and a signal when nobody listens any more. */
export type Means = {
  readonly random: Random
  readonly signal: AbortSignal
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** Whether the body is an event stream. */
  readonly events: boolean
}

/** The body with its fault. Faults that are not about the body leave it unchanged. */
export function faultyBody(body: Bytes, fault: Fault, means: Means): Bytes {
  switch (fault.type) {
    case 'cut-during':
      return cutAfter(firstBytes(body, fault.afterBytes ?? 200), 'cut-during')
    case 'cut-after':
      return cutAfter(body, 'cut-after')
    case 'stall':
      return stalled(firstBytes(body, fault.afterBytes ?? 200), means.signal)
    case 'truncate':
      return means.events ? firstEvents(body, fault.afterEvents ?? Number.POSITIVE_INFINITY) : firstHalf(body)
    case 'error-event':
      return means.events ? endingInError(firstEvents(body, fault.afterEvents ?? 3)) : body
    case 'split':
      return split(body, means.random, fault.longest ?? 64)
    case 'duplicate':
      return means.events ? duplicated(body, means.random, fault.probability ?? 0.5) : body
    case 'slow':
      return slowed(body, means, fault.delayMs ?? 50)
    default:
      return body
  }
}

/**
 * A stream that reads only on demand, because with a queue an error would discard earlier bytes. Cancelling it also ends the
 * source, even one that is waiting.
 */
export function streamOf(body: Bytes, cancelled: () => void): ReadableStream<Uint8Array> {
  const iterator = body[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        cancelled()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

async function* cutAfter(body: Bytes, cut: 'cut-during' | 'cut-after'): AsyncGenerator<Uint8Array> {
  yield* body
  throw new FaultSignal(cut)
}

/** Waits for the first chunk even for no bytes at all, because leaving the loop ends the source. */
async function* firstBytes(body: Bytes, count: number): AsyncGenerator<Uint8Array> {
  let left = count
  for await (const chunk of body) {
    if (left > 0) yield chunk.subarray(0, left)
    left -= chunk.length
    if (left <= 0) return
  }
}

async function* stalled(body: Bytes, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield* body
  await new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

async function* firstHalf(body: Bytes): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  const whole = Buffer.concat(chunks)
  yield new Uint8Array(whole.subarray(0, Math.floor(whole.length / 2)))
}

/** Up to the event that ends a stream, in the Messages API or in an API like OpenAI's. */
async function* firstEvents(body: Bytes, count: number): AsyncGenerator<Uint8Array> {
  let seen = 0
  for await (const event of eventsOf(body)) {
    if (seen >= count || /^(event: message_stop|data: \[DONE\])/.test(Buffer.from(event).toString('latin1', 0, 30)))
      return
    seen++
    yield event
  }
}

async function* endingInError(body: Bytes): AsyncGenerator<Uint8Array> {
  yield* body
  const data = JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })
  yield new TextEncoder().encode(`event: error\ndata: ${data}\n\n`)
}

async function* split(body: Bytes, random: Random, longest: number): AsyncGenerator<Uint8Array> {
  let held = new Uint8Array(0)
  let size = 1 + integerBelow(random, longest)
  for await (const chunk of body) {
    held = joined(held, chunk)
    while (held.length >= size) {
      yield held.slice(0, size)
      held = held.subarray(size)
      size = 1 + integerBelow(random, longest)
    }
  }
  if (held.length > 0) yield held
}

async function* duplicated(body: Bytes, random: Random, probability: number): AsyncGenerator<Uint8Array> {
  let last: Uint8Array | undefined
  let doubled = false
  for await (const event of eventsOf(body)) {
    yield event
    const again = random() < probability
    if (again) yield event.slice()
    doubled ||= again
    last = event
  }
  if (!doubled && last) yield last.slice()
}

async function* slowed(body: Bytes, means: Means, milliseconds: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    await means.wait(milliseconds, means.signal)
    yield chunk
  }
}

/** Each event with its blank line. Bytes after the last one pass unchanged. */
async function* eventsOf(body: Bytes): AsyncGenerator<Uint8Array> {
  let held = new Uint8Array(0)
  for await (const chunk of body) {
    held = joined(held, chunk)
    for (let end = endOfEvent(held); end > 0; end = endOfEvent(held)) {
      yield held.slice(0, end)
      held = held.subarray(end)
    }
  }
  if (held.length > 0) yield held
}

function endOfEvent(bytes: Uint8Array): number {
  const at = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf('\n\n')
  return at < 0 ? 0 : at + 2
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}
