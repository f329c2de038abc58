import type { Block, Message } from 'everlong'
import { blocksOf, isToolResult, isToolUse, textOf } from 'everlong/internal'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { syntheticRepository } from '../repository/repository.ts'
import { toolNamed } from '../repository/tool-names.ts'
import { toolsOf } from '../repository/tools.ts'
import { assistant, contextOf, converse, requestOf, user } from '../script/testing.ts'
import { agent } from './agent.ts'

const repository = syntheticRepository({ seed: 11, files: 40 })
const tasks = Array.from({ length: 5 }, (_, index) => `Task number ${index + 1}: make the tests pass.`)
const run = (seed: number, turnsPerTask = 12) =>
  converse({ script: agent({ repository, seed, turnsPerTask }), tools: toolsOf(repository), tasks })

const uses = (messages: readonly Message[]) =>
  messages.flatMap((message) => blocksOf(message.content).filter(isToolUse))
const isTest = (block: Block) => isToolUse(block) && JSON.stringify(block.input).includes('npm test')

test('sixty turns: every task ends with an answer, every tool use has its result in the next message', async () => {
  const { messages, turns } = await run(1)
  expect(turns.length).toBe(60)
  const endings = turns.map(({ answer }) => answer.content.some(isToolUse)).flatMap((acts, at) => (acts ? [] : [at]))
  expect(endings).toEqual([11, 23, 35, 47, 59])
  for (const [at, message] of messages.entries()) {
    const wanted = message.role === 'assistant' ? blocksOf(message.content).filter(isToolUse) : []
    const given = blocksOf(messages[at + 1]?.content).filter(isToolResult)
    expect(given.map((block) => block.tool_use_id)).toEqual(wanted.map((block) => block.id))
  }
  const ids = uses(messages).map((block) => block.id)
  expect(new Set(ids).size).toBe(ids.length)
})

test('the same seed gives the same conversation to the byte, another seed another', async () => {
  const [once, again, other] = await Promise.all([run(1), run(1), run(2)])
  expect(JSON.stringify(again.messages)).toBe(JSON.stringify(once.messages))
  expect(JSON.stringify(other.messages)).not.toBe(JSON.stringify(once.messages))
})

test('the work is real: the tests fail first, bugs are repaired, and in the end the tests pass', async () => {
  const tools = toolsOf(repository)
  const script = agent({ repository, seed: 3, turnsPerTask: 70 })
  const { messages } = await converse({ script, tools, tasks: ['Make all tests pass.'] })
  const runs = messages.flatMap((message, at) =>
    blocksOf(message.content).some(isTest) ? [textOf(messages[at + 1]?.content).includes(' FAIL  ')] : [],
  )
  expect(runs[0]).toBe(true)
  expect(runs.at(-1)).toBe(false)
  expect(tools.run('Bash', { command: 'npm test' }).isError).toBe(false)
  expect(textOf(messages.at(-1)?.content)).toContain(`Changed: ${repository.root}/${repository.bugs[0]?.path}`)
})

test('a long run has every kind of turn: all tools, parallel calls, thinking, text, large results', async () => {
  const { messages, turns } = await run(4, 40)
  expect(new Set(uses(messages).map((block) => block.name))).toEqual(
    new Set(['Read', 'Grep', 'Edit', 'Write', 'Bash', 'TodoWrite']),
  )
  const kinds = turns.map(({ answer }) => answer.content.map((block) => block.type).join(' '))
  for (const kind of ['tool_use', 'text tool_use', 'thinking tool_use', 'tool_use tool_use'])
    expect(kinds).toContain(kind)
  const begins = kinds.filter((_, at) => at % 40 === 0)
  expect(begins).toEqual(begins.map(() => 'thinking text tool_use'))
  expect(Math.max(...messages.map((message) => textOf(message.content).length))).toBeGreaterThan(40_000)
})

test('one answer a task, when that is what is asked', async () => {
  const { turns } = await run(1, 1)
  expect(turns.map(({ answer }) => answer.content)).toEqual(
    tasks.map((_, index) => [
      { type: 'text', text: `The task is finished. No file needed a change. [task ${index + 1}, done]` },
    ]),
  )
})

test('without tools it knows, it stops cleanly', () => {
  const script = agent({ repository })
  for (const tools of [[], [{ name: 'get_weather' }]]) {
    expect(script(requestOf('Go.', { tools }), contextOf())).toEqual({
      content: [{ type: 'text', text: 'I have no tools for this, so I stop here. [task 1, done]' }],
    })
  }
})

