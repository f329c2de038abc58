import { createSimulator, type Fault, text, withFaults } from '@everlong/simulator'
import type { ModelRequest, StreamEvent } from 'everlong'
import { expect, test } from 'vitest'
import { chooseModel } from './choose.ts'
import { type RetryEvent, reportingRetries } from './patient.ts'

type World = {
  readonly faults: readonly Fault[]
  readonly retryMinutes?: number
  readonly source?: ModelRequest['source']
}

const forever = (fault: Fault) => Array.from({ length: 1_000 }, () => fault)

/** A real client on a simulated API and a clock that only waiting moves. */
async function send({ faults, retryMinutes, source = 'turn' }: World) {
  const simulator = createSimulator({ script: () => text('Hello.') })
  let requests = 0
  const faulty = withFaults(simulator.fetch, {
    rules: faults.map((fault, at) => ({ fault, when: (_: Request, ordinal: number) => ordinal === at })),
  })
  let now = 0
  const ports = {
    now: () => now,
    random: () => 0,
    // The client waits for silence too; that never passes here.
    wait: async (milliseconds: number, signal?: unknown) => {
      if (signal && milliseconds === 300_000) return new Promise<void>(() => undefined)
      now += milliseconds
    },
  }
  const model = await chooseModel('anthropic:claude-opus-4-5@http://127.0.0.1', {
    ...{ env: {}, folder: import.meta.dirname, retryMinutes },
    ports: {
      ports,
      fetch: async (input, init) => {
        requests++
        return faulty(new Request(input as string, init))
      },
    },
  })
  if (model.type !== 'model') throw new Error(model.type)
  const reports: RetryEvent[] = []
  const events: StreamEvent[] = []
  const client = reportingRetries(model.client, (event) => reports.push(event))
  const request = { source, model: '', messages: [{ role: 'user', content: 'Hi' }] } as const
  const result = await client.send(request, { onEvent: (event) => events.push(event) })
  return { result, requests, minutes: now / 60_000, reports, events }
}

const overloaded: Fault = { type: 'overloaded' }

test('a provider that recovers after minutes answers in the end, and the person is told until then', async () => {
  const faults: readonly Fault[] = [
    overloaded,
    { type: 'cut-before' },
    { type: 'server-error' },
    ...forever(overloaded).slice(0, 9),
  ]
  const { result, requests, minutes, reports } = await send({ faults })
  expect(result).toMatchObject({ type: 'answer' })
  expect(requests).toBe(13)
  expect(minutes).toBeGreaterThan(3)
  expect(reports.map((report) => report.type)).toEqual([...Array.from({ length: 12 }, () => 'retrying'), 'retry-over'])
  expect(reports.slice(0, 3)).toMatchObject([
    { attempt: 1, waitMs: 1_000, why: 'Overloaded' },
    { attempt: 2, waitMs: 2_000, why: expect.stringMatching(/^Connection error: fetch failed: /) },
    { attempt: 3, waitMs: 4_000 },
  ])
})

test('the wait that the provider asks for is kept', async () => {
  const { minutes, requests } = await send({ faults: [{ type: 'rate-limit', retryAfterMs: 240_000 }] })
  expect([minutes, requests]).toEqual([4, 2])
})

test.each([
  ['ten minutes unless set', {}, 9.5, 10],
  ['the minutes that are set', { retryMinutes: 2 }, 1.5, 2],
])('it is given up after %s', async (_, more, least, most) => {
  const { result, requests, minutes, reports } = await send({ faults: forever(overloaded), ...more })
  expect(result).toMatchObject({ type: 'failed', reason: 'transient', tries: requests })
  expect(minutes).toBeGreaterThan(least)
  expect(minutes).toBeLessThanOrEqual(most)
  expect(reports.at(-1)).toEqual({ type: 'retry-over' })
})

test('0 minutes: nothing is sent twice', async () => {
  const { requests, reports } = await send({ faults: forever(overloaded), retryMinutes: 0 })
  expect({ requests, reports }).toEqual({ requests: 1, reports: [] })
})

test('a request in the background gives up quickly, and nobody is told', async () => {
  const { requests, reports } = await send({ faults: forever(overloaded), source: 'session-memory' })
  expect({ requests, reports }).toEqual({ requests: 3, reports: [] })
})

test('the first words of an answer end the wait, not only its end', async () => {
  const { reports, events } = await send({ faults: [overloaded, { type: 'error-event', afterEvents: 4 }] })
  expect(events.map(({ type }) => type).filter((type) => type !== 'progress')).toEqual([
    'retrying',
    'text',
    'retrying',
    'text',
  ])
  expect(reports.map(({ type }) => type)).toEqual(['retrying', 'retry-over', 'retrying', 'retry-over'])
})
