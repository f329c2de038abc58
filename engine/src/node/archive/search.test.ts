import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { SearchQuery } from '../../core/session/recall-text.ts'
import {
  generateCodexRollout,
  generatePiSession,
  serialize,
  session,
  textBlock,
  thinkingBlock,
  toolUseBlock,
} from '../../testing/index.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { type Archive, openArchive } from './archive.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

function archiveOf(text: string): Archive {
  const path = join(folders.next(), 'session.jsonl')
  writeFileSync(path, text)
  return openArchive(path, { folder: false })
}

const patch = '*** Begin Patch\n*** Update File: src/store/heron.ts\n@@\n-a\n+b\n*** End Patch'

const told = archiveOf(
  session({ startTime: '2026-03-02T09:00:00.000Z' })
    .user('look for the heron')
    .assistant([thinkingBlock('the heron may be in the store'), textBlock('I look for the heron.')])
    .toolUse('t1', 'Read', { file_path: '/home/dev/src/http/rate-limit.ts' })
    .toolResult('t1', 'export const heron = 1')
    .toolUse('t2', 'mcp__files__search', { path: 'src/http', query: 'heron' })
    .toolResult('t2', 'heron: no match')
    .wait(3600)
    .boundary({ trigger: 'auto' })
    .summary('They looked for a heron.')
    .user('now change the heron')
    .toolUse('t3', 'apply_patch', { input: patch })
    .toolResult('t3', 'Done: heron patched')
    .assistant([textBlock('heron one'), toolUseBlock('t4', 'Bash', { command: 'echo heron' })])
    .attachment('queued_command', { prompt: 'and the other heron', commandMode: 'prompt' })
    .attachment('skill_listing', { content: '- heron: draws one' })
    .sidechain('agent1', (agent) => agent.user('an agent and a heron')).text,
)
afterAll(told.close)

function found(query: SearchQuery): readonly string[] {
  return told
    .search({ limit: 100, ...query })
    .matches.map(({ kind, id }) => `${kind} ${id}`)
    .toSorted()
}

const all = found({ words: 'heron' })

test('a planted word is found in every kind of piece', () => {
  expect([...new Set(all.map((text) => text.split(' ')[0]))].toSorted()).toEqual(
    ['assistant', 'attachment', 'human', 'summary', 'thinking', 'tool-result', 'tool-use'].toSorted(),
  )
  expect(all.filter((text) => text.startsWith('tool-result'))).toEqual([
    'tool-result t1',
    'tool-result t2',
    'tool-result t3',
  ])
})

test.each([
  [{ kinds: ['human'] }, 4],
  [{ kinds: ['summary', 'thinking'] }, 2],
  [{ kinds: [] }, 0],
  [{ role: 'assistant' }, 6],
  [{ tool: 'read' }, 1],
  [{ tool: 'search' }, 2],
  [{ tool: 'Write' }, 0],
  [{ path: 'rate-limit.ts' }, 1],
  [{ path: 'src/http' }, 3],
  [{ path: '/home/dev/src/http/rate-limit.ts' }, 1],
  [{ path: 'rate-*.ts' }, 1],
  [{ path: 'limit.ts' }, 0],
  [{ path: 'store/heron.ts' }, 2],
  [{ epoch: 0 }, 6],
  [{ epoch: 1 }, 9],
  [{ epoch: 7 }, 0],
  [{ since: Date.parse('2026-03-02T09:50:00.000Z') }, 9],
  [{ until: Date.parse('2026-03-02T09:50:00.000Z') }, 6],
  [{ epoch: 1, tool: 'apply_patch', kinds: ['tool-result'] }, 1],
] as const)('with %j, %i of the planted words are found', (filter, count) => {
  const some = found({ words: 'heron', ...filter })
  expect(some.length).toBe(count)
  expect(all).toEqual(expect.arrayContaining([...some]))
})

test('without words, the newest come first; with words, that order can be asked for', () => {
  const plain = told.search({ kinds: ['tool-result'], limit: 2 })
  expect([plain.matches.map(({ id }) => id), plain.more, plain.matched]).toEqual([['t3', 't2'], true, 'none'])
  const ordered = told.search({ words: 'heron', kinds: ['tool-result'], order: 'newest' })
  expect(ordered.matches.map(({ id }) => id)).toEqual(['t3', 't2', 't1'])
})

test('the best comes first: what has all words, then what is next to it, and of a path alone the shortest text', () => {
  const archive = archiveOf(
    session()
      .user(`a heron once, and then ${'something else '.repeat(40)}`)
      .user('heron, heron and heron again')
      .user(`src/heron.ts and ${'something else '.repeat(40)}`)
      .user('see src/heron.ts').text,
  )
  const order = (words: string) => archive.search({ words }).matches.map(({ id }) => id)
  expect([order('heron')[0], order('src/heron.ts'), order('again heron')]).toEqual([
    'u2',
    ['u4', 'u3'],
    ['u2', 'u3', 'u1', 'u4'],
  ])
  archive.close()
})

