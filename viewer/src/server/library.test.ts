import { serialize, session } from 'everlong/internal/testing'
import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from '../testing/sessions.ts'
import { createLibrary } from './library.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

test('the two sessions that were looked at last stay open, and one that has grown is read again', () => {
  const write = (name: string, words: string) =>
    folder.write(`${name}.jsonl`, session().user(words).records.map(serialize).join(''))
  const paths = ['a', 'b', 'c'].map((name) => write(name, `I am ${name}.`))
  const library = createLibrary({ paths: [folder.path], env: {} })
  const ids = new Map(library.rows().map(({ path, id }) => [path, id]))
  const [a = '', b = '', c = ''] = paths.map((path) => ids.get(path) ?? '')
  const first = library.open(a)
  const second = library.open(b)
  expect(library.open(a)).toBe(first)
  library.open(c)
  expect(library.open(a)).toBe(first)
  expect(library.open(b)).not.toBe(second)
  const grown = library.open(b)
  write('b', 'I am b, and I have grown.')
  expect(library.open(b)).not.toBe(grown)
  expect(library.open('unknown')).toBe(undefined)
})
