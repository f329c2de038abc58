import { expect, test } from 'vitest'
import type { Exchange } from '../../ledger/facts.ts'
import { unsaidReports } from './facts.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)

const old: Exchange = {
  kind: 'message',
  text: 'List the findings',
  last: 0,
  report:
    'Number five concerns performance of ancestor lookups across every branch.\n```\nconst five = lookup(all, branches, commits, parents)\n```',
}
const current: Exchange = {
  kind: 'message',
  text: 'Fix them',
  last: 1,
  report: 'Now replying.',
  steps: Array.from({ length: 30 }, (_, at) => ({
    type: 'did' as const,
    text: `ran \`reply ${at} thread comment body fixed commit\` → ok`,
  })),
}

test('what is going on takes no more than half, so that older reports are told too, without their code', () => {
  const lines = unsaidReports([old, current], { shown: '', tokens: 120, countTokens })
  expect(lines.slice(0, 3)).toEqual([
    '- After "List the findings":',
    '  Number five concerns performance of ancestor lookups across every branch.',
    '- After "Fix them":',
  ])
  expect(lines.length).toBeGreaterThan(3)
  expect(countTokens(lines.join('\n'))).toBeLessThanOrEqual(120)
})

test('what the context says already is not told again', () => {
  expect(unsaidReports([old], { shown: old.report ?? '', tokens: 500, countTokens })).toEqual([])
})
