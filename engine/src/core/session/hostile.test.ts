import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noOutcome } from '../ports/hooks.ts'
import type { ModelFailure, ModelRequest } from '../ports/model.ts'
import { hostTimeoutMs } from '../ports/safely.ts'
import { checkRequest } from '../request/check-request.ts'
import type { EngineSettings } from '../settings/table.ts'
import { ConfigurationError } from '../tokens/figure.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type World } from './testing/world.ts'
import { maxFailures } from './tracking.ts'

/** Possible faults of a summarizer; `fine` has none. */
const summaries = ['fine', 'empty', 'error', 'grows', 'refuses', 'overflows', 'fails', 'calls'] as const
type Summary = (typeof summaries)[number]

const hostile = fc.record({
  window: fc.constantFrom(24_000, 30_000, 40_000),
  output: fc.constantFrom(2_000, 8_000, 20_000),
  /** Characters of the system prompt. */
  overhead: fc.constantFrom(0, 0, 0, 20_000, 60_000, 300_000),
  /** Characters of each tool result. */
  result: fc.constantFrom(10, 5_000, 30_000, 90_000),
  summary: fc.constantFrom<Summary>(...summaries),
  offline: fc.constantFrom<'never' | 'always'>('never', 'always'),
  target: fc.constantFrom(undefined, 0.02, 0.9),
  at: fc.constantFrom(undefined, 9_000, '30%' as const),
  when: fc.constantFrom('auto', 'auto', 'auto', 'ask', 'manual'),
  blocking: fc.constantFrom(undefined, 1_000, 1_000_000),
  micro: fc.constantFrom<false | 'above-warning' | 'always'>(false, 'above-warning', 'always'),
  vetoes: fc.boolean(),
  turns: fc.integer({ min: 4, max: 6 }),
})
type Hostile = typeof hostile extends fc.Arbitrary<infer T> ? T : never

function summarizer(cause: { summary: Summary }) {
  const overflow: ModelFailure = { type: 'failed', reason: 'overflow', message: 'prompt is too long', tries: 1 }
  return (request: ModelRequest) => {
    if (request.source === 'turn') return 'Go on.'
    switch (cause.summary) {
      case 'fine':
        return '<summary>\n1. Primary request and intent:\n- Mend it.\n</summary>'
      case 'empty':
        return ''
      case 'error':
        return 'API Error: 529 {"type":"error"}'
      case 'grows':
        return `<summary>\n${JSON.stringify(request.messages).repeat(2)}\n</summary>`
      case 'refuses':
        return answerOf("I can't help with that.", { stopReason: 'refusal' })
      case 'overflows':
        return overflow
      case 'fails':
        return { ...overflow, reason: 'transient', message: 'Overloaded' } as const
      case 'calls':
        return answerOf([{ type: 'tool_use', id: 'x', name: 'Read', input: {} }], { stopReason: 'tool_use' })
    }
  }
}

function worldOf(given: Hostile, cause: { summary: Summary; vetoes: boolean }): World {
  const settings: EngineSettings = {
    // The counts do not matter here, and this estimator is the fastest.
    estimator: 'chars/4',
    contextWindow: given.window,
    maxOutputTokens: given.output,
    compaction: given.when,
    reductions: { microCompact: given.micro },
    ...(given.target === undefined ? {} : { target: given.target }),
    ...(given.at === undefined ? {} : { autoCompactAt: given.at }),
    ...(given.blocking === undefined ? {} : { blockingLimit: given.blocking }),
  }
  const mechanism = summarizing({ offline: given.offline })
  const veto = async () => (cause.vetoes ? { ...noOutcome, veto: 'Not now.' } : noOutcome)
  return createTestWorld({
    settings,
    compaction: [mechanism],
    model: scripted(summarizer(cause)),
    base: { system: 'a b '.repeat(given.overhead / 4) },
    hooks: { run: async (call) => (call.event === 'PreCompact' ? veto() : noOutcome) },
    ask: async () => true,
    // Deadlines last until they are cancelled.
    wait: (milliseconds, signal) =>
      new Promise((resolve) => {
        if (milliseconds < hostTimeoutMs) setImmediate(resolve)
        else signal?.addEventListener('abort', resolve, { once: true })
      }),
  })
}

/** One step of the loop: a call, a result, the next request. No person typed anything. */
async function goOn(world: World, given: Hostile, at: number): Promise<readonly string[]> {
  const { session } = world
  session.record(answerOf([{ type: 'tool_use', id: `t${at}`, name: 'Fetch', input: {} }], { id: `m${at}` }))
  const content = `line ${at} `.repeat(given.result / 8)
  session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content }] })
  const prepared = await session.prepare()
  if (prepared.type === 'ready') expect(checkRequest(prepared.messages)).toEqual([])
  else expect(prepared.why).toMatch(/\d/)
  return prepared.notices
}

/** The longest run of automatic attempts without one that worked. */
function attemptsInVain({ events }: World): number {
  let most = 0
  let now = 0
  for (const event of events) {
    if (event.type === 'compaction-started' && event.trigger === 'auto') now++
    if (event.type === 'compaction-finished') now = 0
    most = Math.max(most, now)
  }
  return most
}

type Met = { impossible: number; tripped: number; compacted: number; blocked: number }

async function live(given: Hostile, met: Met): Promise<void> {
  const cause = { summary: given.summary, vetoes: given.vetoes }
  const world = worldOf(given, cause)
  const { session } = world
  session.add({ role: 'user', content: 'Mend it. Never touch the tests.' })
  const notices = [...(await session.prepare()).notices]
  for (let at = 0; at < given.turns; at++) notices.push(...(await goOn(world, given, at)))
  expect(world.events.filter(({ type }) => type === 'host-code-failed')).toEqual([])
  expect(attemptsInVain(world)).toBeLessThanOrEqual(maxFailures)
  expect(world.events.filter(({ type }) => type === 'breaker-tripped').length).toBeLessThanOrEqual(1)
  expect(new Set(notices).size).toBe(notices.length)
  expect(notices.length).toBeLessThanOrEqual(2)

  if (world.events.some(({ type }) => type === 'breaker-tripped')) met.tripped++
  if (world.events.some(({ type }) => type === 'compaction-finished')) met.compacted++
  if (session.explain().isBlocking) met.blocked++

  // The cause is removed, and a person continues.
  cause.summary = 'fine'
  cause.vetoes = false
  session.configure({ system: 'Be brief.' })
  await session.compact()
  session.record(answerOf('Stopped.', { id: 'after' }))
  session.add({ role: 'user', content: 'Go on, please.' })
  const prepared = await session.prepare()
  const isPossible = given.blocking !== 1_000
  if (isPossible) expect(prepared.type).toBe('ready')
  expect(session.tracking().breaker.isOpen).toBe(false)
}

test('400 hostile sessions: at most 3 attempts in vain, one clear word, and usable again without the cause', {
  timeout: 90_000,
}, async () => {
  const met: Met = { impossible: 0, tripped: 0, compacted: 0, blocked: 0 }
  await fc.assert(
    fc.asyncProperty(hostile, async (given) => {
      try {
        await live(given, met)
      } catch (error) {
        // Settings that cannot work are reported at once, with their numbers.
        if (!(error instanceof ConfigurationError)) throw error
        met.impossible++
      }
    }),
    { numRuns: 400 },
  )
  // Otherwise the cases were not hostile enough, or too hostile.
  expect(met.impossible).toBeLessThan(200)
  expect(met.tripped).toBeGreaterThan(20)
  expect(met.compacted).toBeGreaterThan(8)
  expect(met.blocked).toBeGreaterThan(40)
})
