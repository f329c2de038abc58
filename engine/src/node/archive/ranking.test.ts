import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import { temporaryFolders } from '../testing/sessions.ts'
import { openArchive } from './archive.ts'
import { sessionOf } from './files.ts'

const folders = temporaryFolders()
afterAll(folders.remove)

function searcher(texts: readonly string[]) {
  const path = join(folders.next(), 'session.jsonl')
  const told = texts.reduce((builder, text) => builder.user(text), session())
  writeFileSync(path, told.text)
  const archive = openArchive(path, { folder: false })
  const search = (words: string) => archive.search({ words })
  return { search, found: (words: string) => search(words).matches.map(({ id }) => id), archive }
}

const talk = [
  'Good to see you! How have you been?',
  'We were at the lake. What is it that you do when you are there?',
  'Melanie painted a sunrise over the lake',
  'The build of the parser failed again with E_PARSE in src/parser/lexer.ts',
  'The parser is fine now',
  'Nothing else to do for the build',
]

test('a question finds its answer, in other forms of its words, before what shares only words without a topic', () => {
  const { found, archive } = searcher(talk)
  expect(found('When did Melanie paint the sunrises, and what was it like?')).toEqual(['u3'])
  expect(found('Why does the parser fail to build?')[0]).toBe('u4')
  archive.close()
})

test('a query of words without a topic is searched as it is', () => {
  const { search, archive } = searcher(talk)
  const { matched, matches } = search('how have you been')
  expect([matched, matches[0]?.id]).toEqual(['all', 'u1'])
  archive.close()
})

test('a phrase in quotes must be there as typed, whatever else matches; if nowhere, the other words are searched', () => {
  const { found, search, archive } = searcher(talk)
  expect(found('"the parser" E_PARSE lexer')).toEqual(['u4', 'u5'])
  expect(found('"parsers"')).toEqual([])
  expect(found('build "parsers"')).toEqual(expect.arrayContaining(['u4', 'u6']))
  expect(search('build "parsers"').matched).toBe('any')
  archive.close()
})

test('paths and identifiers are found as typed, first among what has other words of the question', () => {
  const { found, archive } = searcher([...talk, 'the lexer.ts of the src folder: the parser was built'])
  expect(found('what about src/parser/lexer.ts and the parser?')[0]).toBe('u4')
  expect(found('which build ended with E_PARSE?')[0]).toBe('u4')
  archive.close()
})

test('a text counts once for all forms of a word, however rare the form is', () => {
  const { found, archive } = searcher([
    'plan plans planned planning the garden',
    ...Array.from({ length: 20 }, (_, at) => `we plan item${at}`),
    'the plan for the zeppelin',
  ])
  expect(found('zeppelin plan')[0]).toBe('u22')
  expect(found('zeppelin planning')[0]).toBe('u22')
  archive.close()
})

test('a text with two very common words is found, however old it is', () => {
  const common = Array.from({ length: 1100 }, (_, at) => (at % 2 === 0 ? `heron ${at}` : `crane ${at}`))
  const { found, search, archive } = searcher(['heron and crane', ...common, ...common])
  expect([found('crane heron')[0], search('crane heron').matched]).toEqual(['u1', 'all'])
  archive.close()
})

test('the order is that of a new archive after the file has grown in the middle of a line', () => {
  const path = join(folders.next(), 'session.jsonl')
  const { text } = talk.reduce((builder, one) => builder.user(one), session())
  const half = Math.floor(text.length * 0.6)
  writeFileSync(path, text.slice(0, half))
  const grown = openArchive(path, { folder: false })
  appendFileSync(path, text.slice(half))
  grown.refresh()
  grown.refresh()
  const whole = openArchive(path, { folder: false })
  for (const words of ['parser build', 'lake sunrise', 'what to do'])
    expect(grown.search({ words })).toEqual(whole.search({ words }))
  grown.close()
  whole.close()
})

test('of equal texts the one comes first whose session has the other words', () => {
  const folder = folders.next()
  const of = (name: string, texts: readonly string[]) =>
    writeFileSync(
      join(folder, name),
      texts.reduce((builder, one) => builder.user(one), session({ ids: (id) => `${name}-${id}` })).text,
    )
  of('about.jsonl', ['the heron', 'nest of a bird', 'more of the nest'])
  of('other.jsonl', ['the heron', 'a car', 'more of the car'])
  const archive = openArchive(folder, { folder: false })
  const heron = archive.search({ words: 'heron nest' }).matches.filter(({ snippet }) => snippet === 'the heron')
  expect(heron.map(({ file }) => file)).toEqual(['about.jsonl', 'other.jsonl'])
  archive.close()
})

test.each([
  ['a/one.jsonl', 'a/one'],
  ['a/one/subagents/agent-1.jsonl', 'a/one'],
  ['a/one/tool-results/toolu_1.txt', 'a/one'],
  ['v1.2.jsonl', 'v1.2'],
])('%s belongs to the session %s', (name, owner) => {
  expect(sessionOf(name)).toBe(owner)
})
