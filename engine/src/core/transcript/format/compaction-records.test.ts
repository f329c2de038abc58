import { expect, test } from 'vitest'
import { session } from '../../../testing/index.ts'
import type { JsonObject } from '../../message/json.ts'
import { tornCompaction, undoOfTorn } from '../tree/changes.ts'
import { foldEntries } from '../view/fold.ts'
import { compactionRecords, withSizeAfter } from './compaction-records.ts'
import { editRecord } from './edits.ts'
import type { Entry } from './entry.ts'

const facts = {
  trigger: 'manual',
  preTokens: 900,
  postTokens: 90,
  durationMs: 1,
  messagesSummarized: 2,
  cumulativeDroppedTokens: 810,
  discoveredTools: [],
  userContext: '',
  everlong: {},
} as const

const entriesOf = (records: readonly JsonObject[]): readonly Entry[] =>
  records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } }))

function compacted() {
  const talk = session().user('fix the parser').assistant('It was the comma.').records
  let ids = 0
  const { records } = compactionRecords(
    { facts, summary: 'All is well.', attachments: [{ type: 'files', content: 'a.ts' }], closing: 'Go on.' },
    {
      newId: () => `c${++ids}`,
      timestamp: '2026-11-02T00:00:00.000Z',
      sessionId: 's',
      logicalParent: String(talk.at(-1)?.uuid),
    },
  )
  return { talk, records }
}

test('a compaction of which only the first records were written is found, and its view is what was there before', () => {
  const { talk, records } = compacted()
  const before = foldEntries(entriesOf(talk)).messages
  for (let written = 1; written < records.length; written++) {
    const left = [...talk, ...records.slice(0, written)]
    expect(tornCompaction(entriesOf(left))?.uuid).toBe('c1')
    const undo = undoOfTorn(entriesOf(left))?.record
    expect(undo).toMatchObject({ parentUuid: left.at(-1)?.uuid, timestamp: '2026-11-02T00:00:00.000Z' })
    const mended = [...left, undo ?? {}]
    expect(foldEntries(entriesOf(mended)).messages).toEqual(before)
    expect(undoOfTorn(entriesOf(mended))).toBeUndefined()
  }
})

test('one that is whole, or was written by somebody else, is left alone', () => {
  const { talk, records } = compacted()
  expect(tornCompaction(entriesOf([...talk, ...records]))).toBeUndefined()
  expect(tornCompaction(entriesOf(talk))).toBeUndefined()
  const [boundary] = records
  expect(tornCompaction(entriesOf([...talk, { ...boundary, everlong: undefined }]))).toBeUndefined()
})

test('a torn one is found although something else was undone before it; only its own undo settles it', () => {
  const { talk, records } = compacted()
  const tip = String(talk.at(-1)?.uuid)
  const edit = (uuid: string, parentUuid: string) => ({ uuid, parentUuid, timestamp: '', sessionId: 's' })
  const pin = editRecord({ type: 'pin', uuid: tip }, edit('p1', tip))
  const undo = editRecord({ type: 'undo', uuid: 'p1' }, edit('x1', 'p1'))
  const torn = [...talk, pin, undo, ...records.slice(0, 2)]
  expect(tornCompaction(entriesOf(torn))?.uuid).toBe('c1')
  const settled = [...torn, editRecord({ type: 'undo', uuid: 'c1' }, edit('x2', 'c2'))]
  expect(tornCompaction(entriesOf(settled))).toBeUndefined()
})

test('the size after a compaction replaces the estimate everywhere', () => {
  const { records } = compacted()
  const [boundary, ...rest] = withSizeAfter(records, { after: 150, model: 'm' })
  const sizes = { preTokens: 900, postTokens: 150, cumulativeDroppedTokens: 750 }
  expect(boundary).toMatchObject({
    compactMetadata: sizes,
    everlong: { compaction: { size: { after: 150, model: 'm' } } },
  })
  expect(rest).toEqual(records.slice(1))
  // A context that grew has lost nothing.
  const [grown] = withSizeAfter(records, { after: 1_000, model: 'm' })
  expect(grown).toMatchObject({ compactMetadata: { postTokens: 1_000, cumulativeDroppedTokens: 0 } })
})
