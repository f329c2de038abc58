import { expect, test } from 'vitest'
import { scripted } from '../session/testing/world.ts'
import { limitOf, withLimit } from './limits.ts'

const at = (endpoint: string) => ({ ...scripted(() => 'ok'), endpoint })

test('a limit holds for its endpoint and its model, and for no other', () => {
  const client = at('https://one')
  const limits = withLimit({}, { client, model: 'claude-a', limit: 90_000 })
  expect(limitOf(limits, client, 'claude-a')).toBe(90_000)
  expect(limitOf(limits, client, 'claude-b')).toBeUndefined()
  expect(limitOf(limits, at('https://two'), 'claude-a')).toBeUndefined()
  expect(limitOf(limits, client, 'constructor')).toBeUndefined()
})

test('what is known already or cannot be a window teaches nothing', () => {
  const client = at('https://one')
  const limits = withLimit({}, { client, model: 'claude-a', limit: 90_000 })
  for (const limit of [90_000, 0, -1, 1_000, 90_000.5, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(withLimit(limits, { client, model: 'claude-a', limit })).toBe(limits)
  }
  expect(limitOf(withLimit(limits, { client, model: 'claude-a', limit: 80_000 }), client, 'claude-a')).toBe(80_000)
})
