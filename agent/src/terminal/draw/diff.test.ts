// Diffs at several widths, with and without colors.
import { formatPatch, structuredPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSheet } from '../../render/sheet.ts'
import { columnsOf } from '../../render/width.ts'
import { changedLines, diffLines } from './diff.ts'
import { readPatch } from './patch.ts'

const plain = (width: number) => createSheet({ width, isColored: false })
const colored = createSheet({ width: 80, isColored: true })
const patch = (before: string, after: string) =>
  formatPatch(structuredPatch('a', 'a', before, after, '', '', { context: 1 }))
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at + 1}\n`).join('')
const changed = patch(numbered(12), numbered(12).replace('line 2\n', 'row 2\n').replace('line 10\n', 'line 10\nnew\n'))

test('both numbers of a line are in the gutter, and lines that are left out have a mark', () => {
  expect(diffLines(changed, plain(80))).toEqual([
    ' 1  1   line 1',
    ' 2    - line 2',
    '    2 + row 2',
    ' 3  3   line 3',
    '    ⋮',
    '10 10   line 10',
    '   11 + new',
    '11 12   line 11',
  ])
})

test('in 40 columns there is one number, and a long line continues after its mark', () => {
  const long = 'a very long line that does not fit into the room that it has'
  expect(diffLines(patch('x\n', `${long}\n`), plain(40))).toEqual([
    '1 - x',
    '1 + a very long line that does not fit',
    '  + into the room that it has',
  ])
})

test('a new file has one column of numbers', () => {
  expect(diffLines(patch('', 'a\nb\n'), plain(80))).toEqual(['1 + a', '2 + b'])
})

test('without numbers there is only the mark', () => {
  expect(diffLines('--- a\n+++ a\n@@\n one\n-two\n+three\n', plain(80))).toEqual([' one', '-two', '+three'])
})

test('lines that look like heads of a diff are shown and counted', () => {
  const diff = patch('-- a comment\n@@ x\nz\n', '++ b\nz\n')
  expect(diffLines(diff, plain(80))).toEqual(['1   - -- a comment', '2   - @@ x', '  1 + ++ b', '3 2   z'])
  expect(changedLines(diff)).toBe('+1 −2')
})

test('changed words are marked in the color of their line, unless nearly all of them changed', () => {
  const marked = diffLines(patch('const total = sum(a)\n', 'const total = sum(b)\n'), colored)
  expect(marked[0]).toContain(
    '\u001b[31mconst total = sum(\u001b[39m\u001b[31m\u001b[7ma\u001b[27m\u001b[39m\u001b[31m)',
  )
  expect(marked[1]).toContain('\u001b[32m\u001b[7mb\u001b[27m\u001b[39m')
  expect(diffLines(patch('const total = sum(a)\n', 'return nothing at all\n'), colored).join('')).not.toContain(
    '\u001b[7m',
  )
})

test('changes of white space can be seen', () => {
  expect(diffLines(patch('a \n', 'a\n'), plain(80))).toEqual(['1   - a·', '  1 + a'])
  expect(diffLines(patch('\tabc\n', '  abc\n'), plain(80))).toEqual(['1   - →   abc', '  1 +   abc'])
  expect(diffLines(patch('abc\r\n', 'abc\n'), plain(80))).toEqual(['1   - abc␍', '  1 + abc'])
  expect(diffLines(patch('abc', 'abc\n'), plain(80))).toEqual(['1   - abc', 'No newline at end of file', '  1 + abc'])
})

test('an empty line at the end is kept, and its space is shown', () => {
  expect(diffLines(patch('x\n\n', 'y\n\n'), plain(80))).toEqual(['1   - x', '  1 + y', '2 2   '])
  expect(diffLines(patch('x\n', 'x\n  \n'), plain(80))).toEqual(['1 1   x', '  2 + ··'])
})

test('an empty line that has lost its mark counts as kept', () => {
  expect(diffLines('@@ -1,3 +1,3 @@\n x\n\n-y\n+z\n', plain(80))).toEqual(['1 1   x', '2 2   ', '3   - y', '  3 + z'])
})

test('a diff of several files names each', () => {
  const diff = ['a', 'src/b.ts'].map(
    (name) => `diff --git a/${name} b/${name}\nindex 1..2 100644\n--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-x\n+y\n`,
  )
  expect(diffLines(diff.join(''), plain(80))).toEqual(['a', '1   - x', '  1 + y', 'src/b.ts', '1   - x', '  1 + y'])
})

test('a diff that is not complete says so', () => {
  expect(diffLines('--- a\n+++ a\n@@ -1,5 +1,5 @@\n-x\n… (the rest of the diff is left out)', plain(80))).toEqual([
    '1 - x',
    '… (the rest of the diff is left out)',
  ])
})

test('whatever changed, every line fits and every changed line is there once', () => {
  const texts = fc
    .array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 12 })
    .map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(texts, texts, fc.integer({ min: 16, max: 100 }), (before, after, width) => {
      const made = structuredPatch('a', 'a', before, after, '', '', { context: 3 })
      const diff = formatPatch(made)
      for (const line of diffLines(diff, plain(width))) expect(columnsOf(line)).toBeLessThanOrEqual(width)
      const signs = made.hunks.flatMap(({ lines }) => lines.map((line) => line[0]))
      const types = { added: '+', removed: '-', kept: ' ' } as const
      const read = readPatch(diff).flatMap((line) => ('parts' in line ? [types[line.type]] : []))
      expect(read).toEqual(signs.filter((sign) => sign !== '\\'))
    }),
  )
})
