import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Transcript } from '../../core/session/transcript.ts'
import { editRecord } from '../../core/transcript/format/edits.ts'
import { generateSession, keptLayouts, session } from '../../testing/index.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { readTranscript, windowEntries } from './transcript.ts'

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

const lengths = (entries: readonly { readonly record: object }[]) =>
  entries.map(({ record }) => (JSON.stringify(record).length > 3000 ? 'long' : 'short'))

test('texts before the whole part are shortened, and those in the view are read again', () => {
  const { entries } = readTranscript(written(compacted()), { wholeBytes: 0 })
  // The old message is before the boundary and stays short; the new one is in the view.
  expect(lengths(entries)).toEqual(['short', 'short', 'short', 'short', 'long'])
})

test('nothing of a small file is shortened', () => {
  expect(lengths(readTranscript(written(compacted())).entries)).toEqual(['long', 'short', 'short', 'short', 'long'])
})

test('the facts of a large file are those of its whole texts, whenever they are read', () => {
  const path = written(
    session().user(`From now on never push. ${long}`).assistant('ok').boundary().summary('S.').user('x'),
  )
  const whole = readTranscript(path).facts()
  expect(readTranscript(path, { wholeBytes: 0 }).facts()).toEqual(whole)
  expect(readTranscript(path, { wholeBytes: 0, withFacts: true }).facts()).toEqual(whole)
  expect(JSON.stringify(whole.carried)).toContain(long.slice(0, 400))
})

test('the live window alone says the same about the session as the whole file', () => {
  const rich = { subagents: 'inline', turns: 16, boundaries: 3, microcompact: true } as const
  let isSmaller = false
  for (const [seed, kept] of keptLayouts.entries()) {
    const path = join(folders.next(), 'session.jsonl')
    const records = [...generateSession({ seed, kept, ...rich })]
    const tip = String(records.findLast(({ uuid, isSidechain }) => uuid && isSidechain !== true)?.uuid)
    const place = { uuid: 'e1', parentUuid: tip, timestamp: '2026-01-01T00:00:00.000Z', sessionId: 's' }
    const pin = editRecord({ type: 'pin', uuid: tip }, { ...place, envelope: {} })
    const undo = editRecord({ type: 'undo', uuid: 'e1' }, { ...place, uuid: 'e2', parentUuid: 'e1', envelope: {} })
    for (const more of [[], [pin], [pin, undo]]) {
      writeFileSync(path, [...records, ...more].map((record) => `${JSON.stringify(record)}\n`).join(''))
      const said = ({ view, answered, place: at, facts, ...read }: Transcript) => {
        const { format, bytes, lastUuid, envelope, sessionId, note, queued, lastAction } = read
        const texts = [view, answered].map(({ messages }) => messages)
        return { texts, at, facts: facts(), format, bytes, lastUuid, envelope, sessionId, note, queued, lastAction }
      }
      const [window, whole] = [readTranscript(path), readTranscript(path, { whole: true })]
      expect(said(window)).toEqual(said(whole))
      isSmaller ||= window.entries.length < whole.entries.length
    }
  }
  expect(isSmaller).toBe(true)
})

test('a boundary that is written twice does not count what came after it as known before', () => {
  const build = session().user('From now on never push.').assistant('ok').boundary().summary('The summary.')
  build.user('From now on always test first.')
  const boundary = build.records.find(({ subtype }) => subtype === 'compact_boundary')
  const path = join(folders.next(), 'session.jsonl')
  writeFileSync(path, `${build.text}${JSON.stringify(boundary)}\n`)
  const { carried, ledger } = readTranscript(path).facts()
  const rules = (found: typeof ledger) => found.rules.map(({ text }) => text)
  expect(rules(carried)).toEqual(['From now on never push.'])
  expect(rules(ledger)).toEqual(['From now on never push.', 'From now on always test first.'])
})

test('before a boundary there is what its compaction had, with kept messages that were written again after it', () => {
  const build = session()
    .user('one')
    .assistant('two')
    .boundary({ kept: ['k1'] })
    .summary('The summary.')
  build.user('kept', { uuid: 'k1' }).user('new').boundary().summary('Another.').user('later', { uuid: 'k1' })
  const { entries, recordedSummary } = readTranscript(written(build), { before: 'b1' })
  expect(uuids(entries)).toEqual(['u1', 'a1', 'k1'])
  expect(recordedSummary).toBe('The summary.')
})

test('before any other entry there is what precedes it', () => {
  const path = written(session().user('one').assistant('two').user('three'))
  expect(uuids(readTranscript(path, { before: 'a1' }).entries)).toEqual(['u1'])
})

test('a pinned message that a compaction took out of the view is whole, however large the file is', () => {
  const before = session().user(`Never touch ${long}.`).assistant('ok')
  const place = { uuid: 'p1', parentUuid: 'a1', timestamp: '2026-11-02T00:00:00.000Z', sessionId: 's' }
  const pin = editRecord({ type: 'pin', uuid: 'u1', mechanism: 'manual' }, place)
  const after = session().boundary().summary('The summary.').user('new').records
  const renamed = after.map((record, at) => ({ ...record, uuid: `r${at}`, parentUuid: at === 0 ? null : `r${at - 1}` }))
  const path = join(folders.next(), 'session.jsonl')
  writeFileSync(path, [...before.records, pin, ...renamed].map((record) => `${JSON.stringify(record)}\n`).join(''))
  const file = readTranscript(path, { wholeBytes: 0 })
  expect(file.view.pins).toEqual(['u1'])
  expect(JSON.stringify(file.view.messages)).not.toContain('Never touch')
  expect(JSON.stringify(file.entry('u1')?.record)).toContain(long)
})

test('an undo in the window makes all entries be read, because it may bring back earlier ones', () => {
  const build = session()
  for (let at = 0; at < 60; at++) build.user(`${at} ${long}`).assistant('ok')
  build.boundary().summary('One.')
  for (let at = 0; at < 120; at++) build.user(`short ${at}`).assistant('ok')
  build.boundary().summary('Two.').user('new')
  const path = written(build)
  expect(windowEntries(path).isWhole).toBe(false)
  const boundary = build.records.findLast(({ subtype }) => subtype === 'compact_boundary')
  const place = { uuid: 'undo', timestamp: '2026-11-02T00:00:00.000Z', sessionId: 's' }
  const parentUuid = String(build.records.at(-1)?.uuid)
  const undo = editRecord({ type: 'undo', uuid: String(boundary?.uuid) }, { ...place, parentUuid })
  writeFileSync(path, `${build.text}${JSON.stringify(undo)}\n`)
  expect(windowEntries(path).isWhole).toBe(true)
  expect(readTranscript(path).view.messages).toEqual(readTranscript(path, { whole: true }).view.messages)
})

test('what was known before the last compaction is all that came before it, with several of them', () => {
  const build = session().user('From now on never push.').assistant('ok').boundary().summary('One.')
  build.user('From now on always test first.').assistant('ok').boundary().summary('Two.').user('From now on be brief.')
  const { carried, ledger } = readTranscript(written(build)).facts()
  const rules = (found: typeof ledger) => found.rules.map(({ text }) => text)
  expect(rules(carried)).toEqual(['From now on never push.', 'From now on always test first.'])
  expect(rules(ledger)).toEqual([...rules(carried), 'From now on be brief.'])
})
