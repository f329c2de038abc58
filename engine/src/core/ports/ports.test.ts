// How ports handle the values that host code returns, and the texts that list missing items.
import { describe, expect, test } from 'vitest'
import { noOutcome, readOutcome } from './hooks.ts'
import { outcomesOf } from './outcome.ts'
import { missingText } from './restore.ts'
import { createGuard } from './safely.ts'

describe('the outcome of a hook', () => {
  test.each([undefined, null, false])('veto %s forbids nothing', (veto) => {
    expect(readOutcome({ veto })).toEqual(noOutcome)
  })

  test.each([
    [true, 'A hook said no.'],
    [5, 'A hook said no.'],
    ['Not on Fridays.', 'Not on Fridays.'],
  ])('veto %s forbids it', (veto, why) => {
    expect(readOutcome({ veto })).toEqual({ ...noOutcome, veto: why })
  })

  test('texts and objects are taken, everything else is left out', () => {
    const given = { summary: ' ', input: [], context: ['a', '', 5, null, ' b'], messages: 'c', problems: [['d'], 'e'] }
    expect(readOutcome(given)).toEqual({ ...noOutcome, context: ['a', ' b'], problems: ['e'] })
    expect(readOutcome({ summary: 'x', input: { a: 1 } })).toEqual({ ...noOutcome, summary: 'x', input: { a: 1 } })
    expect([readOutcome(undefined), readOutcome(null), readOutcome('x')]).toEqual([noOutcome, noOutcome, undefined])
  })
})

test('events name each mechanism that was tried with its outcome', () => {
  const tried = [
    { mechanism: 'micro-by-size', outcome: 'declined' },
    { mechanism: 'direct', outcome: 'failed' },
  ]
  expect(outcomesOf(tried as never)).toEqual(['micro-by-size: declined', 'direct: failed'])
})

test.each([
  [1, undefined],
  [12, undefined],
  [13, '- and 1 more'],
  [20, '- and 8 more'],
])('of %i files that were not restored, 12 are named and the others counted', (count, rest) => {
  const missing = Array.from({ length: count }, (_, at) => ({
    what: `file-${at}`,
    why: at % 2 === 0 ? 'gone' : 'too long',
  }))
  const text = missingText(missing) ?? ''
  expect(text.match(/file-\d+/g)).toHaveLength(Math.min(12, count))
  expect(text.split('\n').find((line) => line.startsWith('- and'))).toBe(rest)
})

test('a value that host code should not return is reported, and the other one is used', async () => {
  const events: unknown[] = []
  const wait = (_: number, signal?: { addEventListener: (type: 'abort', end: () => void) => void }) =>
    new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
  const guard = createGuard({ emit: (event) => void events.push(event), wait: wait as never })
  const isValid = (value: unknown) => typeof value === 'number'
  const read = (value: unknown) => guard.read('tokenizer' as never, () => value, { isValid, otherwise: 7 })
  expect([await read(3), await read('three'), await read(undefined)]).toEqual([3, 7, 7])
  expect(events).toEqual([
    { type: 'host-code-failed', code: 'tokenizer', problem: 'returned "three"' },
    { type: 'host-code-failed', code: 'tokenizer', problem: 'returned undefined' },
  ])
})
