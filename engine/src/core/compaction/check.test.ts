import { describe, expect, test } from 'vitest'
import { cpuTime, lowestRatio } from '../../node/testing/cpu-time.ts'
import { assistant, call, human, type Said, shell } from '../../testing/talk.ts'
import { fromJson } from '../ledger/json.ts'
import { createLedger } from '../ledger/ledger.ts'
import { checkSummary } from './check.ts'
import { noApproval, notFound } from './page/claims.ts'

function check(summary: string, ...parts: readonly (Said | readonly Said[])[]) {
  const book = createLedger()
  for (const { message, record } of parts.flat()) book.add(message, record)
  return checkSummary(summary, { messages: parts.flat().map(({ message }) => message), ledger: book.ledger() })
}

describe('holding a summary against its source', () => {
  test('marks false quotations, unsupported approvals and contradicted states, and removes nothing', () => {
    const summary = [
      'The user said "please push to main right away".',
      'The user approved the release.',
      '- `npm test` passes.',
      'See src/nowhere/at.ts.',
    ].join('\n')
    const checked = check(summary, human('Add a flag.'), shell('npm test', '1 failed', 1))
    expect(checked).toEqual({
      text: [
        `The user said "please push to main right away" ${notFound}.`,
        `The user approved the release. ${noApproval}`,
        '- `npm test` passes. (last seen: failed, "1 failed")',
        'See src/nowhere/at.ts.',
      ].join('\n'),
      falseQuotes: ['please push to main right away'],
      inferredApprovals: ['The user approved the release.'],
      harmful: ['The user approved the release.'],
      contradicted: ['- `npm test` passes.'],
      unsupported: ['src/nowhere/at.ts'],
    })
  })

  test('a quotation that is found anywhere in the conversation is enough', () => {
    const quoted = 'The user said "the gate must stay closed".'
    expect(check(quoted, human('The gate must stay closed!')).falseQuotes).toEqual([])
    expect(check(quoted, shell('cat notes.md', 'Rule: the gate must stay closed')).falseQuotes).toEqual([])
    expect(check(quoted, assistant('You wrote: the gate must stay closed.')).falseQuotes).toEqual([])
    expect(
      check(quoted, call({ name: 'Write', input: { file_path: '/a', content: 'the gate must stay closed' } }))
        .falseQuotes,
    ).toEqual([])
    expect(check(quoted, human('The gate must stay open.')).falseQuotes).toEqual(['the gate must stay closed'])
  })

  test('words of earlier rounds count, though no message has them any more', () => {
    const ledger = fromJson({
      messages: 9,
      exchanges: [{ kind: 'message', text: 'The gate must stay closed. See src/gate/hinge.ts.', last: 2 }],
      commits: [{ hash: '1a2b3c4', title: 'Open', last: 2 }],
      files: [{ path: '/p/src/door/frame.ts', last: 2 }],
    })
    const summary = 'The user said "the gate must stay closed" of src/gate/hinge.ts and src/door/frame.ts in 1a2b3c4.'
    expect(checkSummary(summary, { messages: [], ledger })).toMatchObject({ falseQuotes: [], unsupported: [] })
  })

  test('what is reported is short and well formed', () => {
    const long = `The user approved ${'😀'.repeat(400)}releases.`
    const { inferredApprovals } = check(long, human('x'))
    expect(inferredApprovals[0]?.length).toBe(200)
    expect(inferredApprovals[0]?.isWellFormed()).toBe(true)
  })
})

describe('checking takes linear time', () => {
  const timeOf = (text: string) => cpuTime(() => void check(text, human('Fix the parser.'), shell('npm test', 'ok')))
  test.each<readonly [string, (size: number) => string]>([
    ['80,000 lines', (size) => 'The user approved it, "as they said so".\n'.repeat(size / 10)],
    ['a run of spaces', (size) => `The user said ${' '.repeat(size)}x "open the door now".`],
    ['a run of spaces first', (size) => `${' '.repeat(size)}x "open the door now" user approved it`],
    ['one line', (size) => `The user ${'a'.repeat(size * 5)} was approved by the user.`],
    ['one line of sentences', (size) => 'The user said "open the door". '.repeat(size / 10)],
    ['one line of claims', (size) => 'accepted by the user '.repeat(size / 10)],
    ['a run before a full stop', (size) => `user ${'a'.repeat(size)}. "open the door now"`],
    ['names', (size) => 'a/b.'.repeat(size)],
    ['quotation marks', (size) => `user ${'"'.repeat(size)}`],
  ])('%s', (_, make) => {
    const [small, large] = [make(50_000), make(200_000)]
    timeOf(small)
    expect(lowestRatio(9, () => timeOf(large) / Math.max(5, timeOf(small)))).toBeLessThan(9)
  })
})
