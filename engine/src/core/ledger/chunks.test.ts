import fc from 'fast-check'
import { expect, test } from 'vitest'
import { eachChunk } from './chunks.ts'
import { readChunk } from './names.ts'

/** What a chunk is, said plainly: slower, and it cuts out every word. */
const chunk = /#\d{1,6}\b|[\w$~@./][\w$~.@/:+#?=&%-]{2,}/g

function chunksIn(text: string): readonly string[] {
  const found: string[] = []
  eachChunk(text, (word) => found.push(word))
  return found
}

const scraps = [
  'a',
  'word',
  'Word',
  'WORD',
  'getIt',
  'HTTPServer',
  '12',
  '482',
  '12345',
  '123456',
  '#482',
  '#',
  '##',
  '.',
]
  .concat(['/', '-', '_', ':', '://', 'https', '=', '?', '&', '%', '+', '$', '~', '@', ' ', '\n', 'é', '"', '(', 'x1'])
  .concat(['a.ts', 'v1.2.3', 'deadbeef', 'feed', '01f', 'AKIA', 'sk-ant-', '2026-01-28T23:04:05Z', 'org.a.b', '文'])
const texts = fc.array(fc.constantFrom(...scraps), { maxLength: 24 }).map((parts) => parts.join(''))

test('every chunk that holds a name is found, in order, and nothing that is no chunk', () => {
  fc.assert(
    fc.property(fc.oneof(texts, fc.string({ unit: 'binary' })), (text) => {
      const all = text.match(chunk) ?? []
      const found = chunksIn(text)
      expect(found.flatMap(readChunk)).toEqual(all.flatMap(readChunk))
      expect(all).toEqual(expect.arrayContaining([...found]))
    }),
    { numRuns: 2000 },
  )
})

test('plain words and short numbers are not cut out', () => {
  expect(chunksIn('The parser reads 120 lines, then Stops: OK? see a/b, getIt or #12.')).toEqual([
    'a/b',
    'getIt',
    '#12',
  ])
})
