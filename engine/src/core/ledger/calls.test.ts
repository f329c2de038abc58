import { describe, expect, test } from 'vitest'
import { assistant, call, human, type Said, shell } from '../../testing/talk.ts'
import type { JsonObject } from '../message/json.ts'
import type { Ledger } from './facts.ts'
import { fromJson, toJson } from './json.ts'
import { createLedger } from './ledger.ts'

function ledgerOf(...parts: readonly (Said | readonly Said[])[]): Ledger {
  const book = createLedger()
  for (const { message, record } of parts.flat()) book.add(message, record)
  return book.ledger()
}

const edit = (path: string, raw: unknown = { filePath: path }) =>
  call({ name: 'Edit', input: { file_path: path, old_string: 'a', new_string: 'b' }, text: 'updated', raw })

describe('files', () => {
  const changed = (...parts: readonly (Said | readonly Said[])[]) => ledgerOf(...parts).files.map(({ path }) => path)

  test('those that were changed are kept with when, and those that were only read or found are not', () => {
    const ledger = ledgerOf(
      call({ name: 'Read', input: { file_path: '/p/src/a.ts' }, text: '1→x' }),
      edit('/p/src/a.ts'),
      call({ name: 'Grep', input: { pattern: 'x' }, text: '/p/src/a.ts:3:x\n/p/src/b.ts:4:x' }),
    )
    expect(ledger.files).toEqual([{ path: '/p/src/a.ts', last: 3 }])
  })

  test('are in the order in which they were last changed', () => {
    expect(changed(edit('/p/a.ts'), edit('/p/b.ts'), edit('/p/a.ts'))).toEqual(['/p/b.ts', '/p/a.ts'])
  })

  test('a written file and those that a patch names were changed', () => {
    const write = call({ name: 'Write', input: { file_path: '/p/new.md', content: 'a\nb' }, raw: { type: 'create' } })
    const input =
      '*** Begin Patch\n*** Add File: x/one.go\n+a\n*** Delete File: x/two.go\n*** Update File: x/three.go\n*** End Patch'
    expect(changed(write, call({ name: 'apply_patch', input: { input } }))).toEqual([
      '/p/new.md',
      'x/one.go',
      'x/two.go',
      'x/three.go',
    ])
  })

  test('the tools of other agents lead to the same facts', () => {
    const patch = '*** Begin Patch\n*** Update File: /p/a.ts\n@@\n-a\n+b\n*** End Patch'
    const edits = [
      call({ name: 'edit', input: { path: '/p/a.ts', oldText: 'a', newText: 'b' } }),
      call({ name: 'replace', input: { file_path: '/p/a.ts', old_string: 'a', new_string: 'b' } }),
      call({ name: 'replace_in_file', input: { path: '/p/a.ts', diff: '…' } }),
      call({ name: 'MultiEdit', input: { file_path: '/p/a.ts', edits: [] } }),
      call({ name: 'mcp__files__edit_file', input: { path: '/p/a.ts', edits: [] } }),
      call({ name: 'str_replace_based_edit_tool', input: { command: 'create', path: '/p/a.ts', file_text: 'x' } }),
      call({ name: 'shell', input: { command: ['bash', '-lc', 'sed -i s/a/b/ /p/a.ts'] } }),
      call({ name: 'shell', input: { command: ['apply_patch', patch] }, text: 'Exit code: 0\nOutput:\nSuccess.' }),
    ]
    expect(edits.map((one) => changed(one))).toEqual(edits.map(() => ['/p/a.ts']))
  })

  test('a patch that Codex could not apply changes nothing and is an error', () => {
    const input = '*** Begin Patch\n*** Update File: a.ts\n@@\n-a\n+b\n*** End Patch'
    const ledger = ledgerOf(
      call({ name: 'apply_patch', input: { input }, text: 'Exit code: 1\nOutput:\nNo such line' }),
    )
    expect(ledger.files).toEqual([])
    expect(ledger.errors).toMatchObject([{ what: 'apply_patch', isFixed: false }])
  })

  test('two spellings of one path below the working folder are one file', () => {
    const at = (said: readonly Said[]) => said.map((one) => ({ ...one, record: { ...one.record, cwd: '/p' } }))
    expect(changed(at(edit('/p/src/a.ts')), at(shell('cd /p && sed -i s/a/b/ ./src/a.ts', '')))).toEqual([
      '/p/src/a.ts',
    ])
    expect(changed(at(edit('/p/src/a.ts')), at(edit('/q/src/a.ts')))).toEqual(['/p/src/a.ts', '/q/src/a.ts'])
  })

  test('a failed edit changes nothing and is an error', () => {
    const ledger = ledgerOf(
      call({
        name: 'Edit',
        input: { file_path: '/p/a.ts', old_string: 'q' },
        text: '<tool_use_error>String to replace not found</tool_use_error>',
      }),
    )
    expect(ledger.files).toEqual([])
    expect(ledger.errors).toEqual([
      { what: 'Edit /p/a.ts', line: 'String to replace not found', last: 1, isFixed: false },
    ])
    expect(ledger.repository.touchedLast).toBe(-1)
  })
})

