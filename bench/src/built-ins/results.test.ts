// What the documentation says about built-ins, held against the checked-in results; and the conversation they are asked about.
import { describe, expect, test } from 'vitest'
import { readFigures } from '../benchmark.ts'
import type { BuiltInsReport, Row } from './page.ts'
import { createWorld } from './world.ts'

const report = readFigures<BuiltInsReport>('built-ins')

describe('what the documentation says in words', () => {
  const mean = (contender: string, limit: number, of: (row: Row) => number) => {
    const rows = report.rows.filter((row) => row.contender === contender && row.limit === limit)
    return rows.reduce((sum, row) => sum + of(row), 0) / rows.length
  }
  const score = (row: Row) => row.score
  const tokens = (row: Row) => row.tokens

  test('Everlong answers as much as a built-in summary from 12,000 tokens on, with fewer tokens', () => {
    for (const limit of [12_000, 24_000]) {
      const ours = mean('Everlong, middleware', limit, score)
      expect(ours).toBeGreaterThan(mean('summarizationMiddleware', limit, score) - 0.01)
      expect(mean('Everlong, middleware', limit, tokens)).toBeLessThan(limit)
      expect(mean('summarizationMiddleware', limit, tokens)).toBeGreaterThan(limit)
    }
  })

  test('without a model it answers more than clearing and pruning', () => {
    for (const limit of [6_000, 12_000, 24_000]) {
      const ours = mean('Everlong, middleware, no model', limit, score)
      for (const peer of ['contextEditingMiddleware', 'pruneMessages', 'TokenLimiter']) {
        expect(ours).toBeGreaterThan(mean(peer, limit, score))
      }
    }
  })

  test('only the token limiter sends what the API refuses', () => {
    const refused = report.rows.filter((row) => row.refused > 0).map(({ contender }) => contender)
    expect([...new Set(refused)]).toEqual(['TokenLimiter'])
  })
})

test('everybody’s requests are marked alike, and what the API refuses is repaired and counted', async () => {
  const world = createWorld('A summary.', { isOurs: false })
  const post = (messages: readonly object[]) =>
    world.fetch(`${world.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'none', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: world.model, max_tokens: 100, messages }),
    })
  const said = {
    role: 'user',
    content: [{ type: 'text', text: 'Hello. '.repeat(2_000), cache_control: { type: 'nonsense' } }],
  }
  expect((await post([said])).status).toBe(200)
  expect((await post([{ role: 'assistant', content: 'I begin.' }, said])).status).toBe(200)
  expect(world.bill()).toMatchObject({ requests: 3, summaries: 0, refused: 1 })
  expect(await world.ask('Summarize.')).toBe('A summary.')
  expect(world.bill()).toMatchObject({ summaries: 1 })
})
