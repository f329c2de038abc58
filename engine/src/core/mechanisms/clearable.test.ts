import { describe, expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import { reductionSettings } from '../settings/resolve.ts'
import { toolCall } from '../tools/call.ts'
import { foldEntries } from '../transcript/view/fold.ts'
import { clearableKind, clearableResults, newestStaying } from './clearable.ts'
import { situationOf } from './situation.ts'
import { viewOf } from './testing/examples.ts'

const kindOf = (name: string, input: unknown = {}) => clearableKind(toolCall({ name, input }), reductionSettings())

describe('which tools’ results may be cleared', () => {
  test.each([
    ['read', ['Read', 'read_file', 'view', 'ReadTextFile', 'fs_read']],
    [
      'shell',
      ['Bash', 'bash_20250124', 'shell', 'exec_command', 'run_shell_command', 'execute_bash', 'run_terminal_cmd'],
    ],
    ['grep', ['Grep', 'grep_search', 'search_file_content', 'search_files']],
    ['glob', ['Glob', 'LS', 'list_directory', 'find', 'list_files']],
    ['web-fetch', ['WebFetch', 'webfetch', 'web_fetch']],
    ['web-search', ['WebSearch', 'google_web_search', 'web_search']],
    ['edit', ['Edit', 'MultiEdit', 'apply_patch', 'replace_in_file', 'search_replace']],
    ['write', ['Write', 'write_file', 'write_to_file']],
  ])('%s, in the spellings of well-known agents', (kind, names) => {
    expect(names.map((name) => kindOf(name))).toEqual(names.map(() => kind))
  })

  test.each([
    ['AskUserQuestion'],
    ['ask_followup_question'],
    ['NotebookEdit'],
    ['NotebookRead'],
    ['TodoWrite'],
    ['TodoRead'],
    ['Task'],
    ['TaskOutput'],
    ['update_plan'],
    ['BashOutput'],
    ['mcp__files__read_file'],
    ['mcp__db__read'],
    ['something_new'],
    ['toString'],
    [''],
  ])('never %s', (name) => {
    expect(kindOf(name)).toBeUndefined()
  })

  test('one editor tool for several jobs: its command says which', () => {
    const commands = ['view', 'create', 'str_replace', 'insert', 'dance']
    expect(commands.map((command) => kindOf('str_replace_based_edit_tool', { command }))).toEqual([
      'read',
      'write',
      'edit',
      'edit',
      undefined,
    ])
  })

  test('the host’s word comes first', () => {
    const rules = {
      reproducible: ['mcp__db__query', 'mcp__files__read_file'],
      toolKinds: { peek: 'read', Bash: null },
    } as const
    const of = (name: string) => clearableKind(toolCall({ name, input: {} }), rules)
    expect(['mcp__db__query', 'mcp__files__read_file', 'peek', 'Bash'].map(of)).toEqual([
      'reproducible',
      'read',
      'read',
      undefined,
    ])
  })
})

test('a long result that begins like a cleared one is cleared like any other', () => {
  const built = session()
    .user('look')
    .toolUse('t1', 'Bash', { command: 'cat page.md' })
    .toolResult('t1', `[Old tool result content cleared] Recall it by its id: t9\n${'x'.repeat(4_000)}`)
    .assistant('seen')
  const view = viewOf(built.records)
  expect(clearableResults(view, situationOf(view, { now: 0 })).map(({ toolUseId }) => toolUseId)).toEqual(['t1'])
})

describe('the results that may be cleared', () => {
  const built = session()
    .user('look')
    .toolUse('t1', 'Read', { file_path: 'a.ts' })
    .toolResult('t1', 'x'.repeat(4_000))
    .toolUse('t2', 'AskUserQuestion', {})
    .toolResult('t2', 'y'.repeat(4_000))
    .toolUse('t3', 'Bash', {})
    .toolResult('t3', '[Old tool result content cleared]')
    .toolUse('t4', 'Read', { file_path: 'b.png' })
    .toolResult('t4', [{ type: 'image', source: { type: 'url', url: 'https://example.com/b.png' } }])

  test('are listed in order with what they weigh: an image 2,000', () => {
    const view = viewOf(built.records)
    const { now, estimator } = { now: 0, estimator: 'chars/4' } as const
    expect(clearableResults(view, situationOf(view, { now, estimator }))).toEqual([
      {
        type: 'result',
        toolUseId: 't1',
        tool: 'Read',
        kind: 'read',
        path: 'a.ts',
        uuids: [view.messages[2]?.uuid],
        message: 2,
        tokens: 1_000,
        frees: 992,
      },
      {
        type: 'result',
        toolUseId: 't4',
        tool: 'Read',
        kind: 'read',
        path: 'b.png',
        uuids: [view.messages[8]?.uuid],
        message: 8,
        tokens: 2_000,
        frees: 1_992,
      },
    ])
  })

  test('leave out what is pinned, the result or its call', () => {
    const view = viewOf(built.records)
    const idsWith = (...pins: readonly (string | undefined)[]) => {
      const pinned = { ...view, pins: pins.filter((uuid) => uuid !== undefined) }
      return clearableResults(pinned, situationOf(pinned, { now: 0 })).map(({ toolUseId }) => toolUseId)
    }
    expect(idsWith(view.messages[2]?.uuid)).toEqual(['t4'])
    expect(idsWith(view.messages[1]?.uuid)).toEqual(['t4'])
    expect(idsWith(view.messages[7]?.uuid, view.messages[1]?.uuid)).toEqual([])
  })

  test('are none in an empty conversation', () => {
    const view = foldEntries([])
    expect(clearableResults(view, situationOf(view, { now: 0 }))).toEqual([])
  })
})

describe('how many of the newest stay', () => {
  const stayingIn = (built: ReturnType<typeof session>, keepFinished: boolean, keep: number) => {
    const view = viewOf(built.records)
    const results = clearableResults(view, situationOf(view, { now: 0 }))
    return newestStaying(view, { keepFinished }, { results, keep })
  }
  const called = (built: ReturnType<typeof session>, from: number, to: number) => {
    for (let at = from; at <= to; at++) built.toolUse(`t${at}`, 'Bash', {}).toolResult(`t${at}`, 'some output')
    return built
  }

  test('as many as are to be kept, no more than there are, and what no answer has seen', () => {
    const built = called(session().user('go'), 1, 4)
    expect([stayingIn(built, true, 3), stayingIn(built, true, 9), stayingIn(built, true, 0)]).toEqual([3, 4, 1])
  })

  test('where finished turns are not kept, only those of the turn at hand, and none once a person has spoken again', () => {
    const built = called(called(session().user('go'), 1, 4).assistant('Done.').user('next'), 5, 6)
    expect([stayingIn(built, false, 5), stayingIn(built, false, 1)]).toEqual([2, 1])
    expect(stayingIn(built.assistant('Done.').user('and now?'), false, 5)).toBe(0)
  })

  test('what nobody has seen yet stays, however few are to be kept', () => {
    expect(stayingIn(called(session().user('go'), 1, 3), false, 0)).toBe(1)
  })
})
