import { describe, expect, test } from 'vitest'
import { call, human } from '../../testing/talk.ts'
import { toolCall } from '../tools/call.ts'
import { commandText } from '../tools/commands.ts'
import { purposeOf, readScript } from '../tools/shell-effects.ts'
import type { Exchange, Step } from './facts.ts'
import { createLedger } from './ledger.ts'
import { mostTelling } from './state.ts'
import {
  type CommandRun,
  type StepResult,
  stepOf,
  withoutAnnouncements,
  withoutClosing,
  withoutSteps,
} from './steps.ts'

const stepIn = (name: string, input: unknown, result: Partial<StepResult> = {}): Step | undefined =>
  stepOf(toolCall({ name, input }), { text: 'done', isError: false, request: '', ...result })
const step = (name: string, input: unknown, result: Partial<StepResult> = {}) => stepIn(name, input, result)?.text

function runOf(command: string, ended: CommandRun['ended'], outcome = ''): CommandRun {
  const script = readScript(command)
  return { script, line: commandText(command), purpose: purposeOf(script.commands), ended, outcome }
}

function ran(command: string, text: string, request = ''): Step | undefined {
  return stepIn('Bash', { command }, { text, request, run: runOf(command, 'well', text.split('\n').at(-1)) })
}

describe('one line for each step', () => {
  test('an edit and a write name the file, and a line that was put in by itself', () => {
    expect(step('Edit', { file_path: '/p/src/core/a.ts', old_string: 'x', new_string: 'const `a` = 1' })).toContain(
      "core/a.ts: `const 'a' = 1`",
    )
    const edited = (before: string, after: string) =>
      step('Edit', { file_path: '/p/a.ts', old_string: before, new_string: after })
    expect(edited('x', '\n\nexport function open() {\n}')).toBe('edited p/a.ts: `export function open() {` …')
    expect(edited('a\nclose()', 'a')).toBe('edited p/a.ts')
    expect(edited('a', 'a')).toBe('edited p/a.ts')
    expect(step('Write', { file_path: '/p/a.md', content: 'One.\nTwo.' })).toBe('wrote p/a.md')
    expect(step('Edit', { file_path: '/p/a.ts', new_string: 'x' }, { isError: true })).toBe(undefined)
  })

  test('a command says how it ended; one that only read is told by what it showed', () => {
    const ended = (command: string, how: 'well' | 'badly' | 'unfinished', outcome = '') =>
      step('Bash', { command }, { run: runOf(command, how, outcome) })
    expect(ended('cd /p && npm test | tail -3', 'well', '3 passed')).toContain('`npm test` → ok: 3 passed')
    expect(ended('npm test', 'badly', '1 failed')).toContain('`npm test` → failed: 1 failed')
    expect(ended('npm run dev', 'unfinished')).toContain('`npm run dev` → not finished when last seen')
    expect(step('Bash', { command: 'git status' }, { text: '', run: runOf('git status', 'well') })).toBe(undefined)
    // The outcome of a command that is still running is unknown.
    for (const command of ['tail -f log.txt', 'mkdir out'])
      expect(ended(command, 'unfinished', 'so far')).toBe(`ran \`${command}\` → not finished when last seen`)
    const twice = '[main 1111111] First\n 1 file changed\n[main 2222222] Second\n 1 file changed'
    expect(ran('git commit -m First && git commit -m Second', twice)?.text).toBe('committed 2222222: Second')
    expect(ended('git status', 'badly', 'not a repository')).toContain('failed: not a repository')
  })

  test('of a read there is the name, or the text if the user pointed at the file; of a search what it found', () => {
    const read = (request: string, more: Partial<StepResult> = {}) =>
      step('Read', { file_path: '/p/docs/plan.md' }, { text: 'Step one.', request, ...more })
    expect(read('Go on.')).toBe('read docs/plan.md')
    expect(read('Do what docs/plan.md says: plan.md')).toBe('plan.md: Step one.')
    expect(read('Do what plan.md says', { isError: true })).toBe(undefined)
    expect(step('Grep', { pattern: 'x' }, { text: 'a.ts:1:x' })).toBe('searched for `x` → a.ts:1:x')
    expect(step('WebSearch', { query: 'gate 7' }, { text: 'None.' })).toBe('searched for `gate 7` → None.')
    expect(step('WebFetch', { url: 'https://a.example/x' }, { text: 'No\ngate.' })).toBe(
      'fetched https://a.example/x → No gate.',
    )
    expect(stepIn('WebFetch', { url: 'https://a.example/x' }, { text: 'It.' })?.type).toBe('saw')
    expect(step('WebFetch', { url: 'https://a.example/x' }, { text: '404', isError: true })).toBe(undefined)
    expect(step('WebFetch', { url: 'https://a.example/x' }, { request: 'See https://a.example/x', text: 'It.' })).toBe(
      'https://a.example/x: It.',
    )
  })

  test('patches and sub-agents are told; the todo list has its own place', () => {
    expect(step('apply_patch', { input: '*** Update File: a/b.go\n*** Add File: c.go' })).toContain('a/b.go, c.go')
    expect(step('Task', { description: 'Find it' }, { text: 'Found in a.ts.' })).toBe(
      'the sub-agent for "Find it" reported: Found in a.ts.',
    )
    const report = [
      '# Gates',
      'Gate 4 is open.',
      'agentId: a93c (for resuming)',
      '<usage>total_tokens: 9\nms: 1</usage>',
    ]
    expect(step('Task', { description: 'Find it' }, { text: report.join('\n') })).toBe(
      'the sub-agent for "Find it" reported: # Gates\nGate 4 is open.',
    )
    expect(step('TaskUpdate', { taskId: '7', status: 'completed' })).toBe(undefined)
    expect(step('TodoWrite', { todos: [{ content: 'x' }] })).toBe(undefined)
  })
})

