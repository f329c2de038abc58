// Records that clients rarely write, or that lack some fields.
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../message/json.ts'
import { textOf } from '../../../message/message.ts'
import { foldEntries } from '../../view/fold.ts'
import { readBoundary } from '../compaction-records.ts'
import { createTranscriptReader } from '../reader.ts'

function read(records: readonly JsonObject[]) {
  const reader = createTranscriptReader()
  const entries = records.flatMap((record, at) => reader.read(record, { line: at + 1, offset: at, length: 1, nth: 0 }))
  const shown = foldEntries(entries).messages
  return {
    format: reader.format(),
    boundaries: entries.filter(({ record }) => readBoundary(record)).length,
    texts: shown.map(({ content }) => textOf(content)),
  }
}

const timestamp = '2026-01-01T00:00:00.000Z'

test.each([
  [{ success: true }, 1],
  [{}, 1],
  [{ success: false }, 0],
])('a compaction of the Copilot CLI with %o leaves %i boundaries', (how, boundaries) => {
  const event = (id: string, type: string, data: object): JsonObject =>
    ({ id, type, timestamp, parentId: null, data }) as never
  const { format, ...seen } = read([
    event('e1', 'session.start', { sessionId: 's', context: { cwd: '/w' }, selectedModel: 'gpt-5' }),
    event('e2', 'user.message', { content: 'Go.' }),
    event('e3', 'assistant.message', { content: 'Done.', messageId: 'm' }),
    event('e4', 'session.compaction_complete', { ...how, summaryContent: 'In short.', preCompactionTokens: 9 }),
  ])
  expect([format, seen.boundaries]).toEqual(['copilot', boundaries])
  expect(seen.texts.some((text) => text.includes('In short.'))).toBe(boundaries === 1)
})

test('an entry of pi without a parent starts the conversation again, and one that says nothing of it continues', () => {
  const message = (id: string, text: string, parent: object): JsonObject =>
    ({ type: 'message', id, timestamp, message: { role: 'user', content: text }, ...parent }) as never
  const header = { type: 'session', version: 3, id: 's', cwd: '/w', timestamp }
  const first = [header, message('a', 'one', { parentId: null }), message('b', 'two', { parentId: 'a' })]
  const shown = (next: JsonObject) => read([...first, next]).texts.join(' ')
  expect(shown(message('c', 'three', { parentId: null }))).toBe('three')
  expect(shown(message('c', 'three', {}))).toContain('two')
  expect(shown(message('c', 'three', { parentId: 'a' }))).not.toContain('two')
})
