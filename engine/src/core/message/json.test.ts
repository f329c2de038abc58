import { expect, test } from 'vitest'
import { errorText } from './json.ts'

test('whatever was thrown is reported in one short text', () => {
  expect(errorText(new TypeError('no such file'))).toBe('no such file')
  expect(errorText(new TypeError(''))).toBe('TypeError')
  expect(errorText({ password: 'secret' })).not.toContain('secret')
  expect(errorText(new Error('x'.repeat(10_000)))).toBe('x'.repeat(300))
})
