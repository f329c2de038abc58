// Where ripgrep is installed, our own search must find the same lines.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setFolder } from '../../testing/folder.ts'
import { findRipgrep, search } from './search.ts'

const temporary = setFolder()
const ripgrep = findRipgrep(process.env.PATH)
if (ripgrep === undefined) console.warn('ripgrep is not installed: its results are not compared with ours.')

const line = fc.constantFrom(
  'foo',
  'bar foo',
  '',
  '  indented',
  'a.b',
  'Foo',
  'tab\there',
  'end}',
  '{"a": [1, 2]}',
  'naïve',
  '日本 foo',
  'x'.repeat(400),
)
const text = fc.tuple(
  fc.array(line, { maxLength: 6 }),
  fc.constantFrom('\n', '\r\n'),
  fc.constantFrom('', '\n', '\u0000'),
)
const pattern = fc.constantFrom(
  ...[
    'foo',
    '^foo$',
    'o+',
    '^$',
    'x*',
    'a.b',
    'a\\.b',
    '\\bfoo\\b',
    '[A-Z]',
    '(?i)FOO',
    'foo|bar',
    '^\\s+',
    '\\d+',
    '\\w+\\s\\w+',
    '\\{',
    '"a"',
    'ï',
    '日',
    '$',
  ],
  ...[
    'foo\\nbar',
    'bar.*end',
    '\\}\\n',
    'x{400}',
    'o{2}',
    '[^a-z]',
    '.',
    '(foo',
    'a{2',
    '\\t',
    '\\"a\\"',
    'a\\/b|\\\\"',
    '\\-',
    '[\\w-]+',
    '[^\\d]',
    '\\W',
  ],
)

test.skipIf(ripgrep === undefined)(
  'with and without ripgrep the same lines are found',
  async () => {
    const folder = temporary()
    const { signal } = new AbortController()
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 3 }),
        pattern,
        fc.boolean(),
        fc.boolean(),
        async (texts, given, ignoreCase, multiline) => {
          const files = texts.map(([lines, end, last], at) => {
            const path = join(folder, `${at}.txt`)
            writeFileSync(path, lines.join(multiline ? '\n' : end) + last)
            return path
          })
          const wanted = { files, pattern: given, ignoreCase, multiline, most: 1_000 }
          const theirs = await search(wanted, { signal, ripgrep })
          const own = await search(wanted, { signal, ripgrep: undefined })
          expect(own.type).toBe(theirs.type)
          if (theirs.type === 'found') expect(own).toEqual(theirs)
        },
      ),
      { numRuns: 150 },
    )
  },
  120_000,
)
