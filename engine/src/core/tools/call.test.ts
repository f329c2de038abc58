import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changedBy, pathsOf, toolCall } from './call.ts'

const whole = [1, Number.POSITIVE_INFINITY]
const patch = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n keep\n-old\n+new\n*** Add File: b.ts\n+3\n*** End Patch'
const patched = [
  { path: 'src/a.ts', act: 'edited', edits: [{ before: 'keep\nold', after: 'keep\nnew', isAll: false }] },
  { path: 'b.ts', act: 'created', text: '3', edits: [] },
]
const edit = (before: string, after: string, isAll = false) => ({ before, after, isAll })

/** The call without its name. */
const call = (name: string, input: unknown) => {
  const { name: _, ...rest } = toolCall({ name, input })
  return rest
}

test.each([
  ['Claude Code', 'Read', { file_path: './a.ts' }, { type: 'read', kind: 'read', path: 'a.ts', lines: whole }],
  [
    'Claude Code',
    'Read',
    { file_path: 'a', offset: 10, limit: 5 },
    { type: 'read', kind: 'read', path: 'a', lines: [10, 14] },
  ],
  ['Claude Code', 'NotebookRead', { notebook_path: 'a.ipynb' }, { type: 'read', path: 'a.ipynb', lines: whole }],
  [
    'Cursor',
    'read_file',
    { target_file: 'a', start_line_one_indexed: 3, end_line_one_indexed_inclusive: 9 },
    { type: 'read', kind: 'read', path: 'a', lines: [3, 9] },
  ],
  [
    'an editor',
    'str_replace_based_edit_tool',
    { command: 'view', path: 'a', view_range: [2, -1] },
    { type: 'read', kind: 'read', path: 'a', lines: [2, Number.POSITIVE_INFINITY] },
  ],
  [
    'an editor',
    'str_replace_editor',
    { command: 'create', path: 'a', file_text: 'x' },
    { type: 'write', kind: 'write', path: 'a', text: 'x' },
  ],
  [
    'an editor',
    'str_replace_editor',
    { command: 'str_replace', path: 'a', old_str: 'x', new_str: 'y' },
    { type: 'edit', kind: 'edit', path: 'a', edits: [edit('x', 'y')] },
  ],
  [
    'an editor',
    'str_replace_editor',
    { command: 'insert', path: 'a', insert_line: 3, new_str: 'y' },
    { type: 'edit', kind: 'edit', path: 'a', edits: [edit('', 'y')] },
  ],
  ['an editor', 'str_replace_editor', { command: 'dance', path: 'a' }, { type: 'other', path: 'a' }],
  [
    'Claude Code',
    'Edit',
    { file_path: 'a', old_string: 'x', new_string: '', replace_all: true },
    { type: 'edit', kind: 'edit', path: 'a', edits: [edit('x', '', true)] },
  ],
  [
    'Claude Code',
    'MultiEdit',
    { file_path: 'a', edits: [{ old_string: 'x', new_string: 'y' }, 3, {}] },
    { type: 'edit', kind: 'edit', path: 'a', edits: [edit('x', 'y')] },
  ],
  [
    'opencode',
    'edit',
    { filePath: 'a', oldString: 'x', newString: 'y', replaceAll: true },
    { type: 'edit', kind: 'edit', path: 'a', edits: [edit('x', 'y', true)] },
  ],
  [
    'pi',
    'edit',
    { path: 'a', oldText: 'x', newText: 'y' },
    { type: 'edit', kind: 'edit', path: 'a', edits: [edit('x', 'y')] },
  ],
  [
    'Cline',
    'replace_in_file',
    { path: 'a', diff: '------- SEARCH\nx\n=======\ny\n+++++++ REPLACE' },
    { type: 'edit', kind: 'edit', path: 'a', edits: [] },
  ],
  [
    'an MCP file server',
    'mcp__fs__edit_file',
    { path: 'a', edits: [{ oldText: 'x', newText: 'y' }] },
    { type: 'edit', kind: 'edit', path: 'a', edits: [edit('x', 'y')] },
  ],
  [
    'Claude Code',
    'NotebookEdit',
    { notebook_path: 'a', new_source: 'y' },
    { type: 'edit', path: 'a', edits: [edit('', 'y')] },
  ],
  ['Codex', 'apply_patch', { input: patch }, { type: 'patch', kind: 'edit', files: patched }],
  ['Codex', 'apply_patch', patch, { type: 'patch', kind: 'edit', files: patched }],
  ['Codex', 'shell', { command: ['apply_patch', patch] }, { type: 'patch', kind: 'shell', files: patched }],
  [
    'Codex',
    'shell',
    { command: ['bash', '-lc', `cd /p && apply_patch <<'EOF'\n${patch}\nEOF`] },
    { type: 'patch', kind: 'shell', files: patched },
  ],
  ['opencode', 'patch', { patchText: patch }, { type: 'patch', kind: 'edit', files: patched }],
  ['Codex', 'shell', { command: ['bash', '-lc', 'ls -la'] }, { type: 'command', kind: 'shell', script: 'ls -la' }],
  ['Codex', 'exec_command', { cmd: 'ls' }, { type: 'command', kind: 'shell', script: 'ls' }],
  [
    'Codex',
    'shell',
    { command: ['bash', '-lc', `apply_patch <<EOF\n${patch}\nEOF\nrm x`] },
    { type: 'command', kind: 'shell', script: `apply_patch <<EOF\n${patch}\nEOF\nrm x` },
  ],
  ['Gemini CLI', 'run_shell_command', { command: 'ls' }, { type: 'command', kind: 'shell', script: 'ls' }],
  ['Cline', 'search_files', { path: 'src', regex: 'x' }, { type: 'search', kind: 'grep', path: 'src', query: 'x' }],
  ['Claude Code', 'Glob', { pattern: '*.ts' }, { type: 'search', kind: 'glob', query: '*.ts' }],
  [
    'Claude Code',
    'WebFetch',
    { url: 'https://a.example' },
    { type: 'fetch', kind: 'web-fetch', url: 'https://a.example' },
  ],
  ['Gemini CLI', 'google_web_search', { query: 'x' }, { type: 'fetch', query: 'x', kind: 'web-search' }],
  ['Claude Code', 'ExitPlanMode', { plan: 'x' }, { type: 'plan', act: 'exit', text: 'x' }],
  ['Claude Code', 'EnterPlanMode', {}, { type: 'plan', act: 'enter' }],
  ['Claude Code', 'AskUserQuestion', { questions: [] }, { type: 'question' }],
  [
    'Claude Code',
    'Task',
    { description: 'Look', subagent_type: 'Explore', prompt: 'x' },
    { type: 'agent', task: 'Look', agentType: 'Explore' },
  ],
  ['Claude Code', 'Skill', { skill: 'pdf' }, { type: 'skill', skill: 'pdf' }],
  ['opencode', 'skill', { name: 'pdf' }, { type: 'skill', skill: 'pdf' }],
])('%s: %s', (_, name, input, expected) => {
  expect(call(name, input)).toEqual(expected)
})

