import { expect, test } from 'vitest'
import type { ContextNote } from './context-note.ts'
import { groundsOf } from './explain-transcript.ts'

const note: ContextNote = {
  model: 'claude-sonnet-4-6',
  overhead: 1_000,
  calibration: { factor: 1 } as never,
  settings: { contextWindow: 48_000 },
  provider: {},
}

test('what the session counted with counts, unless the person names another model or window', () => {
  const env = {}
  expect(groundsOf({ note }, { env })).toEqual({ ...note, environment: env })
  expect(groundsOf({ note }, { env, model: note.model })).toEqual({ ...note, environment: env })
  expect(groundsOf({ note }, { env, model: 'claude-opus-4-5' })).toEqual({
    model: 'claude-opus-4-5',
    settings: {},
    environment: env,
  })
  expect(groundsOf({ note }, { env, window: 9_000 })).toEqual({
    ...note,
    settings: { contextWindow: 9_000 },
    environment: env,
  })
})
