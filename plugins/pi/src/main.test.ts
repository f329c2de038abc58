import { expect, test } from 'vitest'
import everlong from './main.ts'
import type { Pi } from './pi-api.ts'

/** What the extension registers, and what it says when a session starts. */
function loadedInto(more: Partial<Pi>) {
  const [registered, said]: [string[], string[]] = [[], []]
  const context = { hasUI: true, ui: { notify: (text: string) => said.push(text), setStatus: () => undefined } }
  const pi = {
    on: (name: string, run: (event: unknown, context: unknown) => unknown) => {
      registered.push(name)
      if (name === 'session_start' && !('getSettings' in more)) run({}, context)
    },
    registerTool: () => registered.push('a tool'),
    registerCommand: () => registered.push('a command'),
    getActiveTools: () => [],
    ...more,
  }
  everlong(pi as unknown as Pi)
  return { registered, said }
}

test('a pi that is too old is told apart once, and nothing else is registered in it', () => {
  expect(loadedInto({})).toEqual({
    registered: ['session_start'],
    said: ['Everlong is not active: it needs pi 1.5 or later.'],
  })
})

test('a newer one gets the tool, the command and every event', () => {
  const { registered, said } = loadedInto({ getSettings: () => ({}) })
  expect([registered.slice(0, 3), said]).toEqual([['a tool', 'a command', 'session_start'], []])
  expect(registered).toHaveLength(11)
})
