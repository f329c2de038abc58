import { expect, test } from 'vitest'
import { call, human } from '../../testing/talk.ts'
import type { ToolUseBlock } from '../message/block.ts'
import type { Step } from './facts.ts'
import { createLedger } from './ledger.ts'
import { type StepResult, stepOf, withoutSteps } from './steps.ts'

function step(name: string, input: ToolUseBlock['input'], result: Partial<StepResult> = {}): Step | undefined {
  const call: ToolUseBlock = { type: 'tool_use', id: 'a', name, input }
  return stepOf(call, { text: '', isError: false, request: '', ...result })
}

function ran(command: string, text: string, request = ''): Step | undefined {
  return step(
    'Bash',
    { command },
    { text, request, command: { ended: 'well', outcome: text.split('\n').at(-1) ?? '' } },
  )
}

test('an edit is told by the lines that changed, without those around them', () => {
  const edit = (old_string: string, new_string: string) =>
    step('Edit', { file_path: '/w/src/lib/a.ts', old_string, new_string })?.text
  expect(edit('a()\nb()', 'a()\nc()\nd()\nb()')).toBe('edited lib/a.ts: `c() d()`')
  expect(edit('a()\nwait(1)', 'a()\nwait(2)')).toBe('edited lib/a.ts: `wait(1) → wait(2)`')
  expect(edit('a()\nb()', 'a()')).toBe('edited lib/a.ts: `removed b()`')
})

test('several edits of one call and the added lines of a patch are told', () => {
  const edits = [
    { old_string: 'a', new_string: 'b' },
    { old_string: 'c', new_string: 'c\nd' },
  ]
  expect(step('MultiEdit', { file_path: 'a.ts', edits })?.text).toBe('edited a.ts: `a → b … d`')
  const input = '*** Update File: src/a.ts\n@@\n-old()\n+fresh()\n'
  expect(step('apply_patch', { input })?.text).toBe('patched src/a.ts: `fresh()`')
})

test.each([
  [
    'a here-document',
    `git add . && git commit -m "$(cat <<'EOF'\nfix: keep lines\n\nThey were lost.\n\nCo-Authored-By: A <a@b.c>\nEOF\n)"`,
  ],
  ['an argument', 'git commit -am "fix: keep lines\n\nThey were lost."'],
])('a commit is told by its hash and the message given in %s', (_, command) => {
  expect(ran(command, '[main 1a2b3c4] fix: keep lines\n 1 file changed')).toEqual({
    type: 'did',
    text: 'committed 1a2b3c4: fix: keep lines They were lost.',
  })
})

test('staging and making folders is no step; a look is one of its own kind, with what it showed', () => {
  expect(ran('mkdir -p out && git add out', '')).toBeUndefined()
  expect(ran('git log --oneline -1', '1a2b3c4 Start')).toEqual({
    type: 'saw',
    text: 'ran `git log --oneline -1` → 1a2b3c4 Start',
  })
  expect(step('Grep', { pattern: 'retry' }, { text: 'src/a.ts:3: retry()' })).toEqual({
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

test('the report of a sub-agent stands without what its client appends', () => {
  const text = 'All callers are fine.\nagentId: a1 (for resuming)\n<usage>total_tokens: 9</usage>'
  expect(step('Task', { description: 'Look' }, { text })?.text).toBe(
    'the sub-agent for "Look" reported: All callers are fine.',
  )
})

test('the output of a command that still runs is no outcome', () => {
  const command = { ended: 'unfinished', outcome: 'Output is being written to: /tmp/x' } as const
  expect(step('Bash', { command: 'npm start' }, { command })?.text).toBe(
    'ran `npm start` → not finished when last seen',
  )
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
    { text: 'Mend it.', steps: [{ text: 'edited a.ts: `x`' }, { type: 'did', text: 'was interrupted by the user' }] },
  ])
})

test('of old steps the last change is left, or else the last command', () => {
  const of = (...texts: readonly string[]) =>
    withoutSteps({ kind: 'message', text: 'x', last: 0, steps: texts.map((text) => ({ type: 'did', text })) }).done
  expect(of('edited a.ts: `x`', 'ran `npm test` → ok')).toBe('edited a.ts: `x`')
  expect(of('ran `npm run build` → ok', 'ran `npm test` → ok')).toBe('ran `npm test` → ok')
  expect(of('was interrupted by the user')).toBe(undefined)
  expect(of()).toBe(undefined)
})

test('a path inside the folder of the session is told from there', () => {
  const edit = { file_path: '/w/src/lib/deep/a.ts', new_string: 'x' }
  expect(step('Edit', edit, { root: '/w' })?.text).toBe('edited src/lib/deep/a.ts: `x`')
  expect(step('Edit', edit, { root: '/other' })?.text).toBe('edited deep/a.ts: `x`')
})