describe('commands', () => {
  test('those that verify the work are kept with when they ran, how they ended and the line that says most', () => {
    const [first, result] = shell('cd /p && npm test 2>&1 | tail -20', 'ran\n Tests  2 failed | 40 passed', 1)
    const time = Date.UTC(2026, 0, 2)
    const ledger = ledgerOf(
      [first as Said, { ...(result as Said), message: { ...(result as Said).message, time } }],
      shell('npx biome check .', 'Checked 37 files. No fixes applied.'),
      shell('ls', 'a.ts'),
      shell('git log', '1a2b3c4 x'),
    )
    expect(ledger.commands).toEqual([
      {
        text: 'npm test',
        last: 1,
        time,
        exit: 1,
        ended: 'badly',
        outcome: 'Tests 2 failed | 40 passed',
        actions: ['test'],
        failed: 'test',
      },
      {
        text: 'npx biome check .',
        last: 3,
        exit: 0,
        ended: 'well',
        outcome: 'Checked 37 files. No fixes applied.',
        actions: ['lint'],
      },
    ])
  })

  test('of commands that only do something the latest is kept for each kind, and never in the place of a check', () => {
    const commit = (n: number) => shell(`git commit -m ${n}`, `[main 1a2b3c${n}] Gate ${n}`)
    const ledger = ledgerOf(shell('npm test', '1 passed'), ...Array.from({ length: 9 }, (_, n) => commit(n)))
    const kept = fromJson(JSON.parse(JSON.stringify(toJson(ledger)))).commands
    expect(kept).toEqual(ledger.commands)
    expect(kept.map(({ text, actions }) => [text, actions])).toEqual([
      ['npm test', ['test']],
      ['git commit -m 8', ['commit']],
    ])
  })

  test('a run that fails remembers that an earlier one went well; one that the user stopped changes nothing', () => {
    const [good, bad] = [shell('npm test', '1 passed'), shell('npm test', '2 failed', 1)]
    const stopped = shell('npm test', 'Request interrupted by user', 1)
    const facts = (...parts: readonly (readonly Said[])[]) =>
      ledgerOf(...parts).commands.map(({ ended, hasSucceeded, failed }) => [ended, hasSucceeded, failed])
    expect(facts(bad)).toEqual([['badly', undefined, 'test']])
    expect(facts(good, bad)).toEqual([['badly', true, 'test']])
    expect(facts(good, bad, bad)).toEqual([['badly', true, 'test']])
    expect(facts(good, bad, good)).toEqual([['well', undefined, undefined]])
    expect(facts(good, stopped)).toEqual([['well', undefined, undefined]])
  })

  test('a command that still runs is kept whatever it is for, and forgotten once it has ended', () => {
    const start = call({
      name: 'Bash',
      input: { command: 'npm run dev' },
      text: 'Command running in background with ID: b1',
      raw: { stdout: '', backgroundTaskId: 'b1' },
    })
    expect(ledgerOf(start).commands).toMatchObject([{ text: 'npm run dev', ended: 'unfinished' }])
    expect(ledgerOf(start, shell('npm run dev', 'bye')).commands).toEqual([])
  })

  test('an exit code that nobody reported is not made up', () => {
    const [fact] = ledgerOf(call({ name: 'bash', input: { command: 'make all' }, text: 'done' })).commands
    expect(fact).toEqual({ text: 'make all', last: 1, ended: 'well', outcome: 'done' })
  })

  test('the latest run of a command is the last of the list and the only one', () => {
    const ledger = ledgerOf(shell('npm test', '1 failed', 1), shell('npx tsc', ''), shell('npm test', '9 passed'))
    expect(ledger.commands.map(({ text, ended, last }) => [text, ended, last])).toEqual([
      ['npx tsc', 'well', 3],
      ['npm test', 'well', 5],
    ])
  })
})

