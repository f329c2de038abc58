import { expect, test } from 'vitest'
import type { JsonObject } from '../../message/json.ts'
import { attachedFile, attachmentContent } from './attachments.ts'

const file = (more: object) => ({ filename: '/a/b.ts', displayPath: 'b.ts', content: { type: 'text', file: more } })
const whole = { filePath: '/a/b.ts', content: 'one\n"two"', numLines: 2, startLine: 1, totalLines: 2 }
const hook = { hookName: 'PreToolUse:Bash', hookEvent: 'PreToolUse', toolUseID: 't1' }

test.each<readonly [string, JsonObject, string]>([
  ['file', file(whole), 'File /a/b.ts\none\n"two"'],
  ['file', file({ ...whole, startLine: 3, totalLines: 90 }), 'File /a/b.ts\n(lines 3–4 of 90)\none\n"two"'],
  ['already_read_file', file(whole), 'File /a/b.ts\none\n"two"'],
  [
    'compact_file_reference',
    { filename: '/a/b.ts', displayPath: 'b.ts' },
    'File /a/b.ts\n(It was read before the conversation was compacted, and is not shown here again.)',
  ],
  [
    'edited_text_file',
    { filename: '/a/b.ts', snippet: '1\tone' },
    'File /a/b.ts\n(It has changed since it was read. The changed lines:)\n1\tone',
  ],
  ['opened_file_in_ide', { filename: '/a/b.ts' }, 'File /a/b.ts\n(The user has opened it in the IDE.)'],
  [
    'selected_lines_in_ide',
    { filename: '/a/b.ts', lineStart: 3, lineEnd: 5, content: 'this', ideName: 'Vim', displayPath: 'b.ts' },
    'File /a/b.ts\n(The user has selected lines 3–5 in Vim:)\nthis',
  ],
  [
    'selected_lines_in_ide',
    { filename: '/a/b.ts', lineStart: 3, content: 'this' },
    'File /a/b.ts\n(The user has selected line 3 in the IDE:)\nthis',
  ],
  ['directory', { path: '/a', content: 'b.ts\nc.ts', displayPath: 'a' }, 'Folder /a\nb.ts\nc.ts'],
  [
    'nested_memory',
    { path: '/a/CLAUDE.md', content: { path: '/a/CLAUDE.md', type: 'Project', content: 'Use tabs.', rawContent: 'x' } },
    'File /a/CLAUDE.md\nUse tabs.',
  ],
  [
    'nested_memory',
    { path: '/a/CLAUDE.md', content: { path: '/link/CLAUDE.md', content: 'Use tabs.' } },
    'File /a/CLAUDE.md\nUse tabs.',
  ],
  ['nested_memory', { content: { path: '/link/CLAUDE.md', content: 'Use tabs.' } }, 'File /link/CLAUDE.md\nUse tabs.'],
  ['plan_file_reference', { planFilePath: '/p.md', planContent: '1. Read' }, 'Plan /p.md\n1. Read'],
  ['plan_mode', { planFilePath: '/p.md', reminderType: 'full' }, 'Plan mode is on.\nThe plan is in /p.md.'],
  ['plan_mode_reentry', { planFilePath: '/p.md' }, 'Plan mode is on again.\nThe plan is in /p.md.'],
  ['plan_mode_exit', { planExists: false }, 'Plan mode is off.'],
  ['auto_mode', { bypass: false }, 'Auto mode is on.'],
  ['ultra_effort_enter', { reminderType: 'full' }, 'Highest effort is on.'],
  ['ultra_effort_exit', {}, ''],
  ['workflow_keyword_request', {}, ''],
  ['todo', { content: [{ content: 'Read', status: 'completed', activeForm: 'Reading' }] }, '[x] Read'],
  ['todo_reminder', { content: [], itemCount: 0 }, 'The list is empty.'],
  [
    'task_reminder',
    {
      content: [
        { id: '1', subject: 'Read', description: 'all of it', status: 'in_progress', blocks: [], blockedBy: [] },
        { id: '2', subject: 'Write', status: 'pending', blockedBy: ['1'] },
      ],
      itemCount: 2,
    },
    '[>] 1. Read: all of it\n[ ] 2. Write (waits for 1)',
  ],
  [
    'task_status',
    { taskId: 't', taskType: 'local_agent', status: 'running', description: 'Look for tests', deltaSummary: null },
    'Task t, local_agent, Look for tests: running',
  ],
  ['goal_status', { condition: 'All tests pass', met: false }, 'Goal not met yet: All tests pass'],
  [
    'diagnostics',
    {
      files: [
        {
          uri: 'file:///a/b.ts',
          diagnostics: [
            { message: 'Not found', severity: 'Error', range: { start: { line: 2 } }, source: 'ts', code: '2304' },
            { message: 'Unused' },
          ],
        },
      ],
      isNew: true,
    },
    'file:///a/b.ts\nline 3: Error: Not found (ts 2304)\nUnused',
  ],
  ['hook_additional_context', { ...hook, content: ['one', 'two'] }, 'Hook PreToolUse:Bash:\none\ntwo'],
  [
    'hook_blocking_error',
    { ...hook, blockingError: { blockingError: 'no', command: 'x.sh' } },
    'Hook PreToolUse:Bash:\nIt blocked this:\nno\nx.sh',
  ],
  ['hook_cancelled', { ...hook, command: 'x.sh', durationMs: 5 }, 'Hook PreToolUse:Bash:\nIt was cancelled.'],
  ['hook_success', { ...hook, content: 'fine', stdout: 'fine' }, 'fine'],
  ['hook_success', { ...hook, content: '', stdout: 'x' }, ''],
  ['hook_system_message', { ...hook, content: 'Careful.' }, 'Careful.'],
  [
    'invoked_skills',
    {
      skills: [
        { name: 'a', path: '/a', content: 'Do.' },
        { name: 'b', content: 'Be.' },
      ],
    },
    'Skill a\nDo.\nSkill b\nBe.',
  ],
  ['skill_listing', { content: '- a: does', names: ['a'], skillCount: 1 }, '- a: does'],
  ['skill_discovery', { skills: [{ name: 'a', description: 'does' }, { name: 'b' }] }, 'a: does\nb'],
  ['agent_listing_delta', { addedTypes: ['x'], addedLines: ['- x: looks'], removedTypes: [] }, '- x: looks'],
  [
    'deferred_tools_delta',
    { addedNames: ['Cron'], addedLines: [], removedNames: ['LSP'] },
    'Cron\nNo longer available: LSP',
  ],
  ['deferred_tools_delta', { addedNames: [], addedLines: [], removedNames: [] }, ''],
  [
    'mcp_instructions_delta',
    { addedNames: ['c7'], addedBlocks: ['## c7\nUse it.'], removedNames: [] },
    '## c7\nUse it.',
  ],
  ['date_change', { newDate: '2026-03-02' }, 'The date is now 2026-03-02.'],
  ['read_truncation_notice', { banner: 'Only the first 100 lines.', toolUseID: 't1' }, 'Only the first 100 lines.'],
  ['total_tokens_reminder', { text: '5,000 tokens are left.' }, '5,000 tokens are left.'],
  ['queued_command', { prompt: 'and that', commandMode: 'prompt' }, 'and that'],
  ['command_permissions', { allowedTools: ['Read'] }, ''],
  ['structured_output', { data: {} }, ''],
  ['critical_system_reminder', { content: 'Stop.' }, 'Stop.'],
])('a model reads an attachment of kind %s as text: %j', (type, fields, expected) => {
  expect(attachmentContent({ type, ...fields })).toBe(expected)
})

