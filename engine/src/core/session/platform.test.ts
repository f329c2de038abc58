import { expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
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