test('a call and its result do not both take a place of the best matches', () => {
  const archive = archiveOf(
    session()
      .user('a heron once')
      .toolUse('t1', 'Bash', { command: 'echo heron twice' })
      .toolResult('t1', 'heron twice').text,
  )
  const order = (query: SearchQuery) => archive.search(query).matches.map(({ kind }) => kind)
  const both = ['tool-use', 'human', 'tool-result']
  expect([order({ words: 'heron twice' }), order({ words: 'heron twice', limit: 2 })]).toEqual([both, both.slice(0, 2)])
  expect(order({ words: 'heron', order: 'newest' })).toEqual(['tool-result', 'tool-use', 'human'])
  expect(archive.search({ words: 'heron twice', limit: 1 }).matches).toMatchObject([
    { kind: 'tool-use', snippet: 'Bash command: echo heron twice → heron twice' },
  ])
  archive.close()
})

test('a card says what it is of, when, where, and shows the words', () => {
  expect(told.search({ words: 'export heron', limit: 1 }).matches).toEqual([
    {
      id: 't1',
      kind: 'tool-result',
      time: '2026-03-02T09:00:05.000Z',
      epoch: 0,
      tool: 'Read',
      path: '/home/dev/src/http/rate-limit.ts',
      toolUseId: 't1',
      uuid: 'r1',
      messageId: undefined,
      sidechain: false,
      file: 'session.jsonl',
      line: 5,
      snippet: 'export const heron = 1',
    },
  ])
})

test('every card can be read by its id, and the text holds the word', () => {
  for (const match of told.search({ words: 'heron', limit: 100 }).matches) {
    expect(told.read(match.id)?.text, match.id).toContain('heron')
  }
})

test('when nothing has all the words, what has the telling ones is found', () => {
  const { matched, matches } = told.search({ words: 'what about the patched giraffe' })
  expect([matched, matches[0]?.kind, matches[0]?.toolUseId]).toEqual(['any', 'tool-use', 't3'])
})

test('a snippet shows where the words stand together, in one line and without half characters', () => {
  const filler = 'word 😀\n'.repeat(200)
  const archive = archiveOf(session().user(`${filler}heron alone ${filler}heron\n\tand crane here ${filler}`).text)
  const [match] = archive.search({ words: 'crane heron' }).matches
  archive.close()
  expect(match?.snippet).toContain('heron and crane here')
  expect(match?.snippet.length).toBeLessThan(260)
  expect(match?.snippet.isWellFormed()).toBe(true)
})

test('a folder is searched as a whole, with copies of the same entry shown once', () => {
  const folder = folders.next()
  const text = session().user('a heron in two files').text
  mkdirSync(join(folder, 'deep'))
  writeFileSync(join(folder, 'one.jsonl'), text)
  writeFileSync(join(folder, 'deep', 'copy.jsonl'), text)
  const rollout = generateCodexRollout({ seed: 2, turns: 3 }).records
  writeFileSync(join(folder, 'deep', 'codex.jsonl'), rollout.map(serialize).join(''))
  const archive = openArchive(folder, { folder: false })
  expect(archive.search({ words: 'heron' }).matches.map(({ uuid }) => uuid)).toEqual(['u1'])
  expect(archive.record('line-1@deep/copy.jsonl')?.text).toBe(archive.record('line-1@one.jsonl')?.text)
  expect(archive.search({ kinds: ['tool-result'] }).matches.every(({ file }) => file === 'deep/codex.jsonl')).toBe(true)
  archive.close()
})

test('copies of an entry take no room from other matches', () => {
  const folder = folders.next()
  const copied = session().user('heron')
  for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, `${name}.jsonl`), copied.text)
  writeFileSync(join(folder, 'whole.jsonl'), copied.user('a heron that stands in the water all day').text)
  const archive = openArchive(folder, { folder: false })
  const found = (limit: number) => {
    const { matches, more } = archive.search({ words: 'heron', limit })
    return { snippets: matches.map(({ snippet }) => snippet), more }
  }
  const both = ['heron', 'a heron that stands in the water all day']
  expect(found(2)).toEqual({ snippets: both, more: false })
  expect(found(1)).toEqual({ snippets: ['heron'], more: false })
  archive.close()
})

test('entries of other agents, whose ids come again in every file, are read from their own', () => {
  const folder = folders.next()
  for (const seed of [3, 4]) {
    const records = generatePiSession({ seed, turns: 3, version: 1 }).records
    writeFileSync(join(folder, `pi-${seed}.jsonl`), records.map(serialize).join(''))
    const rollout = generateCodexRollout({ seed, turns: 4, compactions: 1 }).records
    writeFileSync(join(folder, `codex-${seed}.jsonl`), rollout.map(serialize).join(''))
  }
  const archive = openArchive(folder, { folder: false })
  const cards = archive.search({ limit: 100 }).matches
  const files = cards.map(({ id }) => [...new Set(archive.read(id)?.cards.map(({ file }) => file))])
  archive.close()
  expect(cards.length).toBeGreaterThan(50)
  expect(files).toEqual(cards.map(({ file }) => [file]))
})
