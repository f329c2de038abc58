import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../message/json.ts'
import type { Origin } from '../message/message.ts'

import { createStateBook, type StateBook } from './state-book.ts'

let count = 0

const say = (book: StateBook, origin: Origin, content: string, record: JsonObject = {}) =>
  book.add({ role: 'user', origin, content }, record)

const attach = (book: StateBook, attachment: JsonObject) =>
  book.add(
    { role: 'user', origin: 'attachment', attachment: String(attachment.type), content: 'x' },
    { type: 'attachment', attachment },
  )

function use(
  book: StateBook,
  {
    name,
    input = {},
    text = 'ok',
    isError = false,
    raw,
  }: { name: string; input?: JsonObject; text?: string; isError?: boolean; raw?: JsonObject },
): string {
  const id = `t${count++}`
  book.add({ role: 'assistant', origin: 'assistant', content: [{ type: 'tool_use', id, name, input }] })
  const result = { type: 'tool_result', tool_use_id: id, content: text, ...(isError ? { is_error: true } : {}) }
  book.add({ role: 'user', origin: 'tool-result', content: [result] }, raw ? { toolUseResult: raw } : {})
  return id
}

const bookOf = (fill: (book: StateBook) => void): StateBook => {
  const book = createStateBook()
  fill(book)
  return book
}

describe('plan', () => {
  const planOf = (fill: (book: StateBook) => void) => bookOf(fill).state().plan

  test('how often the user has spoken since it changed is known; being told it again does not make it new', () => {
    const plan = { type: 'plan_file_reference', planFilePath: '/p', planContent: '# Plan' }
    const aged = bookOf((book) => {
      attach(book, plan)
      say(book, 'human', 'Do it.')
      attach(book, plan)
      say(book, 'human', 'And now something else.')
      use(book, { name: 'Read', input: { file_path: '/p' } })
    })
    expect(aged.state().plan).toEqual({ path: '/p', text: '# Plan', isOn: false, requestsSince: 2 })
    use(aged, { name: 'Edit', input: { file_path: '/p', new_string: 'x' } })
    expect(aged.state().plan).toEqual({ path: '/p', text: '# Plan', isOn: false })
  })

  test('no sign of a plan, no plan', () => {
    expect(planOf((book) => say(book, 'human', 'Go on.', { permissionMode: 'default' }))).toBeUndefined()
  })

  test('plan mode is on with an attachment, with the mode of a request, or with the tool that enters it', () => {
    expect(planOf((book) => attach(book, { type: 'plan_mode', planFilePath: '/p' }))).toEqual({
      path: '/p',
      isOn: true,
    })
    expect(planOf((book) => say(book, 'human', 'Plan it.', { permissionMode: 'plan' }))).toEqual({ isOn: true })
    expect(planOf((book) => use(book, { name: 'EnterPlanMode' }))).toEqual({ isOn: true })
    expect(planOf((book) => use(book, { name: 'EnterPlanMode', isError: true }))).toBeUndefined()
  })

  test('it is off when the client says so, and the file is still known', () => {
    const left = planOf((book) => {
      attach(book, { type: 'plan_mode', planFilePath: '/p' })
      attach(book, { type: 'plan_mode_exit', planFilePath: '/p' })
    })
    expect(left).toEqual({ path: '/p', isOn: false })
    const asked = planOf((book) => {
      say(book, 'human', 'Plan it.', { permissionMode: 'plan' })
      say(book, 'human', 'Do it.', { permissionMode: 'acceptEdits' })
    })
    expect(asked).toEqual({ isOn: false })
  })

  test('the text comes from a reference, from the call that ends plan mode, or from the request that carries it', () => {
    const reference = { type: 'plan_file_reference', planFilePath: '/p', planContent: '# Plan' }
    expect(planOf((book) => attach(book, reference))).toEqual({ path: '/p', text: '# Plan', isOn: false })
    expect(planOf((book) => use(book, { name: 'ExitPlanMode', input: { plan: '# Plan' } }))).toEqual({
      text: '# Plan',
      isOn: false,
    })
    expect(
      planOf((book) => use(book, { name: 'ExitPlanMode', input: {}, raw: { plan: '# Plan', filePath: '/p' } })),
    ).toEqual({ path: '/p', text: '# Plan', isOn: false })
    expect(planOf((book) => say(book, 'human', 'Implement it.', { planContent: '# Plan' }))).toEqual({
      text: '# Plan',
      isOn: false,
    })
  })

  test('a plan that was turned down leaves plan mode on, with or without an error flag', () => {
    for (const refusal of [{ isError: true }, { text: "The user doesn't want to proceed with this plan." }]) {
      const plan = planOf((book) => {
        attach(book, { type: 'plan_mode' })
        use(book, { name: 'ExitPlanMode', input: { plan: '# Plan' }, ...refusal })
      })
      expect(plan).toEqual({ text: '# Plan', isOn: true })
    }
  })

  test('another plan file does not take over the text of the first', () => {
    const plan = planOf((book) => {
      attach(book, { type: 'plan_file_reference', planFilePath: '/p', planContent: '# Old' })
      attach(book, { type: 'plan_mode', planFilePath: '/q' })
    })
    expect(plan).toEqual({ path: '/q', isOn: true })
  })

  test('the result of any other tool is no plan', () => {
    expect(planOf((book) => use(book, { name: 'mcp__x__y', raw: { plan: 'p', filePath: '/key' } }))).toBeUndefined()
  })
})

