import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type SessionBuilder, session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { lastCompaction } from './last-compaction.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-last-compaction-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function lastOf(built: SessionBuilder) {
  const path = join(folder, 'session.jsonl')
  writeFileSync(path, built.text)
  return lastCompaction(path)
}

const talk = () => session().user('1').assistant('2')
const compacted = () => talk().boundary().summary('In short.')
const bySubagent = { fields: { isSidechain: true } }

test('a session without a compaction has none', () => {
  expect(lastOf(talk())).toBe(undefined)
})

test.each<[string, SessionBuilder, string, boolean]>([
  ['its summary', compacted(), 'b1', false],
  ['a message of the user', compacted().user('3'), 'b1', false],
  ['an answer', compacted().user('3').assistant('4'), 'b1', true],
  ['an answer of a sub-agent', compacted().user('3').assistant('4', bySubagent), 'b1', false],
  ['a second compaction', compacted().user('3').assistant('4').boundary().summary('Shorter.'), 'b2', false],
  ['an answer after a second compaction', compacted().boundary().summary('Shorter.').assistant('4'), 'b2', true],
  [
    'a compaction of a sub-agent',
    compacted().raw({
      type: 'system',
      subtype: 'compact_boundary',
      uuid: 'side',
      isSidechain: true,
      compactMetadata: {},
    }),
    'b1',
    false,
  ],
])('the last compaction, after it %s', (_, built, boundary, isContinued) => {
  expect(lastOf(built)).toMatchObject({ boundary, isContinued })
})

test('it names the entry before it, and what every record of the session has', () => {
  const records = compacted().records
  const [first] = records
  expect(lastOf(compacted())).toMatchObject({
    before: 'a1',
    envelope: { cwd: first?.cwd, sessionId: first?.sessionId, version: first?.version },
  })
  expect(first?.sessionId).toBeDefined()
})

test('a text of the client in the name of the agent does not continue it', () => {
  const text = { type: 'assistant', uuid: 'x', message: { role: 'assistant', model: '<synthetic>', content: [] } }
  expect(lastOf(compacted().raw(text))).toMatchObject({ isContinued: false })
})
