// A provider that is overloaded: the whole agent waits, says so, recovers or is stopped. Nothing here waits in real time.
import { type Fault, text } from '@everlong/simulator'
import type { ModelPorts } from 'everlong/internal'
import { expect, test } from 'vitest'
import type { AgentEvent } from './app.ts'
import { outputForms, runHeadless } from './headless/headless.ts'
import { agentStages } from './testing/agent-stage.ts'

const stage = agentStages()
const overloaded: Fault = { type: 'overloaded' }
const firstRequests = (count: number) => ({
  rules: [{ fault: overloaded, when: (_: Request, ordinal: number) => ordinal < count }],
})
const silenceMs = 300_000

/** Waiting for another attempt takes no time; the limit for a silent server is never reached. */
const quick: ModelPorts = {
  now: () => 0,
  random: () => 0,
  wait: (milliseconds) => (milliseconds >= silenceMs ? new Promise(() => undefined) : Promise.resolve()),
}

/** Waiting ends only when it is aborted. */
const endless: ModelPorts = {
  ...quick,
  wait: (_, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve(), { once: true })),
}

const retries = (events: readonly AgentEvent[]) =>
  events.filter(({ type }) => type === 'retrying' || type === 'retry-over')
const expectedRetries = [
  { type: 'retrying', attempt: 1, waitMs: 1_000, why: 'Overloaded' },
  { type: 'retrying', attempt: 2, waitMs: 2_000, why: 'Overloaded' },
  { type: 'retrying', attempt: 3, waitMs: 4_000, why: 'Overloaded' },
  { type: 'retry-over' },
]

test('a turn continues when the provider recovers', async () => {
  const { agent, events } = await stage({ script: () => text('Hello.'), faults: firstRequests(3), ports: quick })
  await agent.submit({ text: 'Hi' })
  expect(retries(events)).toEqual(expectedRetries)
  expect(events.findLast(({ type }) => type === 'stopped')).toMatchObject({ why: 'finished' })
})

test('an interrupt ends the wait at once', async () => {
  const { agent, events } = await stage({ script: () => text('Hello.'), faults: firstRequests(99), ports: endless })
  const { promise: waits, resolve } = Promise.withResolvers<void>()
  agent.on(({ type }) => type === 'retrying' && resolve())
  const turn = agent.submit({ text: 'Hi' })
  await waits
  agent.interrupt()
  await turn
  expect(retries(events)).toEqual([expectedRetries[0], { type: 'retry-over' }])
  expect(events.findLast(({ type }) => type === 'stopped')).toMatchObject({ why: 'aborted' })
})

test('a compaction waits as well', async () => {
  let isOverloaded = false
  let failures = 0
  const when = () => isOverloaded && failures++ < 3
  const { agent, events } = await stage({
    script: () => text('word '.repeat(2_000)),
    faults: { rules: [{ fault: overloaded, when }] },
    ports: quick,
  })
  for (const prompt of ['one', 'two', 'three']) await agent.submit({ text: prompt })
  isOverloaded = true
  expect(await agent.command('/compact')).toMatchObject({ type: 'text' })
  expect(retries(events)).toEqual(expectedRetries)
})

test.each(outputForms)('without a screen, a script sees it too: --output %s', async (output) => {
  const { agent } = await stage({ script: () => text('Hello.'), faults: firstRequests(1), ports: quick })
  const [written, warned]: [string[], string[]] = [[], []]
  const exitCode = await runHeadless({
    ...{ agent, output, prompt: 'Hi', denied: () => [], now: () => 0, signal: new AbortController().signal },
    write: (line) => written.push(line),
    warn: (line) => warned.push(line),
  })
  const events = output === 'stream-json' ? written.map((line) => JSON.parse(line)) : []
  expect(exitCode).toBe(0)
  expect(retries(events)).toEqual(output === 'stream-json' ? [expectedRetries[0], { type: 'retry-over' }] : [])
  expect(warned).toEqual(output === 'stream-json' ? [] : ['Overloaded. Trying again in 1 s (attempt 2).'])
})

test('without a screen, giving up says how often it was tried', async () => {
  let now = 0
  const ports = { ...quick, now: () => (now += 60_000) }
  const { agent } = await stage({ script: () => text('Hello.'), faults: firstRequests(999), ports })
  const warned: string[] = []
  const exitCode = await runHeadless({
    ...{ agent, output: 'text', prompt: 'Hi', denied: () => [], now: () => 0, signal: new AbortController().signal },
    write: () => undefined,
    warn: (line) => warned.push(line),
  })
  expect(exitCode).toBe(1)
  expect(warned.at(-1)).toMatch(/^No answer after \d+ attempts: Overloaded$/)
})
