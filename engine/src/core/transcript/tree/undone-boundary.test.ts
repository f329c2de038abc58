// Undoing a compaction whose boundary names an unusual logical parent.
import { expect, test } from 'vitest'
import { session } from '../../../testing/index.ts'
import { viewOf } from '../../mechanisms/testing/examples.ts'
import type { JsonObject } from '../../message/json.ts'
import { textOf } from '../../message/message.ts'
import { editRecord } from '../format/edits.ts'

const talk = (logicalParent?: string) => {
  const before = session().user('one').assistant('two')
  return before
    .boundary(logicalParent === undefined ? {} : { logicalParent })
    .summary('so far')
    .user('three')
    .assistant('four').records
}

function saidAfterUndo(records: readonly JsonObject[], uuid: string): readonly string[] {
  const { isSidechain, agentId, uuid: tip } = records.at(-1) ?? {}
  const place = { uuid: 'x1', parentUuid: String(tip), timestamp: '2026-11-02T00:00:00.000Z', sessionId: 's' }
  const undo = editRecord({ type: 'undo', uuid }, { ...place, envelope: { isSidechain, agentId } })
  return viewOf([...records, undo]).messages.map(({ content }) => textOf(content))
}

test.each([
  ['the entry before it', undefined],
  ['an entry that was never written', 'gone'],
  ['its own summary', 's1'],
  ['the newest entry', 'a2'],
  ['itself', 'b1'],
])('gives the conversation back where it names %s', (_, logicalParent) => {
  expect(saidAfterUndo(talk(logicalParent), 'b1')).toEqual(['one', 'two', 'three', 'four'])
})

test('gives the conversation of a sub-agent back, though its boundary names an entry that was never written', () => {
  const side = talk('gone').map((record) => ({ ...record, isSidechain: true, agentId: 'x' }))
  expect(saidAfterUndo(side, 'b1')).toEqual(['one', 'two', 'three', 'four'])
})

test('does not go back to a copy of an old line that was written right before the boundary', () => {
  const records = talk('gone')
  expect(saidAfterUndo(records.toSpliced(2, 0, records[0] ?? {}), 'b1')).toEqual(['one', 'two', 'three', 'four'])
})

test('gives the conversation back where later entries hang on a legacy record', () => {
  const before = session().user('one').assistant('two')
  const compacted = { type: 'compact_system', uuid: 'c', message: 'conversation_compacted', metadata: {} }
  const { records } = before.raw(compacted).user('three', { parent: 'c' }).assistant('four')
  expect(saidAfterUndo(records, 'c')).toEqual(['one', 'two', 'three', 'four'])
})