describe('errors', () => {
  test('are over when the very same thing succeeds, and say what the agent made of them', () => {
    const ledger = ledgerOf(
      shell('go build ./...', 'a.go:3:1: undefined: openDoor', 1),
      assistant('openDoor was renamed, so the call has to follow.'),
      edit('/p/a.go'),
      shell('go build ./...'),
      shell('go vet ./...', 'a.go:9:1: unreachable code, error', 1),
    )
    expect(ledger.errors).toEqual([
      {
        what: 'go build ./...',
        line: 'a.go:3:1: undefined: openDoor',
        last: 1,
        cause: 'openDoor was renamed, so the call has to follow.',
        isFixed: true,
      },
      { what: 'go vet ./...', line: 'a.go:9:1: unreachable code, error', last: 8, isFixed: false },
    ])
  })

  const failing = shell('go test ./a', 'FAIL: TestOpen', 1)
  const started = call({
    name: 'Bash',
    input: { command: 'go test ./a' },
    text: 'Command running in background with ID: b17x',
    raw: { stdout: '', backgroundTaskId: 'b17x' },
  })
  const ended = (exit: number) => human(`<task-notification>b17x completed (exit code ${exit})</task-notification>`)

  test('that come again after they were fixed are not fixed any more', () => {
    const { errors } = ledgerOf(failing, assistant('The door was locked.'), shell('go test ./a', 'ok'), failing)
    expect(errors).toMatchObject([{ what: 'go test ./a', cause: 'The door was locked.', isFixed: false }])
  })

  test('are in the order of their latest occurrence: one that comes again is the newest', () => {
    const { errors } = ledgerOf(failing, shell('go vet ./b', 'error: unreachable', 1), failing)
    expect(errors.map(({ what, last }) => [what, last])).toEqual([
      ['go vet ./b', 3],
      ['go test ./a', 5],
    ])
  })

  test('are not over when the same command was only started again, but when it has ended well', () => {
    const isFixed = (...parts: readonly (Said | readonly Said[])[]) =>
      ledgerOf(...parts).errors.map((error) => error.isFixed)
    expect(isFixed(failing, started)).toEqual([false])
    expect(isFixed(failing, started, ended(0))).toEqual([true])
    expect(isFixed(failing, shell('go test ./a', 'ok'), started, ended(1))).toEqual([true, false])
  })

  test('the end of a command in the background says nothing about a later run of the same command', () => {
    const commands = (...parts: readonly (Said | readonly Said[])[]) =>
      ledgerOf(...parts).commands.map(({ text, ended: how }) => [text, how])
    expect(commands(started, ended(0))).toEqual([['go test ./a', 'well']])
    expect(commands(started, failing, ended(0))).toEqual([['go test ./a', 'badly']])
    expect(commands(started, shell('go test ./a', 'ok'), ended(1))).toEqual([['go test ./a', 'well']])
    expect(ledgerOf(started, failing, ended(0)).errors.map(({ isFixed }) => isFixed)).toEqual([false])
  })

  test('another command of the same program going well is no fix', () => {
    const ledger = ledgerOf(
      shell('go test ./a', 'FAIL: TestOpen', 1),
      shell('go test ./b', 'ok'),
      shell('go test ./a', 'ok'),
    )
    expect(ledger.errors).toEqual([{ what: 'go test ./a', line: 'FAIL: TestOpen', last: 1, isFixed: true }])
    const open = ledgerOf(shell('go test ./a', 'FAIL: TestOpen', 1), shell('go test ./b', 'ok'))
    expect(open.errors).toEqual([{ what: 'go test ./a', line: 'FAIL: TestOpen', last: 1, isFixed: false }])
  })

  test('that differ in numbers only are one, and a second one that is not explained keeps the first explanation', () => {
    const ledger = ledgerOf(
      shell('make all', 'error: 3 things wrong', 2),
      assistant('The header is missing.'),
      shell('make all', 'error: 4 things wrong', 2),
    )
    expect(ledger.errors).toEqual([
      { what: 'make all', line: 'error: 4 things wrong', last: 4, cause: 'The header is missing.', isFixed: false },
    ])
  })

  test('only the first words behind an error explain it', () => {
    const [error] = ledgerOf(
      shell('make all', 'error: no rule', 2),
      assistant('The rule is missing.'),
      assistant('Now the other thing.'),
    ).errors
    expect(error?.cause).toBe('The rule is missing.')
  })

  test('are not what a user said no to, what finds nothing, or what another call broke', () => {
    const no = (text: string) => call({ name: 'Bash', input: { command: 'rm -r x' }, text, isError: true })
    const ledger = ledgerOf(
      no("The user doesn't want to proceed with this tool use."),
      no('[Request interrupted by user for tool use]'),
      call({
        name: 'Read',
        input: { file_path: '/a' },
        text: 'Permission to use Read has been denied.',
        isError: true,
      }),
      shell('grep -rn needle src', '', 1),
    )
    expect(ledger.errors).toEqual([])
  })
})

