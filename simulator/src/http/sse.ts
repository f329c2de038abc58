// Writes server-sent events, one chunk each, as fast as they are read or with the configured latency.
import type { Clock } from '../ports.ts'

export type Pace = { readonly clock: Clock; readonly perEvent: number; readonly signal: AbortSignal }

const encoder = new TextEncoder()

export function sseStream(events: Iterator<{ readonly type: string }>, pace: Pace): ReadableStream<Uint8Array> {
  return rawStream(events, (event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, pace)
}

export function rawStream<T>(items: Iterator<T>, write: (item: T) => string, pace: Pace): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      if (pace.perEvent > 0) await pace.clock.sleep(pace.perEvent)
      const next = items.next()
      if (pace.signal.aborted) controller.error(pace.signal.reason)
      else if (next.done) controller.close()
      else controller.enqueue(encoder.encode(write(next.value)))
    },
    cancel() {
      items.return?.()
    },
  })
}

export const sseHeaders = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' } as const
