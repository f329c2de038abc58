import { expect, test } from 'vitest'
import { doNow } from '../../text/slices.ts'
import { wordsText } from './complete-words.ts'
import { type EntriesOptions, entriesWithin } from './entry-text.ts'

const countTokens = (text: string) => text.length
const steps = Array.from({ length: 11 }, (_, at) => ({
  type: 'did' as const,
  text: `ran step number ${String(at).padStart(2, '0')}`,
}))
const exchange = { kind: 'message', text: 'Fix the gate.', last: 1, steps } as const
const options = { since: 0, recall: false, alreadySaid: 'A summary.', countTokens }
const shown = (tokens: number, more: Partial<EntriesOptions> = {}) => {
  const entries = [{ exchange, isQuoted: false, steps }]
  return doNow(entriesWithin(entries, { ...options, tokens, ...more })).after.join('\n')
}
const stepsIn = (text: string) => [...text.matchAll(/ran step number (\d+)/g)].map(([, number]) => Number(number))
const lineLength = '\n  - did: ran step number 00'.length

test('as many of the last steps are shown as fit, in any room', () => {
  const whole = `${shown(100_000)}\n`
  expect(stepsIn(whole)).toEqual(steps.map((_, at) => at))
  const withOne = whole.length - (steps.length - 1) * lineLength
  for (let room = withOne; room <= whole.length + 1; room++) {
    const fit = Math.min(steps.length, 1 + Math.floor((room - withOne) / lineLength))
    const numbers = steps.map((_, at) => at).slice(-fit)
    expect([room, stepsIn(shown(room))]).toEqual([room, numbers])
  }
})

test('no step is shown where none fits, and the line stays', () => {
  const line = '- "Fix the gate."\n'.length
  expect(stepsIn(shown(line + 1))).toEqual([])
  expect(shown(line + 1)).toContain('Fix the gate.')
})

test('without a summary the interrupted exchange gets its steps before older ones get more words', () => {
  const older = {
    kind: 'message',
    text: `Look. ${'It is about the hinges of the gate. '.repeat(40)}`,
    last: 0,
  } as const
  const entries = [
    { exchange: older, isQuoted: false, steps: [] },
    { exchange, isQuoted: false, steps },
  ]
  const all = (alreadySaid: string, tokens: number) =>
    doNow(entriesWithin(entries, { ...options, alreadySaid, tokens })).after.join('\n')
  // More words of the older entry would take most of the room, and more than a third.
  const oneLiners = [older, exchange].map((each) => `- ${wordsText(each, { recall: false, most: 160 })}\n`)
  const room = oneLiners.join('').length + 600
  expect(stepsIn(all('', room))).toHaveLength(steps.length)
  expect(stepsIn(all('A summary.', room)).length).toBeLessThan(steps.length)
})

test('the last thing that was done is shown even if it is not among the last steps', () => {
  const done = steps[0]?.text ?? ''
  const entries = [{ exchange: { ...exchange, done }, isQuoted: false, steps }]
  const whole = shown(100_000).length - (steps.length - 3) * lineLength
  const { after } = doNow(entriesWithin(entries, { ...options, tokens: whole + 1 }))
  expect(stepsIn(after.join('\n'))).toEqual([0, 9, 10])
})