describe('the repository', () => {
  const status =
    'On branch main\n\nChanges to be committed:\n\tmodified:   a.ts\n\nChanges not staged for commit:\n\tmodified:   b.ts\n\nUntracked files:\n\tc.ts\n'

  test('is as outputs last showed it, and a commit changes it', () => {
    const ledger = ledgerOf(
      shell('git status', status),
      shell('git commit -m "Open the gate"', '[main 1a2b3c4] Open the gate\n 1 file changed'),
    )
    expect(ledger.repository).toEqual({
      branch: 'main',
      staged: ['a.ts'],
      unstaged: ['b.ts'],
      untracked: ['c.ts'],
      statusLast: 1,
      touchedLast: 3,
      pushedLast: -1,
      gitLast: 3,
    })
    expect(ledger.commits).toEqual([{ hash: '1a2b3c4', title: 'Open the gate', last: 3 }])
  })

  test('short status and a push are understood, a rejected or failed push is not believed', () => {
    const push = (text: string, exit = 0) =>
      ledgerOf(
        shell('git status -sb', '## main...origin/main [ahead 1]\nM  a.ts\n M b.ts\n?? c.ts'),
        shell('git push', text, exit),
      ).repository
    expect(push('   1a2b3c4..5d6e7f8  main -> main')).toMatchObject({
      branch: 'main',
      staged: ['a.ts'],
      unstaged: ['b.ts'],
      untracked: ['c.ts'],
      pushedLast: 3,
    })
    expect(push(' ! [rejected] main -> main (fetch first)')).toMatchObject({ pushedLast: -1 })
    expect(push('main -> main', 1)).toMatchObject({ pushedLast: -1 })
  })

  test('a git command that may have committed without a word is remembered, one that only looks is not', () => {
    expect(ledgerOf(...shell('git commit -qm done', '')).repository.gitLast).toBe(1)
    expect(ledgerOf(...shell('git log --oneline', '1a2b3c4 x')).repository.gitLast).toBe(-1)
    expect(ledgerOf(...shell('git commit -qm done', 'hook failed', 1)).repository.gitLast).toBe(-1)
  })

  test('the branch follows what the client records, and a detached head is no branch', () => {
    const said = (gitBranch: string): Said => ({ ...human('Go on.'), record: { cwd: '/p', gitBranch } })
    expect(ledgerOf(said('main'), said('feature')).repository.branch).toBe('feature')
    expect(ledgerOf(said('main'), said('HEAD')).repository.branch).toBe('main')
    const moved = { ...human('Go on.'), record: { cwd: '/p/src' } }
    expect([ledgerOf(said('main')).root, ledgerOf(said('main'), moved).root]).toEqual(['/p', '/p'])
  })
})