describe('todos', () => {
  const list = [
    { id: '1', text: 'Build', status: 'done' },
    { id: '2', text: 'Test', status: 'in-progress' },
  ]
  test.each([
    [
      'TodoWrite',
      {
        todos: [
          { content: 'Build', status: 'completed' },
          { content: 'Test', status: 'in_progress' },
        ],
      },
    ],
    [
      'update_plan',
      {
        plan: [
          { step: 'Build', status: 'completed' },
          { step: 'Test', status: 'in_progress' },
        ],
      },
    ],
    [
      'write_todos',
      {
        todos: [
          { description: 'Build', status: 'completed' },
          { description: 'Test', status: 'in_progress' },
        ],
      },
    ],
  ])('%s replaces the list', (name, input) => {
    expect(call(name, input)).toEqual({ type: 'todo', change: { type: 'list-replaced', todos: list } })
  })

  test('tasks are added and changed one by one', () => {
    expect(call('TaskCreate', { subject: 'Build' })).toMatchObject({ change: { type: 'item-added', text: 'Build' } })
    expect(call('TaskUpdate', { taskId: '7', status: 'deleted' })).toMatchObject({
      change: { type: 'item-changed', id: '7', status: 'gone' },
    })
    expect(call('TaskList', {})).toEqual({ type: 'todo' })
  })
})

describe('a tool that nobody has heard of', () => {
  test('is judged by its input and has no kind: what it brought may not come again', () => {
    expect(call('run_it', { command: 'ls' })).toEqual({ type: 'command', script: 'ls' })
    expect(call('get', { url: 'https://a.example' })).toEqual({ type: 'fetch', url: 'https://a.example' })
    expect(call('mystery', { path: 'a' })).toEqual({ type: 'other', path: 'a' })
    expect(['constructor', 'toString', '__proto__', '', '123'].map((name) => call(name, {}).type)).toEqual(
      Array(5).fill('other'),
    )
  })

  test('is what the host says', () => {
    const named = { peek: 'read', Bash: null } as const
    expect(toolCall({ name: 'peek', input: { path: 'a' } }, named)).toMatchObject({ type: 'read', kind: 'read' })
    expect(toolCall({ name: 'Bash', input: { command: 'ls' } }, named)).toEqual({ name: 'Bash', type: 'other' })
  })
})

test('a server’s tool works on files, but speaks neither for the user nor for the agent', () => {
  const names = ['AskUserQuestion', 'ExitPlanMode', 'TodoWrite', 'Task', 'Skill', 'read_file', 'bash']
  expect(names.map((name) => call(`mcp__x__${name}`, {}).type)).toEqual([...Array(5).fill('other'), 'read', 'command'])
})

test('a call names every file that it touches, and those that it changes', () => {
  const moved = '*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n@@\n-x\n+y\n*** End Patch'
  const paths = (name: string, input: unknown) => {
    const made = toolCall({ name, input })
    return [pathsOf(made), changedBy(made)]
  }
  expect(paths('apply_patch', moved)).toEqual([
    ['a.ts', 'b.ts'],
    ['a.ts', 'b.ts'],
  ])
  expect(paths('Read', { file_path: 'a' })).toEqual([['a'], []])
  expect(paths('Write', { file_path: 'a' })).toEqual([['a'], ['a']])
})

test('whatever is in an input, nothing throws and no field has a wrong type', () => {
  const names = ['Read', 'Edit', 'Write', 'apply_patch', 'shell', 'editor', 'TodoWrite', 'Skill', 'Task', 'x']
  const keys = ['path', 'command', 'cmd', 'edits', 'diff', 'todos', 'plan', 'offset', 'view_range', 'content', 'skill']
  const input = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()))
  fc.assert(
    fc.property(fc.constantFrom(...names), input, (name, junk) => {
      const made = toolCall({ name, input: junk })
      expect(['string', 'undefined']).toContain(typeof made.path)
      if (made.type === 'read') expect(made.lines[0]).toBeGreaterThanOrEqual(1)
      if (made.type === 'command') expect(typeof made.script).toBe('string')
    }),
  )
})
