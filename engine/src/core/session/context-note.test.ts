import { expect, test } from 'vitest'
import { contextNoteRecord, readContextNote } from './context-note.ts'
import { createTestWorld } from './testing/world.ts'

const position = { line: 0, offset: 0, length: 0, nth: 0 }
const read = (settings: object) => {
  const note = { model: 'm', overhead: 0, calibration: { factor: 1 }, provider: {}, settings }
  const record = contextNoteRecord(note, { timestamp: '2026-11-01T00:00:00.000Z', sessionId: 's' })
  return readContextNote([{ record, position }])?.settings
}

test('a note holds the settings that sizes depend on, and no others', async () => {
  const world = createTestWorld({
    settings: { contextWindow: 40_000, compaction: 'ask', sessionMemory: false, keep: 2, recall: true },
  })
  world.session.add({ role: 'user', content: 'Go.' })
  await world.session.prepare()
  const entries = world.records().map((record) => ({ record, position }))
  expect(readContextNote(entries)?.settings).toEqual({ contextWindow: 40_000, compaction: 'ask' })
})

test.for([
  [{ autoCompact: false }, { compaction: 'manual' }],
  [{ disableAutoCompact: true }, { compaction: 'manual' }],
  [
    { autoCompact: 'ask', contextWindow: 40_000 },
    { compaction: 'ask', contextWindow: 40_000 },
  ],
  [{ autoCompact: false, disableCompact: true }, { compaction: 'off' }],
  [{ autoCompact: true }, {}],
  [{ compaction: 'reactive', autoCompact: false }, { compaction: 'reactive' }],
  [
    { contextWindow: 'large', blockingLimit: 90_000, summary: { model: 'x' }, collapse: true },
    { blockingLimit: 90_000 },
  ],
])('the settings of a note %o are read as %o', ([noted, settings]) => {
  expect(read(noted ?? {})).toEqual(settings)
})
