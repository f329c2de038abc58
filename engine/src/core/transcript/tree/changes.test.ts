import { expect, test } from 'vitest'
import type { Edit } from '../format/edits.ts'
import { type Change, standingOf } from './changes.ts'

/** Changes at the rows 0, 10, 20 …, called e0, e1, e2 … */
function outOf(...edits: readonly (Edit | undefined)[]): readonly string[] {
  const changes = edits.map((edit, at): Change => ({ row: at * 10, uuid: `e${at}`, edit }))
  const { out } = standingOf(changes, (uuid) => changes.find((change) => change.uuid === uuid)?.row ?? -1)
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
