// Fields that the quick reader takes from the bytes of a line. The exact reader handles lines that it rejects.
import { expect, test } from 'vitest'
import type { JsonObject } from '../../core/message/json.ts'
import { createRowReader, emptyRow } from './row.ts'

const start = { parentUuid: null, isSidechain: false }
const end = { timestamp: '2026-03-02T10:00:00.000Z', uuid: '00000000-0000-4000-8000-000000000001' }

function typeRead(fields: JsonObject): string | undefined {
  const bytes = Buffer.from(JSON.stringify({ ...start, ...fields, ...end }))
  const row = emptyRow()
  return createRowReader()(bytes, 0, bytes.length, row) ? row.type : undefined
}

test.each<[string, JsonObject, string | undefined]>([
  ['a note of the client', { type: 'system', subtype: 'turn_duration', durationMs: 5 }, 'system'],
  ['a system record without a subtype', { type: 'system', content: 'x' }, undefined],
  ['a boundary', { type: 'system', subtype: 'compact_boundary', compactMetadata: { trigger: 'auto' } }, undefined],
  ['a legacy boundary', { type: 'compact_system', message: 'conversation_compacted' }, undefined],
])('%s is read as it is, or left', (_, fields, type) => {
  expect(typeRead(fields)).toBe(type)
})
