import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { objectAt } from '../../core/message/json.ts'
import { blocksOf, isToolResult } from '../../core/message/message.ts'
import {
  clientStyles,
  corrupt,
  corruptionKinds,
  generateCodexRollout,
  generatePiSession,
  generateSession,
  serialize,
  session,
} from '../../testing/index.ts'
import { forEachEntry } from '../read/entries.ts'
import { findTranscripts } from '../read/stats.ts'
import { hasTranscripts, transcripts } from '../testing/real-data.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { openArchive } from './archive.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

function written(content: string | Uint8Array, name = 'session.jsonl'): string {
  const path = join(folders.next(), name)
  writeFileSync(path, content)
  return path
}

/** Reads everything in a file by its ids, and returns what differs from the file. */
function differences(path: string): readonly string[] {
  const archive = openArchive(path, { folder: false })
  const bytes = readFileSync(path)
  const wrong: string[] = []
  const uuids = new Set<string>()
  const results = new Set<string>()
  forEachEntry(path, ({ record, position }) => {
    const { line, nth, offset, length } = position
    const name = basename(path)
    const here = archive.record(`line-${line}${nth === 0 ? '' : `.${nth + 1}`}@${name}`)
    const own = bytes.subarray(offset, offset + length)
    if (here === undefined || own.indexOf(here.bytes) < 0) wrong.push(`line ${line}`)
    if (here && !here.bytes.equals(bytes.subarray(here.offset, here.offset + here.bytes.length)))
      wrong.push(`at ${line}`)
    const uuid = typeof record.uuid === 'string' ? record.uuid : undefined
    if (uuid !== undefined && !uuids.has(uuid)) {
      uuids.add(uuid)
      const found = archive.record(uuid)
      if (found === undefined || here === undefined || !found.bytes.equals(here.bytes)) wrong.push(`entry ${uuid}`)
    }
    for (const block of blocksOf(objectAt(record, 'message')?.content)) {
      if (!isToolResult(block) || results.has(block.tool_use_id)) continue
      results.add(block.tool_use_id)
      const found = archive.toolResult(block.tool_use_id)
      if (JSON.stringify(found?.content) !== JSON.stringify(block.content)) wrong.push(`result ${block.tool_use_id}`)
    }
  })
  archive.close()
  return wrong
}

describe.each(clientStyles)('of a session in style %s', (style) => {
  test('every record and every tool result comes back byte for byte', () => {
    const options = {
      seed: 8,
      style,
      turns: 8,
      boundaries: 2,
      subagents: 'inline',
      images: true,
      parallel: 0.5,
    } as const
    const lines = [...generateSession(options)].map(serialize)
    expect(differences(written(lines.join('')))).toEqual([])
  })

  test('a whole line is the record, and its answer can be had by the message id', () => {
    const records = [...generateSession({ seed: 9, style, turns: 3 })]
    const archive = openArchive(written(records.map(serialize).join('')), { folder: false })
    const ids = new Set(records.map((record) => objectAt(record, 'message')?.id).filter((id) => typeof id === 'string'))
    for (const id of ids) {
      const lines = records.filter((record) => record.type === 'assistant' && objectAt(record, 'message')?.id === id)
      expect(archive.message(id).map((original) => `${original.text}\n`)).toEqual(lines.map(serialize))
    }
    archive.close()
  })
})

test.each(corruptionKinds)('of a file with %s, every record that is left comes back', (kind) => {
  for (const seed of [1, 2, 3]) {
    const records = [...generateSession({ seed, turns: 3, boundaries: 1 })]
    expect(differences(written(corrupt(records, seed, [kind]).bytes))).toEqual([])
  }
})

test('records of other agents come back as they lie on disk, and results as they were', () => {
  const codex = generateCodexRollout({ seed: 3, turns: 6, compactions: 2 }).records
  const pi = generatePiSession({ seed: 3, turns: 6, compactions: 2 }).records
  expect(differences(written(codex.map(serialize).join('')))).toEqual([])
  expect(differences(written(pi.map(serialize).join('')))).toEqual([])
})

test('a message of pi on a new branch is read as itself', () => {
  const line = (id: string, parentId: string | null, content: string) =>
    serialize({
      type: 'message',
      id,
      parentId,
      timestamp: '2026-03-02T09:00:00.000Z',
      message: { role: 'user', content },
    })
  const records = [line('a', null, 'first'), line('b', 'a', 'second'), line('c', 'a', 'instead')]
  const path = written(serialize({ type: 'session', id: 's', cwd: '/w' }) + records.join(''))
  const archive = openArchive(path, { folder: false })
  expect(archive.search({ words: 'instead' }).matches.map(({ snippet }) => snippet)).toEqual(['instead'])
  expect(archive.read('c')?.text).toBe('instead')
  archive.close()
})

