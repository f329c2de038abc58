import { describe, expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import { microByIdle } from './micro.ts'
import { type SituationInput, situationOf } from './situation.ts'
import { text, viewOf } from './testing/examples.ts'

const minute = 60_000
const built = session().user('go')
for (let at = 1; at <= 8; at++) built.toolUse(`t${at}`, 'Bash', {}).toolResult(`t${at}`, text(100))
const view = viewOf(built.records)
const last = view.messages.findLast(({ role }) => role === 'assistant')?.time ?? 0

const planAt = (now: number, input: Partial<SituationInput> = {}, given = view) =>
  microByIdle.plan(given, situationOf(given, { now, estimator: 'chars/4', ...input }))
const outcomeAt = (...given: Parameters<typeof planAt>) => {
  const plan = planAt(...given)
  return plan.type === 'declined' ? plan.reason : plan.items.map(({ toolUseId }) => toolUseId)
}

describe('micro-compact by idle time', () => {
  test.each<[string, number, readonly string[] | string]>([
    ['after more than 60 minutes all but the newest 5 go', 60 * minute + 1, ['t1', 't2', 't3']],
    ['not at 60 minutes', 60 * minute, 'not-idle'],
    ['not right away', 0, 'not-idle'],
    ['not when the clock went backwards', -1, 'clock-unreliable'],
    ['not when there is no clock', Number.NaN, 'clock-unreliable'],
  ])('%s', (_, gap, expected) => {
    expect(outcomeAt(last + gap)).toEqual(expected)
  })

  test('a newest answer without a time clears nothing', () => {
    const timeless = { ...view, messages: view.messages.map(({ time: _, ...message }) => message) }
    expect(outcomeAt(last + 600 * minute, {}, timeless)).toBe('clock-unreliable')
  })

  test('the gap and the number are settings', () => {
    expect(outcomeAt(last + 6 * minute, { reductions: { byIdle: { minutes: 5, keep: 7 } } })).toEqual(['t1'])
  })

  test('where results of finished turns may go, they wait until enough of them can go', () => {
    const early = { reductions: { keepFinished: false, byIdle: { minutes: 5, keep: 0 } } } as const
    const done = viewOf(built.assistant('done').user('and now?').records)
    const now = (done.messages.findLast(({ role }) => role === 'assistant')?.time ?? 0) + 6 * minute
    const sized = (tokens: number) => ({ tokens, reported: tokens, estimated: 0, source: 'usage' }) as const
    const small = { ...early, settings: { contextWindow: 50_000 } }
    expect(outcomeAt(now, { ...early, size: sized(20_000) }, done)).toBe('too-little')
    expect(outcomeAt(now, { ...small, size: sized(4_999) }, done)).toBe('too-little')
    expect(outcomeAt(now, { ...small, size: sized(5_000) }, done)).toEqual([
      't1',
      't2',
      't3',
      't4',
      't5',
      't6',
      't7',
      't8',
    ])
  })

  test('costs nothing in cache', () => {
    const plan = planAt(last + 61 * minute, { expectedTurns: 2 })
    expect(plan).toMatchObject({ freed: 276, worth: { cache: 'cold', cost: 0, pays: true } })
  })
})