test('a commit is told by its hash and title', () => {
  expect(ran('git commit -am "fix: keep lines\n\nThey were lost."', '[main 1a2b3c4] fix: keep lines')).toEqual({
    type: 'did',
    text: 'committed 1a2b3c4: fix: keep lines',
  })
})

test('staging and making folders is no step; a look is one of its own kind, with what it showed', () => {
  expect(ran('mkdir -p out && git add out', '')).toBeUndefined()
  expect(ran('git log --oneline -1', '1a2b3c4 Start')).toEqual({
    type: 'saw',
    text: 'ran `git log --oneline -1` → 1a2b3c4 Start',
  })
  expect(stepIn('Grep', { pattern: 'retry' }, { text: 'src/a.ts:3: retry()' })).toEqual({
    type: 'saw',
    text: 'searched for `retry` → src/a.ts:3: retry()',
  })
})

test('what a command prints that the user named is part of the request, but not what a test run prints', () => {
  expect(ran('tracker show T-2', 'T-2: keep the order', 'Use tracker show to read the tasks')).toEqual({
    type: 'read',
    text: 'tracker show T-2: T-2: keep the order',
  })
  expect(ran('npm test', '3 passed', 'run npm test')).toEqual({ type: 'did', text: 'ran `npm test` → ok: 3 passed' })
})

test('the output of a command that still runs is no outcome', () => {
  const run = runOf('npm start', 'unfinished', 'Output is being written to: /tmp/x')
  expect(step('Bash', { command: 'npm start' }, { run })).toBe('ran `npm start` → not finished when last seen')
})

test.each([
  ['Let me read the file.', ''],
  ['Now update the router and the tests.', ''],
  ['The cache was stale. Let me clear it:', 'The cache was stale.'],
  ['The cache was stale. Let me clear it. It holds 12 rows.', 'The cache was stale. It holds 12 rows.'],
  ['Let me list them:\n- cache', 'Let me list them:\n- cache'],
  ['Two remain:\n- cache\n\nStarting with the cache:', 'Two remain:\n- cache'],
  ['Both fail.\n\nI need to look at the parser.', 'Both fail.'],
  ['Now the tests pass.', 'Now the tests pass.'],
  ['Done. Let me know if it works.', 'Done. Let me know if it works.'],
  ["I'll wait for your answer.", "I'll wait for your answer."],
])('of %j the announcement of the next call is left out', (text, rest) => {
  expect(withoutAnnouncements(text)).toBe(rest)
})

