import { expect, test } from 'vitest'
import type { CommandContext } from './command.ts'
import { explain } from './reports.ts'

const figure = { value: 1_000, source: 'test' }
const figures = [
  'contextWindow',
  'maxOutputTokens',
  'effectiveWindow',
  'autoCompactThreshold',
  'warning',
  'error',
  'blocking',
]

async function forecast(turns: number, mode: boolean | 'ask' = true): Promise<string | undefined> {
  const session = {
    explain: () => ({
      ...Object.fromEntries(figures.map((name) => [name, figure])),
      ...{ size: { tokens: 500 }, percentLeft: 50, state: 'ok', warnings: [], autoCompact: { mode } },
      prediction: { turns, growth: 1_200 },
    }),
    tracking: () => ({ previous: {} }),
  }
  const result = await explain.run('', { session: () => session } as unknown as CommandContext)
  return 'text' in result ? result.text.split('\n').at(-1) : undefined
}

test('/explain says when the next compaction comes', async () => {
  const comes = (when: string) => `The next compaction comes in about ${when}; the median turn adds 1,200 tokens.`
  expect(await Promise.all([0, 1, 2].map((turns) => forecast(turns)))).toEqual([
    'The next compaction is due now.',
    comes('1 turn'),
    comes('2 turns'),
  ])
  expect(await forecast(0, false)).toBe('No compaction comes by itself: auto-compact is off.')
})
