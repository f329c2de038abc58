import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { editRecord } from '../../core/transcript/format/edits.ts'
import { foldEntries } from '../../core/transcript/view/fold.ts'
import { session } from '../../testing/index.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { loadEntries, openView, wholeEntries } from './view-file.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

const long = 'x'.repeat(5000)

function written(build: ReturnType<typeof session>): string {
  const path = join(folders.next(), 'session.jsonl')
  writeFileSync(path, build.text)
  return path
}

const uuids = (entries: readonly { readonly record: { readonly [key: string]: unknown } }[]) =>
  entries.map(({ record }) => record.uuid)

const compacted = () =>
  session().user(`old ${long}`).assistant('ok').boundary().summary('The summary.').user(`new ${long}`)

test('texts before the whole part are shortened, and those in the view are read again', () => {
  const loaded = loadEntries(written(compacted()), { wholeBytes: 0 })
  const length = (entry: { readonly record: object } | undefined) => JSON.stringify(entry?.record).length
  expect(loaded.shortened).toBe(loaded.entries.length)
  expect(loaded.entries.map(length).every((size) => size < 3000)).toBe(true)
  const whole = wholeEntries(loaded, [foldEntries(loaded.entries)])
  // The old message is behind the boundary and stays short; the new one is in the view.
  expect([length(whole[0]) < 3000, length(whole.at(-1)) > 5000]).toEqual([true, true])
})

test('a small file is read once: nothing is shortened', () => {
  const loaded = loadEntries(written(compacted()))
  expect(loaded.shortened).toBe(0)
  expect(wholeEntries(loaded, [foldEntries(loaded.entries)])).toBe(loaded.entries)
})

test('before a boundary there is what its compaction had, with kept messages that were written again after it', () => {
  const build = session()
    .user('one')
    .assistant('two')
    .boundary({ kept: ['k1'] })
    .summary('The summary.')
  build.user('kept', { uuid: 'k1' }).user('new').boundary().summary('Another.').user('later', { uuid: 'k1' })
  const { entries, cutoff } = loadEntries(written(build), { before: 'b1' })
  expect(uuids(entries)).toEqual(['u1', 'a1', 'k1'])
  expect([cutoff.isReached(), cutoff.summary()]).toEqual([true, 'The summary.'])
})

test('before any other entry there is what precedes it, and an unknown entry is never reached', () => {
  const path = written(session().user('one').assistant('two').user('three'))
  expect(uuids(loadEntries(path, { before: 'a1' }).entries)).toEqual(['u1'])
  expect(loadEntries(path, { before: 'nowhere' }).cutoff.isReached()).toBe(false)
})

test('a pinned message that a compaction took out of the view is whole, however large the file is', () => {
  const before = session().user(`Never touch ${long}.`).assistant('ok')
  const place = { uuid: 'p1', parentUuid: 'a1', timestamp: '2026-11-02T00:00:00.000Z', sessionId: 's' }
  const pin = editRecord({ type: 'pin', uuid: 'u1', mechanism: 'manual' }, place)
  const after = session().boundary().summary('The summary.').user('new').records
  const renamed = after.map((record, at) => ({ ...record, uuid: `r${at}`, parentUuid: at === 0 ? null : `r${at - 1}` }))
  const path = join(folders.next(), 'session.jsonl')
  writeFileSync(path, [...before.records, pin, ...renamed].map((record) => `${JSON.stringify(record)}\n`).join(''))
  const file = openView(path, { wholeBytes: 0 })
  expect(file.view.pins).toEqual(['u1'])
  expect(JSON.stringify(file.view.messages)).not.toContain('Never touch')
  expect(JSON.stringify(file.entry('u1')?.record)).toContain(long)
})