test('what a command prints that the user named is told also when the user only said to go on since', () => {
  const book = createLedger()
  const show = call({ name: 'Bash', input: { command: 'tracker show T-3' }, text: 'T-3: keep the order' })
  for (const { message, record } of [human('Use tracker show to read the tasks.'), human('Go on.'), ...show]) {
    book.add(message, record)
  }
  expect(book.ledger().exchanges.at(-1)?.steps).toEqual([
    { type: 'read', text: 'tracker show T-3: T-3: keep the order' },
  ])
})

test('that the user interrupted the agent is told where it happened', () => {
  const book = createLedger()
  const edit = call({ name: 'Edit', input: { file_path: 'a.ts', new_string: 'x' } })
  for (const { message, record } of [human('Mend it.'), ...edit, human('[Request interrupted by user]')]) {
    book.add(message, record)
  }
  expect(book.ledger().exchanges).toMatchObject([
    {
      text: 'Mend it.',
      steps: [{ text: 'edited a.ts: `x`' }, { type: 'did', text: 'was interrupted by the user' }],
    },
  ])
})

test('of old steps the last change is left, or else the last command, or else the last file that was read', () => {
  const of = (...texts: readonly string[]) =>
    withoutSteps({ kind: 'message', text: 'x', last: 0, steps: texts.map((text) => ({ type: 'did', text })) }).done
  expect(of('edited a.ts: `x`', 'ran `npm test` → ok')).toBe('edited a.ts: `x`')
  expect(of('ran `npm run build` → ok', 'ran `npm test` → ok')).toBe('ran `npm test` → ok')
  expect(of('ran `npm test` → ok', 'read a.ts')).toBe('ran `npm test` → ok')
  expect(of('read a.ts', 'read b.ts')).toBe('read b.ts')
  expect(of('was interrupted by the user')).toBe(undefined)
  expect(of()).toBe(undefined)
})

test('a path inside the folder of the session is told from there', () => {
  const edit = { file_path: '/w/src/lib/deep/a.ts', new_string: 'x' }
  expect(step('Edit', edit, { root: '/w' })).toBe('edited src/lib/deep/a.ts: `x`')
  expect(step('Edit', edit, { root: '/other' })).toBe('edited deep/a.ts: `x`')
})

test('of many exchanges those go first whose work was done again later', () => {
  const exchange = (last: number, done: string): Exchange => ({
    kind: 'message',
    text: `Look at ${last + 10}.`,
    last,
    done,
  })
  const common = Array.from({ length: 30 }, (_, at) => exchange(at, 'read src/work/a-file-with-a-long-name.ts'))
  const all = [...common.slice(0, 5), exchange(5, 'read b.ts'), ...common.slice(6)]
  const kept = mostTelling(all, 24)
  expect(kept.filter(({ last }) => last < 10).map(({ last }) => last)).toEqual([0, 5, 8, 9])
})

test('of the files that an agent read, only the last is a step', () => {
  const book = createLedger()
  const reads = ['a', 'bb', 'ccc'].flatMap((name) =>
    call({ name: 'Read', input: { file_path: `/p/${name}.ts` }, text: 'x' }),
  )
  for (const { message, record } of [human('Look around.'), ...reads]) book.add(message, record)
  expect(book.ledger().exchanges[0]?.steps).toEqual([{ type: 'opened', text: 'read p/ccc.ts' }])
})

test('a question at the end that names nothing is left out: the next message answers it', () => {
  expect(withoutClosing('It is oiled. Shall I start?')).toBe('It is oiled.')
  expect(withoutClosing('It is oiled.\n\nShall I start?')).toBe('It is oiled.')
  expect(withoutClosing('Shall I start?')).toBe('')
  expect(withoutClosing('Who asked? Nobody.')).toBe('Who asked? Nobody.')
  for (const kept of ['Red or gate 7?', 'Should `gate` open?', 'Use parseGate?', 'Why gate_open?']) {
    expect(withoutClosing(`It is oiled. ${kept}`)).toBe(`It is oiled. ${kept}`)
  }
})
