import { closeSync, openSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { temporaryFolders } from '../testing/sessions.ts'
import { blocksFromEnd, forEachLine, type Line, readFully } from './entries.ts'

const folders = temporaryFolders()
afterAll(folders.remove)
const path = join(folders.next(), 'lines')

const textOf = ({ buffer, start, end }: Line) => buffer.toString('latin1', start, end)

function forwards(): readonly (readonly unknown[])[] {
  const lines: unknown[][] = []
  forEachLine(path, (line) => lines.push([textOf(line), line.offset, line.ended]))
  return lines
}

function backwards(): readonly (readonly unknown[])[] {
  const file = openSync(path, 'r')
  try {
    let lines: unknown[][] = []
    for (const block of blocksFromEnd(file, statSync(path).size)) {
      lines = [...block.map((line) => [textOf(line), line.offset, line.ended]), ...lines]
    }
    return lines
  } finally {
    closeSync(file)
  }
}

/** Short lengths, and lengths around the size of a chunk and of the first block. */
const length = fc.oneof(fc.nat({ max: 40 }), fc.integer({ min: (1 << 18) - 3, max: (1 << 18) + 3 }))

test('a file has the same lines forwards and backwards, however long they are', () => {
  fc.assert(
    fc.property(fc.array(length, { maxLength: 8 }), fc.boolean(), (lengths, isEnded) => {
      const lines = lengths.map((count, at) => String.fromCharCode(97 + at).repeat(count))
      const text = lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : '')
      writeFileSync(path, text)
      const expected: unknown[][] = []
      let offset = 0
      for (const [at, line] of lines.entries()) {
        const ended = at < lines.length - 1 || isEnded
        if (ended || line !== '') expected.push([line, offset, ended])
        offset += line.length + 1
      }
      expect(forwards()).toEqual(expected)
      expect(backwards()).toEqual(expected)
    }),
    { numRuns: 60 },
  )
})

test('a part of a file is read with the offsets and line numbers of the whole', () => {
  writeFileSync(path, 'one\ntwo\nthree\nfour')
  const seen: unknown[] = []
  const visit = (line: Line) => seen.push([textOf(line), line.offset, line.number]) < 2
  forEachLine(path, visit, { from: 4, linesBefore: 1 })
  expect(seen).toEqual([
    ['two', 4, 2],
    ['three', 8, 3],
  ])
})

test('a file that is truncated while it is read is an error, not an endless loop', () => {
  writeFileSync(path, 'one\ntwo\n')
  const file = openSync(path, 'r')
  truncateSync(path, 2)
  expect(() => readFully(file, Buffer.alloc(6), 0)).toThrow('truncated to 2 bytes')
  closeSync(file)
})