test('other names for the same tools are used as their schemas spell them', () => {
  const schema = { type: 'object', properties: { path: { type: 'string' } } }
  const script = agent({ repository, thinking: 0, turnsPerTask: 2 })
  const answer = script(requestOf('Go.', { tools: [{ name: 'read_file', input_schema: schema }] }), contextOf(7))
  expect(answer).toEqual({
    content: [
      { type: 'text', text: 'I run the tests to see what fails. [task 1, step 0]' },
      { type: 'tool_use', id: 'toolu_t1_s0_7_0', name: 'read_file', input: { path: `${repository.root}/README.md` } },
    ],
  })
})

test('it never calls a tool that is not offered', async () => {
  const names = [
    'Read',
    'view',
    'grep_search',
    'Edit',
    'write_file',
    'Bash',
    'shell',
    'TodoWrite',
    'update_plan',
    'other',
  ]
  await fc.assert(
    fc.asyncProperty(
      fc.subarray(names),
      fc.integer(),
      fc.integer({ min: 1, max: 30 }),
      async (offered, seed, turns) => {
        const tools = { ...toolsOf(repository), definitions: offered.map((name) => ({ name })) }
        const script = agent({ repository, seed, turnsPerTask: turns })
        const { messages, turns: taken } = await converse({ script, tools, tasks: tasks.slice(0, 2), most: 70 })
        expect(uses(messages).filter((block) => !offered.includes(block.name))).toEqual([])
        expect(taken.length).toBe(offered.some((name) => toolNamed(name)) ? turns * 2 : 2)
      },
    ),
    { numRuns: 60 },
  )
})

test.each([
  ['a summary that quotes an unfinished step', [user('Summary: "I run the tests. [task 3, step 6]"')], 3, 7],
  ['a summary with a request after it', [user('Summary [task 3, step 6]'), user('Mend the parser.')], 3, 7],
  ['a summary of finished work', [user('Summary [task 3, done] [task 2, step 6]'), user('Next, please.')], 4, 0],
  ['a summary that lost the marks', [user('The earlier conversation was about tests.')], 1, 0],
  [
    'a kept tail',
    [
      user('Summary [task 2, step 1]'),
      assistant([{ type: 'tool_use', id: 'toolu_t2_s4_9_0', name: 'Read', input: {} }]),
      user([{ type: 'tool_result', tool_use_id: 'toolu_t2_s4_9_0', content: '[cleared]' }]),
    ],
    2,
    5,
  ],
  [
    'a task that the user broke off',
    [user('Go.'), assistant('I begin. [task 2, step 0]'), user('Stop. Do something else.')],
    3,
    0,
  ],
])('after %s it continues at the right place', async (_name, messages, task, step) => {
  const request = requestOf(messages, { tools: toolsOf(repository).definitions })
  const answer = await agent({ repository, thinking: 0 })(request, contextOf(99))
  const [call] = answer.content.filter(isToolUse)
  expect(call?.id).toBe(`toolu_t${task}_s${step}_99_0`)
})

test('with every tool result cleared it still repairs a bug it once saw', async () => {
  const tools = toolsOf(repository)
  const cleared = async (messages: readonly Message[]) =>
    messages.map((message, at) =>
      at < messages.length - 1 && Array.isArray(message.content) && message.role === 'user'
        ? user(blocksOf(message.content).map((block) => ({ ...block, content: '[Old tool result content cleared]' })))
        : message,
    )
  await converse({ script: agent({ repository, turnsPerTask: 9 }), tools, tasks: ['Mend it.'], reduce: cleared })
  const bug = repository.bugs[0]!
  expect(tools.files.get(bug.path)).toContain(bug.right)
})

test('habits show: one reads more, one writes more, one says more', async () => {
  const habits = ['reading', 'editing', 'long-outputs'] as const
  const told = await Promise.all(
    habits.map(async (habit) => {
      const script = agent({ repository, seed: 5, turnsPerTask: 9, habit })
      const { messages } = await converse({ script, tools: toolsOf(repository), tasks })
      const named = (name: string) => uses(messages).filter((block) => block.name === name).length
      const said = messages
        .filter(({ role }) => role === 'assistant')
        .reduce((sum, { content }) => sum + spoken(content), 0)
      return { Read: named('Read'), Write: named('Write'), said }
    }),
  )
  const most = (key: 'Read' | 'Write' | 'said') => {
    const values = told.map((counts) => counts[key])
    return habits[values.indexOf(Math.max(...values))]
  }
  expect([most('Read'), most('Write'), most('said')]).toEqual(['reading', 'editing', 'long-outputs'])
})

const spoken = (content: Message['content']) =>
  textOf(blocksOf(content).filter((block) => block.type === 'text')).length
