// The simulator for tests: a fetch without a socket, the log, the meter.
import { createApp } from './api/app.ts'
import { createWorld, type SimulatorOptions } from './api/world.ts'
import { requestOf } from './http/incoming.ts'
import type { LogEntry } from './log/log.ts'
import type { MeterTotals } from './log/meter.ts'
import type { Clock } from './ports.ts'

export type Simulator = {
  /** Use it as a client's `fetch`. Accepts any host. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  readonly log: { readonly entries: readonly LogEntry[]; readonly text: () => string; readonly clear: () => void }
  readonly meter: { readonly totals: () => MeterTotals; readonly reset: () => void }
  readonly countTokens: (text: string) => number
  /** The clock in use: the given one, or the system's. */
  readonly clock: Clock
}

export function createSimulator(options: SimulatorOptions): Simulator {
  const world = createWorld(options)
  const app = createApp(world)
  return {
    fetch: async (input, init) => {
      const isReady = input instanceof Request && init === undefined
      return untilAborted(isReady ? input : requestOf(input, init), async (request) => app.fetch(request))
    },
    log: world.log,
    meter: world.meter,
    countTokens: world.tokenizer.count,
    clock: world.clock,
  }
}

/** Like the real fetch: an abort rejects, before or during the answer. */
async function untilAborted(request: Request, handle: (request: Request) => Promise<Response>): Promise<Response> {
  const { signal } = request
  if (signal.aborted) throw signal.reason
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  return Promise.race([handle(request), aborted])
}
