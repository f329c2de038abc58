// The host's `maxOutputTokens` applies to every request of a session, and prompt and output together fit the window.
import { expect, test } from 'vitest'
import { noTokens } from '../message/usage.ts'
import type { ModelRequest } from '../ports/model.ts'
import type { EngineSettings } from '../settings/table.ts'
import { countTokens } from '../tokens/estimate/counting.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted } from './testing/world.ts'
import { buildRequest } from './turn.ts'

const model = 'my-own-model'
const window = 32_000
const settings: EngineSettings = {
  contextWindow: window,
  maxOutputTokens: 4_000,
  reductions: { microCompact: false },
}
const words = (count: number) => 'parse the record '.repeat(count)
const promptOf = ({ messages, system }: ModelRequest) =>
  countTokens(messages) + countTokens([{ role: 'user', content: typeof system === 'string' ? system : '' }])
const summary = '<summary>\n1. Primary request and intent:\n- Build the parser.\n</summary>'

/** A server like vLLM, which refuses a request that it could not answer in full. */
const strict = () =>
  scripted(
    (request) => {
      const { maxTokens = window } = request
      if (maxTokens > 4_000) return { type: 'failed', reason: 'invalid', message: `max_tokens: ${maxTokens}`, tries: 1 }
      const actual = promptOf(request)
      if (actual + maxTokens <= window) return answerOf(summary, { model })
      const overflow = { actual, maxTokens, limit: window }
      return { type: 'failed', reason: 'overflow', message: 'too long', tries: 1, overflow }
    },
    { model },
  )

function grown(rounds: number, more: EngineSettings = {}) {
  const client = strict()
  const world = createTestWorld({ settings: { ...settings, ...more }, model: client, compaction: [summarizing()] })
  for (let at = 1; at <= rounds; at++) {
    world.turn(1_000)
    world.session.add({ role: 'user', content: `Build part ${at}: ${words(900)}` })
    const usage = { ...noTokens, input: at * 2_720 }
    world.session.record(answerOf(`Part ${at} is built.`, { id: `m${at}`, model, usage }))
  }
  return { ...world, client }
}

test('a summarizer of another model has its own limit, or that of the host if it is not known', async () => {
  for (const [name, expected] of [
    ['claude-opus-4-5', 20_000],
    ['somebody-elses-model', 4_000],
  ] as const) {
    const client = scripted(() => summary, { model })
    const compaction = [summarizing({ model: name, shareCache: false })]
    const world = createTestWorld({ settings, model: client, compaction })
    for (let at = 1; at <= 4; at++) {
      world.session.add({ role: 'user', content: `Build part ${at}: ${words(900)}` })
      world.session.record(answerOf(`Part ${at} is built.`, { id: `m${at}`, model }))
    }
    expect(await world.session.compact()).toMatchObject({ type: 'compacted' })
    expect(client.requests.map((request) => [request.model, request.maxTokens])).toEqual([[name, expected]])
  }
})

test.each([
  ['with the cache of the conversation', 6, 'cache-sharing', 1],
  ['directly, without the cache', 9, 'direct', 1],
  ['in parts, because even that would be too long: no request is refused first', 10, 'windows', 2],
  ['in parts', 40, 'windows', 6],
])('a summary is asked for within the limits: %s', async (_, rounds, mechanism, requests) => {
  const { session, client } = grown(rounds, { summary: { shareCache: mechanism === 'cache-sharing' } })
  const done = await session.compact()
  expect(done).toMatchObject({ type: 'compacted', mechanism })
  expect(done.tried.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(client.requests).toHaveLength(requests)
  expect(new Set(client.requests.map(({ maxTokens }) => maxTokens))).toEqual(new Set([4_000]))
})

test('a turn and a staged collapse keep to it as well', async () => {
  const { session, client } = grown(8, { collapse: true })
  await session.idle()
  session.add({ role: 'user', content: 'Go on.' })
  await session.prepare()
  await session.send()
  expect(client.requests.map(({ source }) => source)).toContain('collapse')
  expect(client.requests.at(-1)?.source).toBe('turn')
  for (const { maxTokens = window } of client.requests) expect(maxTokens).toBeLessThanOrEqual(4_000)
})

test('the smaller of two limits of the host holds', async () => {
  for (const [maxTokens, expected] of [
    [1_000, 1_000],
    [9_000, 4_000],
  ] as const) {
    const { session } = createTestWorld({ settings, model: strict(), base: { maxTokens } })
    session.add({ role: 'user', content: 'Hello.' })
    expect(await session.prepare()).toMatchObject({
      type: 'ready',
      maxTokens: expected,
      body: { max_tokens: expected },
    })
  }
})

test.each([
  ['an unknown model gets the room that is left', { at: 25_000, maxTokens: 9_000 }, 6_680],
  ['exactly at the limit nothing is lowered', { at: 22_680, maxTokens: 9_000 }, 9_000],
  ['one token more is', { at: 22_681, maxTokens: 9_000 }, 8_999],
  ['never less than the reserve', { at: 30_000, maxTokens: 9_000 }, 4_800],
  ['never less than the thinking needs', { at: 25_000, maxTokens: 9_000, budget: 8_000 }, 8_001],
  ['a host that asks for less gets it', { at: 25_000, maxTokens: 500 }, 500],
  ['a host that asks for nothing gets no limit', { at: 25_000 }, undefined],
  [
    'a model that ends at its window keeps the limit',
    { at: 25_000, maxTokens: 9_000, model: 'claude-sonnet-4-5' },
    9_000,
  ],
  ['a narrowed window lowers nothing', { at: 25_000, maxTokens: 9_000, narrowed: true }, 9_000],
  ['a guessed window lowers nothing', { at: 100_000, maxTokens: 30_000, isGuessed: true }, 30_000],
] as const)('an answer fits next to the prompt: %s', (_, given: Fitting, expected) => {
  const { at, maxTokens, budget, model: name = model, narrowed, isGuessed } = given
  const own = narrowed ? { contextWindow: 200_000 } : isGuessed ? {} : { contextWindow: window }
  const world = createTestWorld({
    settings: { ...own, blockingLimit: 110_000, autoCompactAt: 110_000 },
    model: scripted(() => 'Done.', { model: name }),
    environment: narrowed ? { EVERLONG_AUTO_COMPACT_WINDOW: '32000' } : {},
    base: {
      ...(maxTokens === undefined ? {} : { maxTokens }),
      ...(budget === undefined ? {} : { thinking: { type: 'enabled', budget_tokens: budget } }),
    },
    compaction: [],
  })
  world.session.add({ role: 'user', content: 'Hello.' })
  world.session.record(answerOf('Yes.', { model: name, usage: { ...noTokens, input: at } }))
  const { maxTokens: sent } = buildRequest(world.runtime, world.runtime.conversation.view()).request
  expect(sent).toBe(expected)
})

type Fitting = {
  readonly at: number
  readonly maxTokens?: number
  readonly budget?: number
  readonly model?: string
  readonly narrowed?: boolean
  readonly isGuessed?: boolean
}
