import { expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import { contextNoteRecord } from './context-note.ts'
import { answeredBy, explainTranscript } from './explain-transcript.ts'
import { transcriptOfRecords } from './transcript.ts'

const note = {
  model: 'claude-sonnet-4-6',
  overhead: 1_000,
  calibration: { factor: 1 },
  settings: { contextWindow: 48_000 },
  provider: {},
}
const noted = contextNoteRecord(note, { timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's' })
const talk = session().user('Hello.').records

const explained = (options: Omit<Parameters<typeof explainTranscript>[1], 'env'> = {}, records = [...talk, noted]) => {
  const explanation = explainTranscript(transcriptOfRecords(records, ''), { env: {}, ...options })
  return [explanation.model, explanation.contextWindow, explanation.size.tokens] as const
}

test('the notes of a session count, unless another model or window is asked for', () => {
  const [, , alone] = explained({}, talk)
  const own = { value: 48_000, source: 'setting contextWindow' }
  const [model, window, size] = explained()
  expect([model, window]).toEqual([note.model, own])
  expect(size).toBeGreaterThan(alone + 1_000)
  expect(explained({ model: note.model })).toEqual([note.model, own, size])
  expect(explained({ settings: { contextWindow: 30_000 } })[1].value).toBe(30_000)
  const [other, table, bare] = explained({ model: 'claude-opus-4-5' })
  expect([other, table.value]).toEqual(['claude-opus-4-5', 200_000])
  expect(bare).toBeLessThan(1_000)
})

test('a system prompt that is given replaces the size that the session noted', () => {
  const [, , bare] = explained({ overhead: 0 })
  const [, , given] = explained({ overhead: 5_000 })
  expect(bare).toBeLessThan(1_000)
  expect(given).toBeGreaterThan(5_000)
})

test('a notice that a client wrote as an answer is of no model', () => {
  const built = session()
    .user('Hello.')
    .assistant('Hi.', { model: 'claude-opus-4-5', tokens: { input: 900 } })
    .user('Again.')
    .assistant('You have reached your limit.', { model: '<synthetic>' })
  expect(explained({}, built.records)[0]).toBe('claude-opus-4-5')
  const only = session().user('Hello.').assistant('No.', { model: '<synthetic>' }).records
  expect(answeredBy(transcriptOfRecords(only, ''))).toBe(undefined)
})
