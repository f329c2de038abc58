import { expect, test } from 'vitest'
import { gist, withoutAnnouncement } from './report.ts'

test.each([
  ['Let me read the file.', ''],
  ['Now update the router and the tests.', ''],
  ['The cache was stale. Let me clear it:', 'The cache was stale.'],
  ['Both fail.\n\nI need to look at the parser.', 'Both fail.'],
  ['Now the tests pass.', 'Now the tests pass.'],
  ['Done. Let me know if it works.', 'Done. Let me know if it works.'],
  ["I'll wait for your answer.", "I'll wait for your answer."],
])('of %j the announcement of the next call is left out', (text, rest) => {
  expect(withoutAnnouncement(text)).toBe(rest)
})

test('the gist of a report is its first prose, without code, tables, headings, questions and lead-ins', () => {
  const report = [
    '## Result',
    'Here is what I found:',
    '```ts',
    'const a = 1',
    '```',
    '| a | b |',
    '1. The parser drops empty lines. It should keep them.',
    '2. The writer is fine',
    'Shall I fix it?',
  ].join('\n')
  expect(gist(report, 400)).toBe('The parser drops empty lines. It should keep them. The writer is fine')
  expect(gist(report, 40)).toBe('The parser drops empty lines.')
})

test('a report without prose is shown by its beginning and its end', () => {
  expect(gist('```\na\n```', 40)).toBe('```\na\n```')
})
