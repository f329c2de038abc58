import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { JsonObject } from '../../core/message/json.ts'
import { editRecord } from '../../core/transcript/format/edits.ts'
import { createFold } from '../../core/transcript/view/fold.ts'
import { keptLayouts } from '../../testing/options.ts'
import { generateWithTruth } from '../../testing/session.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { forEachEntry } from './entries.ts'
import { forEachRecordAt, openSessionAt } from './session-at.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

function written(records: readonly JsonObject[]): string {
  const path = join(folders.next(), 'session.jsonl')
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  return path
}

const opened = (path: string, before?: string) => {
  const session = openSessionAt(path, { before })
  if (session.type === 'not-found') throw new Error(session.uuid)
  return session
}

const messagesIn = (path: string) => {
  const fold = createFold()
  forEachEntry(path, (entry) => fold.add(entry))
  return fold.view().messages
}

test.for(keptLayouts)('the view is that of the whole file, whatever was kept: %s', (kept) => {
  const { records } = generateWithTruth({ seed: 8, turns: 14, boundaries: 4, kept })
  const path = written(records)
  expect(opened(path).fold.view().messages).toEqual(messagesIn(path))
})

test.for(keptLayouts)('as of a boundary it is what the compaction had: %s', (kept) => {
  const { records } = generateWithTruth({ seed: 8, turns: 14, boundaries: 3, kept })
  const path = written(records)
  const at = records.findLastIndex(({ subtype }) => subtype === 'compact_boundary')
  const uuid = String(records[at]?.uuid)
  const session = opened(path, uuid)
  const uuids = session.fold.view().sources.flatMap((source) => source.uuids)
  const listed = records[at]?.compactMetadata as { preservedMessages?: { uuids: readonly string[] } }
  for (const one of listed.preservedMessages?.uuids ?? []) expect(uuids).toContain(one)
  const copied: JsonObject[] = []
  forEachRecordAt(path, { before: uuid }, (record) => copied.push(record))
  expect(messagesIn(written(copied))).toEqual(session.fold.view().messages)
  expect(session.recordedSummary).toBeDefined()
})

test('an undo reaches further back than the last two epochs', () => {
  const { records } = generateWithTruth({ seed: 9, turns: 12, boundaries: 4 })
  const boundaries = records.filter(({ subtype }) => subtype === 'compact_boundary').map(({ uuid }) => String(uuid))
  const tip = String(records.findLast(({ uuid }) => typeof uuid === 'string')?.uuid)
  const undone = boundaries.toReversed().map((uuid, at) =>
    editRecord(
      { type: 'undo', uuid },
      {
        uuid: `undo-${at}`,
        parentUuid: at === 0 ? tip : `undo-${at - 1}`,
        timestamp: '2026-11-03T00:00:00.000Z',
        sessionId: 's',
      },
    ),
  )
  const path = written([...records, ...undone])
  expect(opened(path).fold.view().messages).toEqual(messagesIn(path))
})

test('an entry that is not there is said not to be', () => {
  const path = written(generateWithTruth({ seed: 9, turns: 2, boundaries: 0 }).records)
  expect(openSessionAt(path, { before: 'nowhere' })).toEqual({ type: 'not-found', uuid: 'nowhere' })
})