test('one of an unknown kind is listed field by field, not as JSON', () => {
  const attachment = {
    type: 'weather',
    place: 'Bern',
    days: [{ day: 'Monday', rain: false, notes: 'cold\nand windy' }, 'Tuesday'],
    empty: [],
    source: { name: 'x', age: 3 },
  }
  expect(attachmentContent(attachment)).toBe(
    [
      'place: Bern',
      'days:',
      '  -',
      '    day: Monday',
      '    rain: false',
      '    notes:',
      '      cold',
      '      and windy',
      '  - Tuesday',
      'empty: none',
      'source:',
      '  name: x',
      '  age: 3',
    ].join('\n'),
  )
})

test('one that lacks the fields of its kind is listed too, and a kind may be called like anything', () => {
  expect(attachmentContent({ type: 'file', path: '/a', size: 3 })).toBe('File /a\nsize: 3')
  expect(attachmentContent({ type: 'constructor', note: 'x' })).toBe('note: x')
})

test('an attached image stays an image', () => {
  const attachment = {
    type: 'file',
    filename: '/a/b.png',
    content: { type: 'image', file: { base64: 'iVBORw0KGgo=', type: 'image/png', originalSize: 8 } },
  }
  expect(attachmentContent(attachment)).toEqual([
    { type: 'text', text: 'File /a/b.png' },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } },
  ])
})

test('the file that an attachment is about can be read from its text', () => {
  const read = (more: object) =>
    attachedFile(String(attachmentContent({ type: 'file', ...file({ ...whole, ...more }) })))
  expect(read({})).toEqual({ path: '/a/b.ts', isWhole: true })
  expect(read({ totalLines: 90 })).toEqual({ path: '/a/b.ts', isWhole: false })
  expect(attachedFile('Skill a\nFile /x')).toBe(undefined)
})