test('what a compaction puts back does not take the place of what is known', () => {
  const book = bookOf((each) => {
    attach(each, { type: 'plan_file_reference', planFilePath: '/p', planContent: '# The whole plan' })
    attach(each, {
      type: 'plan',
      content: 'Plan /p\n# Part of it',
      isRestored: true,
      state: { plan: { path: '/p', isOn: true, hasText: true } },
    })
  })
  expect(book.state().plan).toEqual({ path: '/p', text: '# The whole plan', isOn: false })
})

describe('skills and commands', () => {
  const skillsOf = (fill: (book: StateBook) => void) => bookOf(fill).state().skills
  const command = (book: StateBook, name: string, text: string) => {
    say(book, 'human', `<command-message>x</command-message>\n<command-name>/${name}</command-name>`)
    attach(book, { type: 'command_permissions' })
    say(book, 'meta', text)
  }

  test('what a skill says comes after its call, what a command says after its name', () => {
    const skills = skillsOf((book) => {
      const id = use(book, { name: 'Skill', input: { skill: 'review' } })
      say(book, 'meta', 'How to review', { sourceToolUseID: id })
      command(book, 'apply', 'Implement the tasks')
    })
    expect(skills).toEqual([
      { name: '/apply', text: 'Implement the tasks', isRunning: true },
      { name: 'review', text: 'How to review' },
    ])
  })

  test('what a skill says may be its result, but a word that it starts is not', () => {
    const text = 'Skill release\n\nPublish on Tuesdays.'
    const skills = skillsOf((book) => {
      use(book, { name: 'Skill', input: { skill: 'release' }, text })
      use(book, { name: 'Skill', input: { skill: 'review' }, text: 'Launching skill: review' })
    })
    expect(skills).toEqual([{ name: 'release', text, isRunning: true }])
  })

  test('of skills that a client lists only the first was invoked last', () => {
    const listed = ['now', 'before'].map((name) => ({ name, content: name }))
    expect(skillsOf((book) => attach(book, { type: 'invoked_skills', skills: listed }))).toEqual([
      { name: 'now', text: 'now', isRunning: true },
      { name: 'before', text: 'before' },
    ])
  })

  test('output of a built-in command is no instruction, nor is a later reminder', () => {
    const skills = skillsOf((book) => {
      command(book, 'model', '<local-command-stdout>Set model</local-command-stdout>')
      say(book, 'meta', 'Something else')
      say(book, 'human', '<command-name>/x</command-name>')
      use(book, { name: 'Read' })
      say(book, 'meta', 'A reminder')
    })
    expect(skills).toEqual([])
  })

  test('the latest is being executed until a person has said a few more things', () => {
    const isRunning = (requests: number) =>
      skillsOf((book) => {
        command(book, 'apply', 'Implement')
        for (let each = 0; each < requests; each++) say(book, 'human', 'Yes.')
      })[0]?.isRunning === true
    expect([0, 1, 2, 3].map(isRunning)).toEqual([true, true, true, false])
  })
})

test('a server is used when one of its tools was called', () => {
  const book = bookOf((each) => {
    attach(each, { type: 'mcp_instructions_delta', addedNames: ['my docs', 'idle'], addedBlocks: ['Docs.', 'Idle.'] })
    use(each, { name: 'mcp__my_docs__search' })
  })
  expect(book.state().mcpInstructions).toEqual([
    { name: 'my docs', text: 'Docs.', isUsed: true },
    { name: 'idle', text: 'Idle.', isUsed: false },
  ])
})

