import { expect, test } from 'vitest'
import type { JsonObject } from '../../message/json.ts'
import { noPosition } from '../../ports/session-store.ts'
import { type Edit, editRecord } from '../format/edits.ts'
import { type Change, changesInForce, lastAction } from './changes.ts'

/** Changes e0, e1, e2 … at the rows 0, 10, 20 … */
function outOf(...edits: readonly (Edit | undefined)[]): readonly string[] {
  const changes = edits.map((edit, at): Change => ({ row: at * 10, uuid: `e${at}`, edit }))
  const { out } = changesInForce(changes, (uuid) => changes.find((change) => change.uuid === uuid)?.row ?? -1)
  return changes.filter(({ row }) => out.has(row)).map(({ uuid }) => uuid)
}

const clear: Edit = { type: 'clear-inputs', toolUseIds: [] }

test('a rewind to an edit keeps that edit, and takes out what came after it', () => {
  expect(outOf(clear, clear, clear, { type: 'rewind', to: 'e1' })).toEqual(['e2'])
})

test('a rewind to a boundary keeps the compaction', () => {
  expect(outOf(undefined, clear, { type: 'rewind', to: 'e0' })).toEqual(['e1'])
})

test('what is undone by something that is itself undone is in force', () => {
  expect(outOf(clear, { type: 'undo', uuid: 'e0' })).toEqual(['e0'])
  expect(outOf(clear, { type: 'undo', uuid: 'e0' }, { type: 'undo', uuid: 'e1' })).toEqual(['e1'])
})

test('the last action is the newest that may be undone, and never one before a boundary that may not', () => {
  const edited = (edit: Edit, uuid: string, canUndo?: boolean) =>
    editRecord(edit, { uuid, parentUuid: null, timestamp: '', sessionId: 's', canUndo })
  const boundary = (uuid: string, canUndo: boolean): JsonObject => ({
    type: 'system',
    subtype: 'compact_boundary',
    compactMetadata: { trigger: 'manual', preTokens: 0 },
    uuid,
    ...(canUndo ? {} : { everlong: { canUndo } }),
  })
  const last = (...records: JsonObject[]) =>
    lastAction(records.map((record) => ({ record, position: noPosition }))).map(({ uuid }) => uuid)
  const final = edited({ type: 'rewind', to: 'c' }, 'r', false)
  expect(last(boundary('c', true), edited({ type: 'rewind', to: 'c' }, 'r', true))).toEqual(['r'])
  expect(last(boundary('c', true), final)).toEqual(['c'])
  expect(last(boundary('c', true), boundary('f', false))).toEqual([])
  expect(last(boundary('c', true), boundary('f', false), edited(clear, 'e'))).toEqual(['e'])
  expect(last(boundary('c', true), boundary('f', false), final)).toEqual(['c'])
  expect(last(boundary('c', true), boundary('f', false), edited({ type: 'undo', uuid: 'f' }, 'u'))).toEqual(['c'])
})
