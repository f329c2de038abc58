import { expect, test } from 'vitest'
import { createSheet } from '../../render/sheet.ts'
import { itemLines } from './items.ts'

const sheet = createSheet({ width: 32, isColored: false })
const call = {
  id: 'a',
  name: 'TodoWrite',
  subject: '1 of 3 done',
  input: '',
  outcome: 'noted',
  output: '',
  isError: false,
}
const todos = [
  { text: 'Read', status: 'completed' },
  { text: 'Write\nthe code', status: 'in_progress' },
  { text: 'Test all of it, on every system there is', status: 'pending' },
] as const

test('the list of steps is shown with ticks, one line each', () => {
  expect(itemLines({ type: 'call', call: { ...call, todos }, hasGap: false }, sheet)).toEqual([
    '● TodoWrite 1 of 3 done · noted',
    '    ✔ Read',
    '    ▸ Write the code',
    '    ☐ Test all of it, on every…',
  ])
})

test('a list that was refused is not shown as if it were there', () => {
  const refused = { ...call, todos, isError: true, outcome: 'wrong' }
  expect(itemLines({ type: 'call', call: refused, hasGap: false }, sheet)).toHaveLength(1)
})

test.each([
  [
    'a failed command ends with its last lines',
    { output: 'Exit code 1\n\n1\n2\n3\n4\n5\n6: a line that is longer than the screen\n', isError: true },
    [
      '    … 1 line before, Ctrl+O sho…',
      ...['2', '3', '4', '5'].map((line) => `    ${line}`),
      '    6: a line that is longer th…',
    ],
  ],
  ['one that printed nothing has none', { output: 'Exit code 1', isError: true }, []],
  ['and one that succeeded has none either', { output: '1\n2\n3', isError: false }, []],
])('%s', (_, shown, lines) => {
  const failed = { ...call, name: 'Bash', subject: 'npm test', outcome: 'Exit code 1', ...shown }
  expect(itemLines({ type: 'call', call: failed, hasGap: false }, sheet).slice(1)).toEqual(lines)
})

const lineOf = (shown: object, width: number) =>
  itemLines({ type: 'call', call: { ...call, ...shown }, hasGap: false }, createSheet({ width, isColored: false }))

test('why a call failed can be read: next to its name, or below it, in at most three lines', () => {
  const failed = { name: 'Edit', subject: 'a.ts', isError: true }
  const why = 'a.ts has not been read.'
  expect(lineOf({ ...failed, outcome: why }, 37)).toEqual([`✗ Edit a.ts · ${why}`])
  expect(lineOf({ ...failed, outcome: why }, 36)).toEqual(['✗ Edit a.ts', `    ${why}`])
  const long = 'a.ts has not been read in this conversation. Read it first, and then edit it again.'
  expect(lineOf({ ...failed, outcome: long }, 30)).toEqual([
    '✗ Edit a.ts',
    '    a.ts has not been read in',
    '    this conversation. Read it',
    '    first, and then edit it a…',
  ])
})

test('a command that was refused shows the reason once', () => {
  const why = 'Permission was denied: plan mode is on, so nothing may be changed.'
  const refused = { name: 'Bash', subject: 'git log --oneline; touch x', isError: true, outcome: why, output: why }
  expect(lineOf(refused, 60)).toEqual([
    '✗ Bash git log --oneline; touch x',
    '    Permission was denied: plan mode is on, so nothing may',
    '    be changed.',
  ])
})

test('a result gets the room that its subject does not need', () => {
  const answer = 'mcp__prices__price_of, mcp__prices__name_of'
  const found = { name: 'ToolSearch', subject: '“x”', outcome: answer }
  expect(lineOf(found, 62)).toEqual([`● ToolSearch “x” · ${answer}`])
  expect(lineOf(found, 61)).toEqual([`● ToolSearch “x” · ${answer.slice(0, -2)}…`])
  expect(lineOf({ ...found, subject: 'y'.repeat(60), outcome: '3 lines' }, 40)).toEqual([
    `● ToolSearch ${'y'.repeat(16)}… · 3 lines`,
  ])
})

test('a call that took a while says how long', () => {
  const test = { name: 'Bash', subject: 'npm test', outcome: '13 lines' }
  expect(
    [undefined, 1_000, 61_400, 120_000].map(
      (tookMs) => lineOf({ ...test, ...(tookMs === undefined ? {} : { tookMs }) }, 60)[0],
    ),
  ).toEqual([
    '● Bash npm test · 13 lines',
    '● Bash npm test · 13 lines, 1 s',
    '● Bash npm test · 13 lines, 61 s',
    '● Bash npm test · 13 lines, 2 min',
  ])
})

const prompt = (lines: readonly string[]) =>
  itemLines({ type: 'prompt', prompt: { text: lines.join('\n') }, hasGap: false }, sheet)

test('a long message is folded, and the words before and after a paste are shown', () => {
  const pasted = Array.from({ length: 400 }, (_, at) => `line ${at + 1}`)
  expect(prompt(pasted.slice(0, 20))).toHaveLength(20)
  expect(prompt([...pasted, 'never use semicolons'])).toEqual(['› line 1', '  [… 399 lines]', '  never use semicolons'])
  expect(prompt(['Look at this:', ...pasted, ''])).toEqual(['› Look at this:', '  [… 399 lines]', '  line 400'])
})
