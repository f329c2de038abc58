// Markdown as lines for a terminal.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSheet } from '../../render/sheet.ts'
import { columnsOf } from '../../render/width.ts'
import { markdownLines, splitFinished } from './markdown.ts'

const plain = (width: number) => createSheet({ width, isColored: false })

test('headings, lists, code, tables, quotes and links are drawn for 40 columns', () => {
  const text = [
    '# The plan',
    'Some *words* and **more** of them, with `code` and [a link](https://example.com).',
    '- first item that is longer than the line it stands on',
    '  - nested',
    '- [x] done',
    '',
    '1. one\n2. two',
    '',
    '```ts\nconst a = 1\n\nlet b\n```',
    '',
    '| name | size |\n| --- | ---: |\n| a | 1 |',
    '',
    '> quoted',
  ].join('\n')
  expect(markdownLines(text, plain(40)).join('\n')).toBe(
    `
The plan

Some words and more of them, with code
and a link (https://example.com).

- first item that is longer than the
  line it stands on
  - nested
- [x] done

1. one
2. two

  ts
  const a = 1

  let b

name  size
────  ────
a     1

│ quoted`.slice(1),
  )
})

test('a table that does not fit continues below itself', () => {
  const table = '| file | what changed |\n|--|--|\n| src/main.ts | the command line reads its options |'
  expect(markdownLines(table, plain(24))).toEqual([
    '- file: src/main.ts',
    '  what changed: the',
    '    command line reads',
    '    its options',
  ])
})

test('colors are put on words, and escape sequences of the text are gone', () => {
  const colored = createSheet({ width: 40, isColored: true })
  expect(markdownLines('**bold** \u001b[31mred\u0007', colored)).toEqual(['\u001b[1mbold\u001b[22m red�'])
})

test('blocks that more text cannot change are finished', () => {
  expect(splitFinished('One.\n\nTwo')).toEqual({ finished: 'One.\n\n', rest: 'Two' })
  expect(splitFinished('One\nstill one')).toEqual({ finished: '', rest: 'One\nstill one' })
  expect(splitFinished('```\na\n\nb')).toEqual({ finished: '', rest: '```\na\n\nb' })
})

test('a code block that continues for long is cut between lines, and stays code', () => {
  const text = `\`\`\`ts\n${'let a = 1\n'.repeat(1_000)}let b`
  const { finished, rest } = splitFinished(text)
  expect(finished).toBe(`\`\`\`ts\n${'let a = 1\n'.repeat(1_000)}\`\`\`\n`)
  expect(rest).toBe('```ts …\nlet b')
})

test('whatever comes in, in whatever pieces, nothing is lost and no line is too wide', () => {
  const pieces = fc.array(
    fc.constantFrom(
      '# a',
      '\n',
      '\n\n',
      '- b',
      '  ',
      '```',
      '|x|y|',
      '|-|-|',
      'word ',
      '**',
      '`',
      '\t',
      '> ',
      '1. ',
      '日本',
      '\r\n',
      '<b>',
    ),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(pieces, (parts) => {
      let finished = ''
      let rest = ''
      for (const part of parts) {
        const split = splitFinished(rest + part)
        finished += split.finished
        rest = split.rest
      }
      expect(finished + rest).toBe(parts.join(''))
      for (const line of markdownLines(parts.join(''), plain(40))) expect(columnsOf(line)).toBeLessThanOrEqual(40)
    }),
  )
})
