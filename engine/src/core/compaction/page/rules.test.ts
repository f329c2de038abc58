import { expect, test } from 'vitest'
import { emptyLedger, type Rule } from '../../ledger/facts.ts'
import { ruleLines } from './state.ts'

const countTokens = (text: string) => Math.ceil(text.length / 4)
const rule = (nth: number, more: Partial<Rule> = {}): Rule => ({
  text: `Never rename export number ${nth}.`,
  by: 'human',
  last: nth,
  ...more,
})
const lines = (
  rules: readonly Rule[],
  more: { shown?: string; recall?: boolean; tokens?: number; olderRules?: number } = {},
) => {
  const { shown = '', recall = false, tokens = 10_000, olderRules } = more
  const ledger = { ...emptyLedger, rules, ...(olderRules === undefined ? {} : { olderRules }) }
  return ruleLines(ledger, { shown, recall, tokens, countTokens })
}

test('rules that the context does not hold yet are told verbatim, oldest first, with who gave them', () => {
  expect(lines([rule(2), rule(1), rule(3, { by: 'agent' })])).toEqual([
    '- "Never rename export number 1."',
    '- "Never rename export number 2."',
    '- (from the agent that started this one) "Never rename export number 3."',
  ])
  expect(lines([rule(1), rule(2)], { shown: 'The rule: never rename  export number 1!' })).toEqual([
    '- "Never rename export number 2."',
  ])
})

test('where some must go the newest stay, and a line says how many went and how to find them', () => {
  const many = Array.from({ length: 30 }, (_, at) => rule(at + 1))
  const [first, ...rest] = lines(many, { tokens: 100, recall: true })
  expect(first).toMatch(/^- \(\d+ older rules are not listed for room and still in force: find them with recall\(/)
  expect(rest.at(-1)).toBe('- "Never rename export number 30."')
  expect(Number(/\d+/.exec(first ?? '')?.[0])).toBe(30 - rest.length)
  expect(countTokens(rest.join('\n'))).toBeLessThanOrEqual(100)
  expect(lines([], { olderRules: 1 })).toEqual([
    '- (1 older rule is not listed for room and still in force: they stand in the transcript)',
  ])
})
