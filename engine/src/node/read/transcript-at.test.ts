import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { runCompaction } from '../../core/compaction/run.ts'
import type { JsonObject } from '../../core/message/json.ts'
import type { ViewMessage } from '../../core/message/message.ts'
import { noHooks } from '../../core/ports/hooks.ts'
import type { RestoreRequest } from '../../core/ports/restore.ts'
import { compactionJobAt } from '../../core/session/transcript.ts'
import { editRecord } from '../../core/transcript/format/edits.ts'
import { createFold } from '../../core/transcript/view/fold.ts'
import { offline } from '../../models/offline.ts'
import { keptLayouts } from '../../testing/sessions/options.ts'
import { generateWithTruth } from '../../testing/sessions/session.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { forEachEntry } from './entries.ts'
import { forEachRecordAt, readTranscript } from './transcript.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

function written(records: readonly JsonObject[]): string {
  const path = join(folders.next(), 'session.jsonl')
  writeFileSync(path, records.map((record) => `${JSON.stringify(record)}\n`).join(''))
  return path
}

const opened = (path: string, before?: string) => readTranscript(path, { before })

const messagesIn = (path: string) => {
  const fold = createFold()
  forEachEntry(path, (entry) => fold.add(entry))
  return fold.view().messages
}

test.for(keptLayouts)('the view is that of the whole file, whatever was kept: %s', (kept) => {
  const { records } = generateWithTruth({ seed: 8, turns: 14, boundaries: 4, kept })
  const path = written(records)
  expect(opened(path).view.messages).toEqual(messagesIn(path))
  expect(readTranscript(path, { wholeBytes: 0 }).view.messages).toEqual(messagesIn(path))
})

test.for(keptLayouts)('as of a boundary it is what the compaction had: %s', (kept) => {
  const { records } = generateWithTruth({ seed: 8, turns: 14, boundaries: 3, kept })
  const path = written(records)
  const at = records.findLastIndex(({ subtype }) => subtype === 'compact_boundary')
  const uuid = String(records[at]?.uuid)
  const session = opened(path, uuid)
  const uuids = session.view.sources.flatMap((source) => source.uuids)
  const listed = records[at]?.compactMetadata as { preservedMessages?: { uuids: readonly string[] } }
  for (const one of listed.preservedMessages?.uuids ?? []) expect(uuids).toContain(one)
  const copied: JsonObject[] = []
  forEachRecordAt({ path, format: 'claude-code' }, { before: uuid }, (record) => copied.push(record))
  expect(messagesIn(written(copied))).toEqual(session.view.messages)
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
  expect(opened(path).view.messages).toEqual(messagesIn(path))
})

test('an entry that is not there is said not to be', () => {
  const path = written(generateWithTruth({ seed: 9, turns: 2, boundaries: 0 }).records)
  expect(() => readTranscript(path, { before: 'nowhere' })).toThrow(
    expect.objectContaining({ reason: 'missing', message: expect.stringContaining('nowhere') }),
  )
})

const unbroken = generateWithTruth({ seed: 8, turns: 14, boundaries: 0 })

test('a pinned message is restored, unless it stays in the context', async () => {
  const place = { parentUuid: null, timestamp: '2026-11-03T00:00:00.000Z', sessionId: 's' }
  const pins = (uuids: readonly string[]) =>
    uuids.map((uuid) => editRecord({ type: 'pin', uuid, mechanism: 'manual' }, { ...place, uuid: `pin-${uuid}` }))
  const said = opened(written(unbroken.records))
    .view.sources.flatMap(({ pieces }) => pieces)
    .filter(({ uuid, origin }) => uuid !== undefined && origin === 'human')
  const uuids = said.map(({ uuid }) => String(uuid)).slice(0, 2)
  const session = opened(written([...unbroken.records, ...pins(uuids)]))
  const restored = async (kept: readonly ViewMessage[]) => {
    const { pieces } = await session.restore({
      kept,
      budget: 50_000,
      countTokens: (text) => text.length / 4,
      next: '',
      removed: [],
    })
    return pieces.flatMap(({ kind, entry }) => (kind === 'pinned' ? entry : []))
  }
  expect(await restored([])).toEqual(uuids)
  expect(await restored(said.slice(1))).toEqual(uuids.slice(0, 1))
})

test.for([1500, 3000, 6000])(
  'a plan is restored within a budget of %d, however much is missing beside it',
  async (budget) => {
    const asked: RestoreRequest[] = []
    const plan = { kind: 'plan', title: 'The plan', text: 'Open the door.', tokens: 12 }
    const missing = Array.from({ length: 12 }, (_, at) => ({
      kind: 'files',
      what: `/a/long/path/to/some/file/number/${at}.ts`,
      why: 'it has 9999 tokens, and 10 are left',
    }))
    const result = await runCompaction(
      {
        ...compactionJobAt(opened(written(unbroken.records)), { budget }),
        restore: async (request) => {
          asked.push(request)
          return { pieces: [plan], notRestored: missing, tokens: plan.tokens }
        },
      },
      {
        now: () => 0,
        newId: () => 'id',
        model: offline(),
        hooks: noHooks,
        emit: () => undefined,
        wait: async () => undefined,
      },
    )
    if (result.type === 'failed') throw new Error(result.why)
    expect(result.restored.pieces).toEqual([plan])
    expect(result.tokens.after).toBeLessThanOrEqual(budget)
    // Everything fits, so there is only one request.
    expect(asked).toHaveLength(1)
  },
)
