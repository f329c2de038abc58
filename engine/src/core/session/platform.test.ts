import { expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import { noPosition } from '../ports/store.ts'
import { recallFrom } from './platform.ts'

const entriesOf = (text: string) =>
  session()
    .user(text)
    .records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } }))

test('a snippet holds no half characters, neither cut by us nor said by somebody', () => {
  const text = `${'😀'.repeat(100)} heron ${'😀'.repeat(300)} \ud83d`
  for (const shift of ['', 'x']) {
    const { matches } = recallFrom(entriesOf(`${shift}${text}`), 'heron')
    expect(matches.map(({ snippet }) => snippet.isWellFormed())).toEqual([true])
    expect(matches[0]?.snippet).toContain('😀 heron 😀')
  }
})

test('of a pasted book only the first words are looked for', () => {
  const book = Array.from({ length: 1000 }, (_, at) => `word${at}`)
  expect(recallFrom(entriesOf(book.slice(0, 32).join(' ')), book.join(' ')).matches).toHaveLength(1)
  expect(recallFrom(entriesOf(book.slice(0, 31).join(' ')), book.join(' ')).matches).toHaveLength(0)
})

test('there is more if the limit cut the list, and not if the list was just as long', () => {
  const { records } = session().user('a heron').assistant('a heron too').user('heron')
  const entries = records.map((record) => ({ record, position: noPosition }))
  expect(recallFrom(entries, 'heron', 2)).toMatchObject({ more: true, matches: [{}, {}] })
  expect(recallFrom(entries, 'heron', 3)).toMatchObject({ more: false, matches: [{}, {}, {}] })
})
