import { expect, test } from 'vitest'
import { callOf, finishedCall } from './calls.ts'

const folder = '/work'
const input = { file_path: '/work/a.ts', old_string: 'one\ntwo', new_string: 'one\nthree' }
const edit = callOf({ toolUseId: 't1', name: 'Edit', input }, { folder })

test('an edit that worked shows its change, without line numbers if the tool does not say them', () => {
  const finished = finishedCall(edit, { content: 'Changed a.ts (+1 −1 lines).', isError: false }, folder)
  expect(finished).toMatchObject({ type: 'call-finished', call: { id: 't1', isError: false } })
  expect(edit.diff).toMatch(/\n one\n-two\n\+three\n/)
  expect(edit.diff?.match(/^@@.*$/gm)).toEqual(['@@'])
  expect(finished).toMatchObject({ call: { diff: edit.diff } })
})

test('the change that a tool reports has line numbers, and replaces the one that was made of the input', () => {
  const diff = '@@ -7,1 +7,1 @@\n-two\n+three\n'
  const result = { content: 'Changed a.ts (+1 −1 lines).', isError: false }
  const finished = finishedCall(edit, { ...result, diff }, folder)
  expect(finished).toMatchObject({ call: { diff } })
  const created = callOf({ toolUseId: 't2', name: 'Write', input: { file_path: 'b', content: 'x' } }, { folder })
  expect(finishedCall(created, { ...result, diff }, folder)).toMatchObject({ call: { diff } })
})

test('an edit that failed shows no change, because there is none', () => {
  const failed = finishedCall(edit, { content: 'a.ts: old_string was not found.', isError: true }, folder)
  expect(failed).toMatchObject({ call: { isError: true, outcome: expect.stringContaining('was not found') } })
  expect(failed).not.toHaveProperty('call.diff')
})

test('everything that is no text has a word in the output', () => {
  const content = [{ type: 'text', text: 'A picture:' }, { type: 'image' }]
  expect(finishedCall(edit, { content, isError: false }, folder)).toMatchObject({
    call: { output: 'A picture:\n[image]' },
  })
})

test.each([
  ['Task', { subagent_type: 'explore', description: 'Find the parser', prompt: 'x' }, 'explore: Find the parser'],
  ['Task', { description: 'Find the parser', prompt: 'x' }, 'Find the parser'],
  ['McpCall', { tool: 'mcp__files__echo', arguments: { text: 'hi', n: 2 } }, 'files: echo (text: "hi", n: 2)'],
  ['McpCall', { tool: 'mcp__a__b__c' }, 'a: b__c'],
  ['McpCall', {}, 'McpCall'],
  ['Skill', { skill: 'release', args: 'now' }, 'release'],
  ['WebFetch', { url: 'https://example.com/' }, 'https://example.com/'],
  ['TaskStop', { task_id: 'bash-1' }, 'bash-1'],
  ['Bash', { command: 'ls', description: 'Lists' }, 'ls'],
])('%s with %j is about %s', (name, given, subject) => {
  expect(callOf({ toolUseId: 't1', name, input: given }, { folder }).subject).toBe(subject)
})

test('a list of steps is shown as it is, and a wrong one not at all', () => {
  const todos = [
    { content: 'Read', status: 'completed', activeForm: 'Reading' },
    { content: 'Write', status: 'in_progress' },
    { content: 'Test', status: 'pending' },
  ]
  const shown = (list: unknown) => callOf({ toolUseId: 't1', name: 'TodoWrite', input: { todos: list } }, { folder })
  expect(shown(todos)).toMatchObject({
    subject: '1 of 3 done',
    todos: todos.map(({ content: text, status }) => ({ text, status })),
  })
  for (const wrong of [[...todos, { content: 'x', status: 'maybe' }], 'x', [null], Array(101).fill(todos[0])])
    expect(shown(wrong)).not.toHaveProperty('todos.0')
})

test.each([
  ['(no output)', 'no output'],
  ['', 'no output'],
  ['one', '1 line'],
  ['one\ntwo\n', '2 lines'],
  ['(no output) is what it printed', '1 line'],
])('the output %j of a command is shown as %s', (content, outcome) => {
  const call = callOf({ toolUseId: 't1', name: 'Bash', input: { command: 'x' } }, { folder })
  expect(finishedCall(call, { content, isError: false }, folder)).toMatchObject({ call: { outcome } })
})

test.each([
  [
    'AskUserQuestion',
    'The user answered:\nWhich color?\n→ green\nHow many?\n→ 2',
    'Which color? → green How many? → 2',
  ],
  ['AskUserQuestion', 'The user did not answer. Go on.', 'no answer'],
  ['McpCall', '{"sky":"clear"}\n', '{"sky":"clear"}'],
  ['McpCall', 'one\ntwo', '2 lines'],
  ['ToolSearch', 'nothing found', 'nothing found'],
  ['Read', '1\tone', '1 line'],
])('the outcome of %s with %j', (name, content, outcome) => {
  const call = callOf({ toolUseId: 't1', name, input: {} }, { folder })
  expect(finishedCall(call, { content, isError: false }, folder)).toMatchObject({ call: { outcome } })
})