describe('todos', () => {
  test('the newest list stands, whoever wrote it, and an empty one too', () => {
    const items = [
      { content: 'Build', status: 'completed' },
      { content: 'Test', status: 'in_progress' },
    ]
    const todos = [
      { id: '1', text: 'Build', status: 'done' },
      { id: '2', text: 'Test', status: 'in-progress' },
    ]
    const wrote = call({ name: 'TodoWrite', input: { todos: items } })
    expect(ledgerOf(wrote).todos).toEqual(todos)
    expect(ledgerOf(call({ name: 'TodoWrite', input: { todos: [{ content: 'x' }] } }), wrote).todos).toEqual(todos)
    const plan = items.map(({ content, status }) => ({ step: content, status }))
    expect(ledgerOf(call({ name: 'update_plan', input: { plan } })).todos).toEqual(todos)
    expect(ledgerOf(wrote, call({ name: 'TodoWrite', input: { todos: [] } })).todos).toEqual([])
    expect(ledgerOf(wrote, call({ name: 'TodoWrite', input: { todos: [] }, isError: true })).todos).toEqual(todos)
  })

  test('tasks are made and changed one by one', () => {
    const ledger = ledgerOf(
      call({ name: 'TaskCreate', input: { subject: 'Build' }, raw: { task: { id: '7', subject: 'Build' } } }),
      call({ name: 'TaskCreate', input: { subject: 'Tests' }, text: 'Task #8 created' }),
      call({ name: 'TaskUpdate', input: { taskId: '7', status: 'completed' } }),
      call({ name: 'TaskUpdate', input: { taskId: '8', status: 'deleted' } }),
    )
    expect(ledger.todos).toEqual([{ id: '7', text: 'Build', status: 'done' }])
  })

  describe('that the client shows', () => {
    const todos = [
      { id: '1', text: 'Build', status: 'done' },
      { id: '2', text: 'Test', status: 'in-progress' },
    ]
    const written = [
      { content: 'Build', status: 'completed', activeForm: 'Building' },
      { content: 'Test', status: 'in_progress', activeForm: 'Testing' },
    ]
    const tasks = [
      { id: '1', subject: 'Build', description: 'All of it', status: 'completed', blocks: ['2'], blockedBy: [] },
      { id: 2, subject: 'Test', status: 'in_progress' },
    ]
    const attached = (attachment: JsonObject): Said => ({
      message: { role: 'user', origin: 'attachment', attachment: String(attachment.type), content: 'x' },
      record: { type: 'attachment', attachment },
    })
    const old = call({ name: 'TodoWrite', input: { todos: [{ content: 'Old', status: 'pending' }] } })

    test.each([
      ['after its compaction', attached({ type: 'todo', content: written, itemCount: 2, context: 'post-compact' })],
      ['in a reminder of todos', attached({ type: 'todo_reminder', content: written, itemCount: 2 })],
      ['in a reminder of tasks', attached({ type: 'task_reminder', content: tasks, itemCount: 2 })],
      ['beside a message', { ...human('Go on.'), record: { todos: written } }],
      ['as the result of a call that asks for them', call({ name: 'TaskList', input: {}, raw: { tasks } })],
    ])('%s replace the list before', (_, shown) => {
      expect(ledgerOf(old, ...[shown].flat()).todos).toEqual(todos)
    })

    test('are changed by later calls, and no empty reminder or other attachment takes them away', () => {
      const ledger = ledgerOf(
        attached({ type: 'task_reminder', content: tasks }),
        call({ name: 'TaskUpdate', input: { taskId: '2', status: 'completed' } }),
        attached({ type: 'task_reminder', content: [], itemCount: 0 }),
        attached({ type: 'diagnostics', content: [{ content: 'no todo', status: 'pending' }] }),
        { ...human('Go on.'), record: { todos: [] } },
      )
      expect(ledger.todos.map(({ text, status }) => `${text} ${status}`)).toEqual(['Build done', 'Test done'])
    })
  })

  test('of too many, the finished and then the oldest go', () => {
    const listed = Array.from({ length: 70 }, (_, at) => ({
      content: `task ${at}`,
      status: at >= 60 && at < 65 ? 'completed' : 'pending',
    }))
    const kept = ledgerOf(call({ name: 'TodoWrite', input: { todos: listed } })).todos.map(({ text }) => text)
    expect(kept).toEqual([...listed.slice(5, 60), ...listed.slice(65)].map(({ content }) => content))
  })
})

describe('the outcome of a run', () => {
  const steps = (...parts: readonly (Said | readonly Said[])[]) =>
    ledgerOf(human('Go'), ...parts).exchanges[0]?.steps?.map(({ text }) => text.replace(/^.* → /, ''))

  test('is not a line that the same program also printed when it ended the other way', () => {
    expect(
      steps(
        shell('lint check a.ts', 'a.ts is fine\nChecked in 4 folders'),
        shell('lint check b.ts', 'b.ts: the door hangs\nChecked in 4 folders', 1),
        shell('build && lint check b.ts', 'built\nChecked in 4 folders\nb.ts is fine'),
      ),
    ).toEqual(['ok: Checked in 4 folders', 'failed: b.ts: the door hangs', 'ok: b.ts is fine'])
    // Another program says nothing about it.
    expect(steps(shell('lint a.ts', 'Checked'), shell('pack a.ts', 'Checked', 1))).toEqual([
      'ok: Checked',
      'failed: Checked',
    ])
  })

  test.each([
    ['eslint src/a.ts', 'tsc && eslint src/a.ts', true],
    ['eslint src/a.ts', 'eslint', true],
    ['eslint src/a.ts', 'eslint src/b.ts', false],
    ['eslint src/a.ts', 'eslint src', false],
    ['git push --force', 'git push', false],
    ['npm test -- gate', 'npm test', true],
  ])('%s failed; that %s succeeds fixes it: %s', (failed, succeeded, isFixed) => {
    const { errors } = ledgerOf(shell(failed, 'error: no door', 1), shell(succeeded, 'done'))
    expect(errors).toMatchObject([{ what: failed, isFixed }])
  })
})
