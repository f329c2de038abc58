import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type JsonObject, serialize, session } from '../../testing/index.ts'
import { collectStatistics, temporaryFolders } from '../testing/sessions.ts'
import { findTranscripts } from './stats.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

const write = (path: string, records: readonly JsonObject[]) => writeFileSync(path, records.map(serialize).join(''))

function compactedTwice(sessionId: string): readonly JsonObject[] {
  const tokens = { input: 1_000, output: 10 }
  return session({ sessionId, style: '2.1-early' })
    .user('begin')
    .assistant('yes', { tokens, model: 'claude-sonnet-4-5' })
    .boundary({ trigger: 'auto', preTokens: 9_000 })
    .summary('s'.repeat(300))
    .assistant('on', { tokens, model: 'claude-opus-4-5' })
    .boundary({ trigger: 'manual', preTokens: 8_000 })
    .summary('s'.repeat(600)).records
}

test('compactions whose run was not recorded are estimated by the model that was at work', () => {
  const folder = folders.next()
  write(join(folder, 'one.jsonl'), compactedTwice('one'))
  const { compactions, compactionsRecorded, compactionEstimates } = collectStatistics([folder])
  const counts = { input: 0, cacheWrite: 0, cacheWriteHour: 0 }
  expect({ compactions, compactionsRecorded, compactionEstimates }).toEqual({
    compactions: 2,
    compactionsRecorded: 0,
    compactionEstimates: [
      { model: 'claude-sonnet-4-5', answers: 1, tokens: { ...counts, cacheRead: 9_000, output: 100 } },
      { model: 'claude-opus-4-5', answers: 1, tokens: { ...counts, cacheRead: 8_000, output: 200 } },
    ],
  })
})

test('a compaction after which nobody answered is estimated by the model that was at work before it', () => {
  const folder = folders.next()
  const built = session({ sessionId: 'one', style: '2.1-early' })
    .user('begin')
    .assistant('yes', { tokens: { input: 1_000, output: 10 }, model: 'claude-sonnet-4-5' })
    .boundary({ trigger: 'auto', preTokens: 9_000 })
    .summary('s'.repeat(300))
    .boundary({ trigger: 'manual', preTokens: 8_000 })
    .summary('s'.repeat(600))
  write(join(folder, 'one.jsonl'), built.records)
  const { compactionEstimates } = collectStatistics([folder])
  expect(compactionEstimates.map(({ model, answers }) => [model, answers])).toEqual([['claude-sonnet-4-5', 2]])
})

test('a recorded run is counted and takes the place of an estimate', () => {
  const folder = folders.next()
  write(join(folder, 'one.jsonl'), compactedTwice('one'))
  mkdirSync(join(folder, 'one', 'subagents'), { recursive: true })
  const run = session({ sessionId: 'one' })
    .user('sum up')
    .assistant('so', { tokens: { input: 5, output: 7 } })
  write(join(folder, 'one', 'subagents', 'agent-acompact-1.jsonl'), run.records)
  const { compactionsRecorded, compactionModels, compactionEstimates } = collectStatistics([folder])
  expect(compactionsRecorded).toBe(1)
  expect(compactionModels.map(({ answers, tokens }) => [answers, tokens.input, tokens.output])).toEqual([[1, 5, 7]])
  expect(compactionEstimates.map(({ model, answers }) => [model, answers])).toEqual([['claude-sonnet-4-5', 1]])
})

test('what cannot be read is named and costs nothing else', () => {
  const folder = folders.next()
  write(join(folder, 'one.jsonl'), compactedTwice('one'))
  const missing = join(folder, 'nothing.jsonl')
  const { sessions, files, unreadable } = collectStatistics([missing, folder])
  expect({ sessions, files, paths: unreadable.map(({ path }) => path) }).toEqual({
    sessions: 1,
    files: 1,
    paths: [missing],
  })
})

test('a path named twice counts once, and only transcripts below a folder are taken', () => {
  const folder = folders.next()
  write(join(folder, 'b.jsonl'), [])
  write(join(folder, 'a.jsonl'), [])
  writeFileSync(join(folder, 'notes.txt'), '')
  expect(findTranscripts([folder, folder]).files).toEqual([join(folder, 'a.jsonl'), join(folder, 'b.jsonl')])
})

test('an answer that a resumed session carries along counts once; ids that we made up are no sign of it', () => {
  const folder = folders.next()
  const answer = { tokens: { input: 100, output: 1 }, model: 'claude-sonnet-4-5' }
  const first = session({ sessionId: 'one' })
    .user('a')
    .assistant('b', { ...answer, messageId: 'msg_1' })
  const resumed = session({ sessionId: 'two' })
    .user('a')
    .assistant('b', { ...answer, messageId: 'msg_1' })
    .assistant('c', { ...answer, messageId: 'msg_2' })
    .assistant('d', { ...answer, messageId: 'codex-answer-1' })
  const other = session({ sessionId: 'three' })
    .user('x')
    .assistant('y', { ...answer, messageId: 'codex-answer-1' })
  write(join(folder, '1.jsonl'), first.records)
  write(join(folder, '2.jsonl'), resumed.records)
  write(join(folder, '3.jsonl'), other.records)
  const { models, repeatedAnswers } = collectStatistics([folder])
  expect([models.map(({ answers }) => answers), repeatedAnswers]).toEqual([[4], 1])
})