test('any text in a result comes back the same, half characters and control characters included', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 60 }), { minLength: 1, maxLength: 5 }), (texts) => {
      const builder = session()
      for (const [at, text] of texts.entries()) builder.toolUse(`t${at}`, 'Bash').toolResult(`t${at}`, `${text}\ud83d`)
      const archive = openArchive(written(builder.text), { folder: false })
      const found = texts.map((_, at) => archive.toolResult(`t${at}`)?.content)
      archive.close()
      expect(found).toEqual(texts.map((text) => `${text}\ud83d`))
    }),
    { numRuns: 30 },
  )
})

test('bytes that are no sound UTF-8 come back as they are, also after another record on the same line', () => {
  const first = Buffer.concat([
    Buffer.from('{"type":"user","uuid":"a","x":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}'),
  ])
  const second = Buffer.concat([Buffer.from('{"type":"user","uuid":"b","x":"'), Buffer.from([0xc3]), Buffer.from('"}')])
  const archive = openArchive(written(Buffer.concat([first, second, Buffer.from('\r\n')])), { folder: false })
  expect([archive.record('a')?.bytes, archive.record('b')?.bytes]).toEqual([first, second])
  archive.close()
})

test('a result that was stored apart comes with the bytes of its file, and is read and found there', () => {
  const path = written(session().toolUse('t1', 'Bash', { command: 'make' }).toolResult('t1', 'Output too large.').text)
  const folder = join(path.replace('.jsonl', ''), 'tool-results')
  mkdirSync(folder, { recursive: true })
  const whole = Buffer.concat([Buffer.from('start heliotrope end '), Buffer.from([0xff, 0x00])])
  writeFileSync(join(folder, 't1.txt'), whole)
  const archive = openArchive(path, { folder: false })
  const result = archive.toolResult('t1')
  expect([result?.content, result?.apart?.bytes, result?.tool]).toEqual(['Output too large.', whole, 'Bash'])
  expect(archive.read('t1')?.text.startsWith('start heliotrope end')).toBe(true)
  const { matches } = archive.search({ words: 'heliotrope', tool: 'bash' })
  expect(matches.map(({ id, file, snippet }) => ({ id, file, snippet: snippet.slice(0, 20) }))).toEqual([
    { id: 't1', file: 'session/tool-results/t1.txt', snippet: 'start heliotrope end' },
  ])
  archive.close()
})

test('sub-agents are part of the archive of their session, wherever they lie', () => {
  const path = written(session({ sessionId: 's1' }).user('the main conversation').text)
  const besideText = session({ sessionId: 's1', ids: (name) => `beside-${name}` }).user('a heron beside').text
  const otherText = session({ sessionId: 's2', ids: (name) => `other-${name}` }).user('a heron elsewhere').text
  const insideText = session({ sessionId: 's1', ids: (name) => `inside-${name}` }).user('a heron inside').text
  writeFileSync(join(path, '..', 'agent-1.jsonl'), besideText)
  writeFileSync(join(path, '..', 'agent-2.jsonl'), otherText)
  mkdirSync(join(path.replace('.jsonl', ''), 'subagents'), { recursive: true })
  writeFileSync(join(path.replace('.jsonl', ''), 'subagents', 'agent-3.jsonl'), insideText)
  const archive = openArchive(path, { folder: false })
  const { matches } = archive.search({ words: 'heron' })
  expect(matches.map(({ uuid }) => uuid).toSorted()).toEqual(['beside-u1', 'inside-u1'])
  expect(`${archive.record('inside-u1')?.text}\n`).toBe(insideText)
  archive.close()
})

test.skipIf(!hasTranscripts)(
  'every record and result of the shared transcripts comes back byte for byte',
  { timeout: 90_000 },
  () => {
    const { files } = findTranscripts([transcripts])
    expect(files.flatMap((file) => differences(file).map((what) => `${file}: ${what}`))).toEqual([])
  },
)

test('an answer that a copy of the session repeats is read once', () => {
  const folder = folders.next()
  mkdirSync(folder, { recursive: true })
  const { text } = session().user('Go.').assistant('Gone.', { messageId: 'msg-1' })
  for (const name of ['one.jsonl', 'two.jsonl']) writeFileSync(join(folder, name), text)
  const archive = openArchive(folder, { folder: false })
  archive.refresh()
  expect(archive.message('msg-1')).toHaveLength(1)
  archive.close()
})

test('each text of a message with several has an id of its own, which brings this very text', () => {
  const blocks = ['the heron', 'the crane', 'the stork'].map((text) => ({ type: 'text', text }))
  const archive = openArchive(written(session({ style: '2.0' }).user(blocks).text), { folder: false })
  const found = ['crane', 'stork'].map((words) => archive.search({ words }).matches[0]?.id ?? '')
  expect(found.map((id) => [id.replace(/^[^#]*/, ''), archive.read(id)?.text])).toEqual([
    ['#2', 'the crane'],
    ['#3', 'the stork'],
  ])
  archive.close()
})
