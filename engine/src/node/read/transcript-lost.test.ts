import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { transcriptOfRecords } from '../../core/session/transcript.ts'
import { session } from '../../testing/records.ts'
import { hasTranscripts, transcripts } from '../testing/real-data.ts'
import { readTranscript } from './transcript.ts'
import { lostInFile, lostInTranscript } from './transcript-lost.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-lost-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = (text: string) => {
  const path = join(folder, 'session.jsonl')
  writeFileSync(path, text)
  return path
}

const talk = () => session().user('Never drop the table orders_2019.').assistant('Understood.').user('List the files.')

test('a file and its records in memory have lost the same', () => {
  const { text, records, sessionId } = talk().assistant('Three.').boundary().summary('The files were listed.')
  const path = file(text)
  const lost = lostInFile(path)
  expect(lost).toMatchObject({ path, format: 'claude-code', sessionId, isTranscript: true })
  expect(lost.facts.map((fact) => fact.text)).toEqual(['Never drop the table orders_2019.'])
  expect(lostInTranscript(transcriptOfRecords(records, path))).toEqual(lost)
})

test('half a compaction that a crash left behind lost nothing', () => {
  const { records, text } = talk()
    .assistant('Three.')
    .boundary({ fields: { everlong: { compaction: { last: 'never-written' } } } })
  const { compactions, facts } = lostInFile(file(text))
  expect({ records: records.length, facts, undone: compactions.map(({ isUndone }) => isUndone) }).toEqual({
    records: 5,
    facts: [],
    undone: [true],
  })
})

test('a file without a conversation is no transcript', () => {
  expect(lostInFile(file('{"name":"x"}\n'))).toMatchObject({ isTranscript: false, compactions: [], facts: [] })
})

describe.skipIf(!hasTranscripts)('real transcripts (skipped where the folder is not there)', () => {
  const names = hasTranscripts
    ? readdirSync(transcripts, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'))
    : []

  test.each(names)('%s: no lost words are in its view', (name) => {
    const path = join(transcripts, name)
    const { facts } = lostInFile(path)
    const shown = JSON.stringify(readTranscript(path).view.messages)
    const inView = facts.filter(({ type, text }) => type !== 'failure' && text !== '' && shown.includes(text))
    expect(inView).toEqual([])
  })
})
