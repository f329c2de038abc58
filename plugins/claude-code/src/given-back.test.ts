import { expect, test } from 'vitest'
import { givenBackLine } from '../../shared/given-back.ts'

test.each<[rules: number, facts: number, doubts: number, line: string | undefined]>([
  [2, 3, 1, 'Everlong gave back 2 rules and 3 facts; 1 doubtful claim: /lost'],
  [1, 0, 0, 'Everlong gave back 1 rule: /lost'],
  [0, 1, 2, 'Everlong gave back 1 fact; 2 doubtful claims: /lost'],
  [0, 0, 2, 'Everlong found 2 doubtful claims in the summary: /lost'],
  [0, 0, 0, undefined],
])('%i rules, %i facts and %i doubts', (rules, facts, doubts, line) => {
  expect(givenBackLine({ rules, facts, doubts }, '/lost')).toBe(line)
})
