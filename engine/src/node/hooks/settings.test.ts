import { expect, test } from 'vitest'
import { readHookSettings } from './settings.ts'

const settings = (hook: object) => ({ PreCompact: [{ hooks: [{ type: 'command', command: 'true', ...hook }] }] })

test.each([
  [undefined, true],
  [0.5, true],
  [1, true],
  [3_600, true],
  [0, false],
  [-1, false],
  [3_600.5, false],
  ['5', false],
  [Number.NaN, false],
])('a timeout of %o seconds is allowed: %o', (timeout, isAllowed) => {
  const read = readHookSettings(settings({ timeout }))
  expect(read.type).toBe(isAllowed ? 'read' : 'wrong')
  if (read.type === 'wrong') expect(read.problem).toContain('.timeout: expected seconds, more than 0 and at most 3600')
})
