import { expect, test } from 'vitest'
import type { JsonObject } from '../../message/json.ts'
import { readBoundary } from './compaction-records.ts'

const current = (metadata: JsonObject): JsonObject => ({
  type: 'system',
  subtype: 'compact_boundary',
  logicalParentUuid: 'before',
  ...metadata,
})
const legacy = (metadata: JsonObject): JsonObject => ({
  type: 'compact_system',
  message: 'conversation_compacted',
  metadata,
})
const numbers = { trigger: 'auto', preTokens: 9, postTokens: 3, durationMs: 5 }

test.each<[string, JsonObject]>([
  ['a client', { compactMetadata: { trigger: 'auto', preTokens: 9, postTokens: 3, durationMs: 5 } }],
  ['an SDK', { compact_metadata: { trigger: 'auto', pre_tokens: 9, post_tokens: 3, duration_ms: 5 } }],
])('the numbers are read as %s writes them', (_, metadata) => {
  expect(readBoundary(current(metadata))).toEqual({ ...numbers, kept: undefined })
})

test.each<[string, JsonObject, unknown]>([
  [
    'one by one, by a client',
    { compactMetadata: { preservedMessages: { anchorUuid: 's', uuids: ['a', 'b'] } } },
    { type: 'listed', anchor: 's', uuids: ['a', 'b'] },
  ],
  [
    'one by one, by an SDK',
    { compact_metadata: { preserved_messages: { anchor_uuid: 's', uuids: ['a', 'b'] } } },
    { type: 'listed', anchor: 's', uuids: ['a', 'b'] },
  ],
  [
    'as a stretch, by a client',
    { compactMetadata: { preservedSegment: { anchorUuid: 's', headUuid: 'a', tailUuid: 'b' } } },
    { type: 'segment', anchor: 's', head: 'a', tail: 'b' },
  ],
  [
    'as a stretch, by an SDK',
    { compact_metadata: { preserved_segment: { anchor_uuid: 's', head_uuid: 'a', tail_uuid: 'b' } } },
    { type: 'segment', anchor: 's', head: 'a', tail: 'b' },
  ],
  ['as an empty list', { compactMetadata: { preservedMessages: { anchorUuid: 's', uuids: [] } } }, undefined],
  ['as a stretch without its end', { compactMetadata: { preservedSegment: { anchorUuid: 's' } } }, undefined],
])('kept messages are told %s', (_, metadata, kept) => {
  expect(readBoundary(current(metadata))?.kept).toEqual(kept)
})

test.each<[number | undefined, unknown]>([
  [3, { type: 'counted', count: 3 }],
  [0, undefined],
  [-1, undefined],
  [undefined, undefined],
])('an old client counts them: %s', (preservedMessages, kept) => {
  const metadata = { trigger: 'manual', tokenCount: 9, reducedTokenCount: 3, preservedMessages }
  expect(readBoundary(legacy(metadata))).toEqual({
    ...numbers,
    trigger: 'manual',
    durationMs: undefined,
    kept,
  })
})

test('other records are no boundary', () => {
  expect(readBoundary({ type: 'system', subtype: 'informational' })).toBeUndefined()
  expect(readBoundary({ type: 'compact_system', message: 'something else' })).toBeUndefined()
})
