import { reductions } from 'everlong/internal/compaction'
import { session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { everlong, report, sessionFolder } from '../../testing/harness.ts'
import type { ExplainReport } from './explain.ts'

const folder = sessionFolder()
afterAll(folder.remove)

/** Turns that each add so many tokens, a minute apart. */
function growing(turns: number, step: number) {
  const told = session({ startTime: '2026-03-02T09:00:00.000Z' })
  for (let turn = 1; turn <= turns; turn++)
    told
      .wait(58)
      .user(`turn ${turn}`)
      .assistant('done', { model: 'claude-sonnet-4-5', tokens: { input: turn * step - 20, output: 20 } })
  return folder.write(`${turns}x${step}.jsonl`, told.records)
}

test('every number comes with its source, and the next compaction is foretold from the growth a turn', async () => {
  const found = await report<ExplainReport>('explain', growing(5, 10_000))
  expect(found).toMatchObject({
    model: 'claude-sonnet-4-5',
    contextWindow: { value: 200_000, source: 'built-in table (claude-sonnet-4-5)' },
    autoCompactThreshold: { value: 167_000, source: 'the effective window less 13,000' },
    state: 'ok',
    percentLeft: 70,
    turns: 5,
    compactions: { happened: 0, wouldHaveFallen: 0 },
    prediction: { turns: 12, growth: 10_000 },
  })
  const last = Date.parse('2026-03-02T09:05:00.000Z')
  expect(found.prediction?.time).toBe(last + 12 * 60_000)
})

test('a time is foretold only as long as it lies ahead', async () => {
  const file = growing(5, 10_000)
  const screen = async (now: string) => (await everlong(['explain', file, '--now', now])).stdout.replace(/\s+/g, ' ')
  expect(await screen('2026-03-02T09:06:00Z')).toMatch(/In about 12 turns, about \S+ \S+ at the pace so far \(/)
  expect(await screen('2026-04-02T09:06:00Z')).toContain('In about 12 turns (the median turn adds 10,000 tokens).')
})

test('a smaller window brings it nearer, and says where compactions would have fallen', async () => {
  const found = await report<ExplainReport>('explain', growing(8, 10_000), '--window', '60000')
  expect(found).toMatchObject({ state: 'blocking', compactions: { wouldHaveFallen: 2 }, prediction: { turns: 0 } })
})

test('what was clamped and what was ignored is said', async () => {
  const env = { EVERLONG_AUTOCOMPACT_PCT: '99', EVERLONG_BLOCKING_LIMIT: 'much' }
  const { stdout } = await everlong(['explain', growing(2, 500)], { env })
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'clamped from 178,200: EVERLONG_AUTOCOMPACT_PCT asks for 178,200, but compaction comes no later than 167,000',
  )
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'EVERLONG_BLOCKING_LIMIT is ignored: "much" is not a whole number of tokens above 0.',
  )
})

test('after one turn nothing is foretold', async () => {
  const file = growing(1, 500)
  expect((await report<ExplainReport>('explain', file)).prediction).toBe(null)
  expect((await everlong(['explain', file])).stdout).toContain('Nothing can be said: fewer than two turns.')
})

test('every reduction says what it would do, and shows its sum: what is saved against what is written again', async () => {
  const told = session({ startTime: '2026-03-02T09:00:00.000Z' }).user('go')
  for (let at = 1; at <= 6; at++) {
    told.assistant([{ type: 'tool_use', id: `t${at}`, name: 'Bash', input: { command: 'run' } }])
    told.toolResult(`t${at}`, 'word '.repeat(12_000))
  }
  told.assistant('done', { model: 'claude-opus-4-8', tokens: { input: 90_000, output: 20 } })
  const file = folder.write('reducible.jsonl', told.records)
  const found = await report<ExplainReport>('explain', file, '--now', '2026-03-02T09:01:00Z')
  expect(found.reductions.map(({ mechanism }) => mechanism)).toEqual(reductions.map(({ name }) => name))
  expect(Object.fromEntries(found.reductions.map(({ mechanism, type }) => [mechanism, type]))).toMatchObject({
    'micro-by-size': 'declined',
    'micro-by-idle': 'declined',
    'micro-by-cache-edit': 'declined',
    native: 'planned',
  })
  expect(found.reductions.filter(({ freed }) => freed !== 0)).toEqual([])
  const bySize = found.reductions.find(({ mechanism }) => mechanism === 'micro-by-size')
  const { freed = 0, suffix = 0, turns = 0, read = 0, write = 0, rent = 0, saved, cost } = bySize?.worth ?? {}
  expect([saved, cost]).toEqual([expect.closeTo(freed * turns * rent, 0), expect.closeTo(suffix * (write - read), 0)])
  expect(freed).toBeGreaterThan(30_000)
  const { stdout } = await everlong(['explain', file, '--now', '2026-03-02T09:01:00Z'])
  expect(stdout.replace(/\s+/g, ' ')).toContain(`if it ran: ${bySize?.sum}`)
})
