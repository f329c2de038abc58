import { expect, test } from 'vitest'
import type { JsonObject } from '../../message/json.ts'
import { queuedWords } from './messages.ts'

const entries = (records: readonly JsonObject[]) =>
  records.map((record, at) => ({ record, position: { line: at, offset: 0, length: 0, nth: 0 } }))
const enqueue = (content: unknown): JsonObject => ({ type: 'queue-operation', operation: 'enqueue', content })
const user = (uuid: string, content: string): JsonObject => ({ type: 'user', uuid, message: { role: 'user', content } })
const answer = (uuid: string): JsonObject => ({ type: 'assistant', uuid, message: { role: 'assistant', content: [] } })
const boundary: JsonObject = {
  type: 'system',
  subtype: 'compact_boundary',
  uuid: 'b',
  compactMetadata: { trigger: 'auto', preTokens: 1 },
}

test('words that were only queued are found with the message they came behind, oldest first', () => {
  expect(
    queuedWords(
      entries([
        enqueue(' first '),
        user('u-1', 'Go.'),
        answer('a-1'),
        enqueue('and the tests'),
        enqueue('<div> is broken'),
      ]),
    ),
  ).toEqual([{ text: 'first' }, { text: 'and the tests', after: 'a-1' }, { text: '<div> is broken', after: 'a-1' }])
})

test('what became a message, was queued before the last compaction, or is no text, is left out', () => {
  const delivered: JsonObject = {
    type: 'attachment',
    uuid: 'q',
    attachment: { type: 'queued_command', prompt: 'delivered' },
  }
  expect(
    queuedWords(
      entries([
        enqueue('long ago'),
        boundary,
        enqueue('said later'),
        enqueue('delivered'),
        enqueue(3),
        enqueue('  '),
        { type: 'queue-operation', operation: 'dequeue', content: 'x' },
        { type: 'queue-operation', operation: 'remove', content: 'y' },
        user('u-1', 'said later'),
        delivered,
      ]),
    ),
  ).toEqual([])
})
