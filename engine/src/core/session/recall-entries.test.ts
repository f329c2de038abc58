import { expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import { noPosition } from '../ports/session-store.ts'
import { recallFrom } from './recall-entries.ts'

const entriesOf = (text: string) =>
  session()
    .user(text)
    .records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } }))

test('a snippet holds no half characters, neither cut by us nor said by somebody', () => {
  const text = `${'😀'.repeat(100)} heron ${'😀'.repeat(300)} \ud83d`
  for (const shift of ['', 'x']) {
    const { matches } = recallFrom(entriesOf(`${shift}${text}`), 'heron', 10)
    expect(matches.map(({ snippet }) => snippet.isWellFormed())).toEqual([true])
    expect(matches[0]?.snippet).toContain('😀 heron 😀')
  }
})

test('of a pasted book only the first words are looked for', () => {
  const book = Array.from({ length: 1000 }, (_, at) => `word${at}`)
  expect(recallFrom(entriesOf(book[31] ?? ''), book.join(' '), 10).matches).toHaveLength(1)
  expect(recallFrom(entriesOf(book[32] ?? ''), book.join(' '), 10).matches).toHaveLength(0)
})

test('of a call and its result, the call is among the best and the result comes last', () => {
  const entries = session()
    .user('a heron once')
    .toolUse('t1', 'Bash', { command: 'echo heron twice' })
    .toolResult('t1', 'heron twice')
    .records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } }))
  const kinds = (limit: number) => recallFrom(entries, 'heron twice', limit).matches.map(({ kind }) => kind)
  expect([kinds(10), kinds(2)]).toEqual([
    ['tool-use', 'human', 'tool-result'],
    ['tool-use', 'human'],
  ])
})

test('a call shows what its result says about the words, and nothing where the result has none of them', () => {
  const entries = session()
    .toolUse('t1', 'Bash', { command: 'git commit -m "Feed the heron"' })
    .toolResult('t1', '[main 1a738a5] Feed the heron')
    .toolUse('t2', 'Bash', { command: 'grep heron src' })
    .toolResult('t2', 'Nothing.')
    .records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } }))
  const { matches } = recallFrom(entries, 'heron', 10)
  expect(Object.fromEntries(matches.map(({ id, kind, snippet }) => [`${kind} ${id}`, snippet]))).toEqual({
    'tool-use a1': 'Bash command: git commit -m "Feed the heron" → [main 1a738a5] Feed the heron',
    'tool-use a2': 'Bash command: grep heron src',
    'tool-result t1': '[main 1a738a5] Feed the heron',
  })
})

test('a question finds its answer as it does in an archive: other forms, rare words, phrases, parts of names', () => {
  const texts = [
    'Good to see you! How have you been?',
    'Melanie painted a sunrise over the lake',
    'The build failed with E_PARSE in src/parser/lexer.ts; see parseRecord',
    'The parser is fine now',
    'start of an article',
  ]
  const records = texts.reduce((builder, text) => builder.user(text), session()).records
  const entries = records.map((record) => ({ record, position: { line: 1, offset: 0, length: 1, nth: 0 } }))
  const found = (words: string) => recallFrom(entries, words, 10).matches.map(({ id }) => id)
  expect(found('When did Melanie paint the sunrises?')).toEqual(['u2'])
  expect(found('why does the parser build fail?')[0]).toBe('u3')
  expect(found('"the parser"')).toEqual(['u4'])
  expect(found('record')).toEqual(['u3'])
  expect(found('src/parser')).toEqual(['u3'])
  expect(found('"paint"')).toEqual([])
  expect(found('art')).toEqual([])
  expect(found('art*')).toEqual(['u5'])
  expect(found('how have you been')[0]).toBe('u1')
  expect(found('?')).toEqual([])
})

test('there is more if the limit cut the list, and not if the list was just as long', () => {
  const { records } = session().user('a heron').assistant('a heron too').user('heron')
  const entries = records.map((record) => ({ record, position: noPosition }))
  expect(recallFrom(entries, 'heron', 2)).toMatchObject({ more: true, matches: [{}, {}] })
  expect(recallFrom(entries, 'heron', 3)).toMatchObject({ more: false, matches: [{}, {}, {}] })
})

test.each([
  ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
  ['yesterday', undefined],
  [5, undefined],
])('a match of a record with the timestamp %o has the time %o', (timestamp, time) => {
  const record = { type: 'user', uuid: 'u', timestamp, message: { role: 'user', content: 'The heron is here.' } }
  const { matches } = recallFrom([{ record, position: noPosition }], 'heron', 5)
  expect(matches.map((match) => match.time)).toEqual([time])
})