describe('agents in the background', () => {
  const launched = (book: StateBook) =>
    use(book, { name: 'Agent', raw: { isAsync: true, agentId: 'a1', description: 'look' } })
  const agent = { id: 'a1', type: 'agent', description: 'look', state: 'running' }
  const notice = (more: string) => `<task-notification>\n<task-id>a1</task-id>\n${more}</task-notification>`
  const agentsAfter = (fill: (book: StateBook) => void) =>
    bookOf((book) => {
      launched(book)
      fill(book)
    }).state().agents

  test('run until they report', () => {
    expect(bookOf(launched).state().agents).toEqual([agent])
  })

  test('are named with the first line of their report, also when it was queued while the agent worked', () => {
    const text = notice('<status>completed</status>\n<result>All doors are shut.\n\n# Report</result>\n')
    const finished = [{ ...agent, state: 'finished', result: 'All doors are shut.' }]
    expect(agentsAfter((book) => say(book, 'meta', text))).toEqual(finished)
    const queued = { role: 'user', origin: 'attachment', attachment: 'queued_command', content: text } as const
    expect(agentsAfter((book) => book.add(queued))).toEqual(finished)
    const failed = notice('<status>failed</status>\n<result>No key.</result>')
    expect(agentsAfter((book) => say(book, 'meta', failed))).toMatchObject([{ result: 'failed: No key.' }])
    expect(agentsAfter((book) => say(book, 'meta', notice('')))).toEqual([{ ...agent, state: 'finished' }])
  })

  test('that reported before a compaction are named by that one only; running ones by the next as well', () => {
    const compacted = (book: StateBook) => book.add({ role: 'user', origin: 'summary', content: 'so far' })
    expect(agentsAfter(compacted)).toEqual([agent])
    const over = agentsAfter((book) => {
      say(book, 'meta', notice(''))
      compacted(book)
    })
    expect(over).toEqual([])
    const state = { agents: [{ ...agent, state: 'finished' }] }
    const reopened = bookOf((book) => attach(book, { type: 'agents', content: 'x', isRestored: true, state }))
    expect(reopened.state().agents).toEqual([])
  })

  test('that are started again are running again, and an answer that quotes a report ends nothing', () => {
    const again = agentsAfter((book) => {
      say(book, 'meta', notice(''))
      launched(book)
    })
    expect(again).toEqual([agent])
    const quoted = { role: 'assistant', origin: 'assistant', content: notice('') } as const
    expect(agentsAfter((book) => book.add(quoted))).toEqual([agent])
  })
})

test('a skill that was restored as an earlier one is not running when the session is opened again', () => {
  const restored = (name: string, isRunning: boolean) => ({
    ...{ type: 'skills', content: `Skill ${name}\nHow to`, isRestored: true },
    state: { skill: { name, isRunning } },
  })
  const skillsOf = (...attachments: readonly JsonObject[]) =>
    bookOf((book) => {
      for (const attachment of attachments) attach(book, attachment)
    })
      .state()
      .skills.map(({ name, isRunning }) => [name, isRunning === true])
  expect(skillsOf(restored('old', false))).toEqual([['old', false]])
  expect(skillsOf(restored('now', true), restored('old', false), restored('older', false))).toEqual([
    ['now', true],
    ['old', false],
    ['older', false],
  ])
})

test('what was restored by an earlier compaction is read back where the records before it are not', () => {
  const restored = (type: string, content: string, more: JsonObject = {}) => ({
    type,
    content,
    isRestored: true,
    ...more,
  })
  const agent = { id: 'a1', type: 'explore', description: 'look', state: 'running' }
  const attachments = [
    restored('plan', 'Plan /p (plan mode is on)\n# The plan', {
      state: { plan: { path: '/p', isOn: true, hasText: true } },
    }),
    restored('skills', 'Skill now\nfirst', { state: { skill: { name: 'now', path: '/s' } } }),
    restored('skills', 'Skill before\nsecond', { state: { skill: { name: 'before' } } }),
    restored('agents', 'Agents\n- a1', { state: { agents: [agent] } }),
    restored('memory-files', 'Instructions\nrules', { filename: '/w/sub/AGENTS.md' }),
    restored('tools', 'Instructions of the MCP server docs\nUse it.', { state: { server: 'docs' } }),
    restored('tools', 'Tools that can be loaded\nCron: runs things', { state: { deferredTools: true } }),
  ]
  const book = bookOf((each) => {
    for (const attachment of attachments) attach(each, attachment)
  })
  expect(book.state()).toMatchObject({
    plan: { path: '/p', text: '# The plan', isOn: true },
    skills: [
      { name: 'now', path: '/s', text: 'first', isRunning: true },
      { name: 'before', text: 'second' },
    ],
    agents: [agent],
    memoryFiles: ['/w/sub/AGENTS.md'],
    mcpInstructions: [{ name: 'docs', text: 'Use it.' }],
    deferredTools: ['Cron: runs things'],
  })
  const known = bookOf((each) => {
    attach(each, { type: 'invoked_skills', skills: [{ name: 'now', content: 'the whole of it' }] })
    for (const attachment of attachments) attach(each, attachment)
  })
  expect(known.state().skills[0]).toMatchObject({ name: 'now', text: 'the whole of it' })
})

test('a note that there is no plan is not read back as the plan', () => {
  const book = bookOf((each) =>
    attach(each, {
      type: 'plan',
      content: 'Plan (plan mode is on)\nThere is no plan yet.',
      isRestored: true,
      state: { plan: { isOn: true, hasText: false } },
    }),
  )
  expect(book.state().plan).toEqual({ isOn: true })
})
