import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { generateCodexRollout, generatePiSession, serialize, session } from '../../testing/index.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { openArchive } from './archive.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

test('a file that was written over by one of the same length is read again', () => {
  const path = join(folders.next(), 'session.jsonl')
  const write = (word: string, seconds: number) => {
    writeFileSync(path, session().user(`look for the ${word}`).text)
    utimesSync(path, seconds, seconds)
  }
  write('heron', 1_000)
  const archive = openArchive(path, { folder: false })
  const found = (words: string) => archive.search({ words }).matches.map(({ snippet }) => snippet)
  expect(found('heron')).toEqual(['look for the heron'])
  write('crane', 2_000)
  archive.refresh()
  expect([found('crane'), found('heron')]).toEqual([['look for the crane'], []])
  archive.close()
})

test('the own run of a compaction is not searched, unless it is the file that was asked for', () => {
  const folder = folders.next()
  const [main, run] = [join(folder, 'session.jsonl'), join(folder, 'agent-acompact-1.jsonl')]
  writeFileSync(main, session().user('look for the heron').text)
  writeFileSync(run, session().user('summarize the heron').text)
  const found = (place: string) => {
    const archive = openArchive(place, { folder: false })
    const { matches } = archive.search({ words: 'heron' })
    archive.close()
    return matches.map(({ snippet }) => snippet)
  }
  expect([found(folder), found(run)]).toEqual([['look for the heron'], ['summarize the heron']])
})

test('what has the word as typed comes first, and what has another form of it after that', () => {
  const path = join(folders.next(), 'session.jsonl')
  writeFileSync(path, session().user('the herons fly').user('a heron stands').user('a crane stands').text)
  const archive = openArchive(path, { folder: false })
  const found = (limit: number) => archive.search({ words: 'heron', limit }).matches.map(({ snippet }) => snippet)
  expect([found(1), found(5)]).toEqual([['a heron stands'], ['a heron stands', 'the herons fly']])
  archive.close()
})

test('a compaction of a sub-agent begins no epoch of the conversation', () => {
  const path = join(folders.next(), 'session.jsonl')
  const { text } = session()
    .user('the first heron')
    .sidechain('agent1', (agent) => agent.user('its heron').boundary({ trigger: 'auto' }).summary('Of a heron.'))
    .user('the second heron')
    .boundary({ trigger: 'auto' })
    .summary('They saw herons.')
    .user('the third heron')
  writeFileSync(path, text)
  const archive = openArchive(path, { folder: false })
  const { matches } = archive.search({ words: 'heron', kinds: ['human'], order: 'newest' })
  archive.close()
  const epochs = Object.fromEntries(matches.map(({ snippet, epoch }) => [snippet, epoch]))
  expect(epochs).toEqual({ 'the first heron': 0, 'its heron': 0, 'the second heron': 0, 'the third heron': 1 })
})

test('a limit below one is one, and more is said only where there is more', () => {
  const path = join(folders.next(), 'session.jsonl')
  writeFileSync(path, session().user('heron one').user('heron two').user('heron three').text)
  const archive = openArchive(path, { folder: false })
  const shape = (limit: number) => {
    const { matches, more } = archive.search({ words: 'heron', limit })
    return [matches.length, more]
  }
  expect([0, -5, 2, 3, 4].map(shape)).toEqual([
    [1, true],
    [1, true],
    [2, true],
    [3, false],
    [3, false],
  ])
  archive.close()
})

test.each([
  ['pi', generatePiSession({ seed: 3, turns: 2, version: 1 }).records],
  ['codex', generateCodexRollout({ seed: 3, turns: 2 }).records],
])('ids of %s are only its own: the same id in another file is something else', (_, records) => {
  const folder = folders.next()
  const countIn = (names: readonly string[]) => {
    for (const name of names) writeFileSync(join(folder, name), records.map(serialize).join(''))
    const archive = openArchive(folder, { folder: false })
    const { matches } = archive.search({ limit: 100 })
    archive.close()
    return matches.length
  }
  const one = countIn(['one.jsonl'])
  expect(one).toBeGreaterThan(3)
  expect(countIn(['one.jsonl', 'two.jsonl'])).toBe(2 * one)
})

test('a folder that several projects share can be narrowed to one of them', () => {
  const folder = folders.next()
  for (const name of ['heron', 'crane'])
    writeFileSync(join(folder, `${name}.jsonl`), session().user(`a ${name} bird`).text)
  const archive = openArchive(folder, { folder: false, includes: (path) => path.endsWith('heron.jsonl') })
  expect(archive.search({ words: 'bird' }).matches.map(({ snippet }) => snippet)).toEqual(['a heron bird'])
  archive.close()
})
