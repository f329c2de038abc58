import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixed, text, toolUse } from '@everlong/simulator'
import { messagesOf, textOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import { z } from 'zod'
import type { AgentEvent } from './app.ts'
import { sessionsFolder } from './sessions/places.ts'
import { type AgentStage, agentStages } from './testing/agent-stage.ts'
import { fill } from './testing/history.ts'
import { gate, until } from './testing/over-http.ts'
import { defineTool } from './tool.ts'

const stage = agentStages()

const wait = (opened: Promise<void>) =>
  defineTool({
    name: 'Wait',
    description: 'Waits.',
    input: z.object({}),
    run: () => opened.then(() => 'Done waiting.'),
  })

/** What people and model said, and what tools returned, without what the client added. */
async function said({ agent }: AgentStage): Promise<readonly string[]> {
  return messagesOf([...(await agent.session().entries())])
    .filter(({ origin }) => origin !== 'attachment')
    .map(({ origin, content }) => `${origin}: ${textOf(content) || JSON.stringify(content)}`)
}

function typesOf(events: readonly AgentEvent[]): readonly string[] {
  const types = events.map(({ type }) => type).filter((type) => !['engine', 'stream', 'state'].includes(type))
  return types.filter((type, at) => type !== types[at - 1])
}

test('a prompt runs a turn, and the session is saved in the home of the person', async () => {
  const set = await stage({ script: () => text('Hello.') })
  const { agent, events, folder, home } = set
  await agent.submit({ text: 'Hi' })
  expect(typesOf(events)).toEqual(['prompt', 'answer', 'stopped'])
  expect(await said(set)).toEqual(['human: Hi', 'assistant: Hello.'])
  expect(readdirSync(sessionsFolder(home, folder)).filter((name) => name.endsWith('.jsonl'))).toEqual([
    `${agent.session().id}.jsonl`,
  ])
  expect(agent.state()).toEqual({
    isBusy: false,
    sessionId: agent.session().id,
    name: `hi-${agent.session().id.slice(0, 4)}`,
    mode: 'ask',
    model: 'anthropic:claude-opus-4-5',
    queued: [],
    tasks: [],
  })
})

test('what the tools redact is redacted in the files that a compaction restores', async () => {
  const redact = (given: string) => given.replaceAll('hunter2hunter2', '[redacted]')
  const { agent } = await stage({
    script: () => text('Hello.'),
    prepare: ({ folder }) => writeFileSync(join(folder, 'a.txt'), 'The first line.\nkey hunter2hunter2\n'),
    agent: { createTools: async () => ({ tools: [], redact, close: async () => undefined }) },
  })
  const session = agent.session()
  session.add({ role: 'user', content: 'Read it.' })
  session.add({
    role: 'assistant',
    content: [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a.txt' } }],
  })
  const content = '1\tThe first line.\n2\tkey [redacted]'
  session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content }] })
  session.add({ role: 'assistant', content: 'Read.' })
  fill(session, { rounds: 4, tokens: 2_000 })
  expect(await session.compact()).toMatchObject({ type: 'compacted' })
  const told = session.messages().map((message) => textOf(message.content))
  expect(told.join('\n')).toContain('File a.txt\nThe first line.\nkey [redacted]\n')
})

test('the tools count before the first prompt', async () => {
  const bare = await stage({ script: () => text('Hello.') })
  const equipped = await stage({ script: () => text('Hello.'), tools: [wait(Promise.resolve())] })
  const tokens = ({ agent }: AgentStage) => agent.session().explain().size.tokens
  expect(tokens(equipped)).toBeGreaterThan(tokens(bare))
})

test('a prompt during a turn is queued, and joins the next request of that turn', async () => {
  const { opened, open } = gate()
  const set = await stage({
    script: fixed([toolUse('Wait'), text('Both done.')]),
    tools: [wait(opened)],
  })
  const { agent, events } = set
  const first = agent.submit({ text: 'Wait for it.' })
  await until(() => events.some(({ type }) => type === 'tool-started'))
  const second = agent.submit({ text: 'And be brief.' })
  expect(agent.state()).toMatchObject({ isBusy: true, queued: [{ text: 'And be brief.' }] })
  open()
  await Promise.all([first, second])
  expect(events.flatMap((event) => (event.type === 'prompt' ? [[event.prompt.text, event.isQueued]] : []))).toEqual([
    ['Wait for it.', false],
    ['And be brief.', true],
    ['And be brief.', false],
  ])
  expect(await said(set)).toEqual([
    'human: Wait for it.',
    expect.stringContaining('assistant: [{"type":"tool_use"'),
    'tool-result: Done waiting.',
    'human: And be brief.',
    'assistant: Both done.',
  ])
  expect(agent.state()).toMatchObject({ isBusy: false, queued: [] })
})

test('what is queued can be taken back while the turn continues', async () => {
  const { opened, open } = gate()
  const set = await stage({ script: fixed([toolUse('Wait'), text('Done.')]), tools: [wait(opened)] })
  const { agent, events } = set
  const first = agent.submit({ text: 'Wait for it.' })
  await until(() => events.some(({ type }) => type === 'tool-started'))
  void agent.submit({ text: 'Later.' })
  expect(agent.takeQueued()).toEqual([{ text: 'Later.' }])
  expect(agent.state()).toMatchObject({ isBusy: true, queued: [] })
  open()
  await first
  expect((await said(set)).filter((message) => message.startsWith('human'))).toEqual(['human: Wait for it.'])
})

test('an interrupt stops a tool, gives back what was queued, and the next prompt continues', async () => {
  const { opened } = gate()
  const set = await stage({
    script: fixed([toolUse('Wait', {}, 'toolu_wait'), text('Here again.')]),
    tools: [wait(opened)],
  })
  const { agent, events } = set
  const first = agent.submit({ text: 'Wait for it.' })
  await until(() => events.some(({ type }) => type === 'tool-started'))
  void agent.submit({ text: 'Later.' })
  expect(agent.interrupt()).toEqual([{ text: 'Later.' }])
  await first
  expect(events.findLast(({ type }) => type === 'stopped')).toMatchObject({ why: 'aborted' })
  await agent.submit({ text: 'Go on.' })
  const messages = await said(set)
  expect(messages.join('\n')).toContain('Interrupted before it finished.')
  expect(messages.slice(-3)).toEqual([
    'meta: The person interrupted the work here.',
    'human: Go on.',
    'assistant: Here again.',
  ])
})

test('an interrupt while the model answers leaves the prompt, and nothing of the answer', async () => {
  const { opened, open } = gate()
  const set = await stage({
    script: async ({ messages }) => {
      if (messages.length === 1 && !JSON.stringify(messages).includes('again')) await opened
      return text('Answered.')
    },
  })
  const { agent, events, requests } = set
  const first = agent.submit({ text: 'Think long.' })
  await until(() => requests.length === 1)
  agent.interrupt()
  await first
  open()
  expect(typesOf(events)).toEqual(['prompt', 'stopped'])
  await agent.submit({ text: 'Try again.' })
  expect((await said(set)).at(-1)).toBe('assistant: Answered.')
})

test('news of a background task starts a turn when none runs', async () => {
  const set = await stage({ script: () => text('I saw it.') })
  const { agent, setup, events } = set
  setup().onTasks([{ id: '1', title: 'npm test', isRunning: false }])
  setup().sendNews('The task 1 (npm test) has ended with exit code 0.', agent.session())
  await until(() => events.some(({ type }) => type === 'stopped'))
  expect(await said(set)).toEqual(['meta: The task 1 (npm test) has ended with exit code 0.', 'assistant: I saw it.'])
  expect(agent.state().tasks).toEqual([{ id: '1', title: 'npm test', isRunning: false }])
})

test('instructions of a folder join when a file in it is touched, once', async () => {
  const read = defineTool({
    name: 'Read',
    description: 'Reads.',
    input: z.object({ file_path: z.string() }),
    run: () => 'export {}',
  })
  const call = toolUse('Read', { file_path: 'src/deep/main.ts' })
  const set = await stage({
    script: fixed([call, call, text('Done.')]),
    tools: [read],
    prepare: ({ folder, home }) => {
      writeFileSync(join(folder, 'AGENTS.md'), 'Root rule.')
      writeFileSync(join(home, 'AGENTS.md'), 'My own rule.')
      mkdirSync(join(folder, 'src/deep'), { recursive: true })
      writeFileSync(join(folder, 'src/CLAUDE.md'), 'Rule of src.\n@deep/more.md')
      writeFileSync(join(folder, 'src/deep/more.md'), 'And more.')
    },
  })
  const { agent, requests } = set
  await agent.submit({ text: 'Read it twice.' })
  const count = (words: string) => JSON.stringify(requests.at(-1)).split(words).length - 1
  expect([count('Root rule.'), count('My own rule.'), count('Rule of src.'), count('And more.')]).toEqual([1, 1, 1, 1])
  expect(JSON.stringify(requests[0])).not.toContain('Rule of src.')
})

test.each([
  ['yes', { type: 'allow' }, 1],
  ['no', { type: 'deny' }, 0],
] as const)(
  'in ask mode the person is asked before a compaction; with %s it runs accordingly',
  async (_, answer, compactions) => {
    const asked: string[] = []
    const set = await stage({
      script: () => text('Here you are.'),
      settings: {
        engine: { economy: 'claude-code', compaction: 'ask', contextWindow: 52_000, maxOutputTokens: 4_000 },
      },
      person: {
        askPermission: async ({ title }) => {
          asked.push(title)
          return answer
        },
      },
    })
    fill(set.agent.session(), { rounds: 10, tokens: 4_500 })
    await set.agent.submit({ text: 'And now?' })
    expect(asked).toEqual(['Compact the conversation now'])
    expect(set.events.filter(({ type }) => type === 'receipt')).toHaveLength(compactions)
  },
)

test('an interrupt during an automatic compaction leaves the conversation as it was', async () => {
  const set = await stage({
    script: () => text('Here you are.'),
    settings: { engine: { economy: 'claude-code', contextWindow: 52_000, maxOutputTokens: 4_000 } },
  })
  fill(set.agent.session(), { rounds: 10, tokens: 4_500 })
  const before = JSON.stringify(set.agent.session().messages())
  const stop = set.agent.on((event) => {
    if (event.type === 'engine' && event.event.type === 'compaction-progressed') set.agent.interrupt()
  })
  await set.agent.submit({ text: 'And now?' })
  stop()
  expect(set.events.filter(({ type }) => type === 'receipt')).toEqual([])
  expect(JSON.stringify(set.agent.session().messages()).startsWith(before.slice(0, -1))).toBe(true)
  await set.agent.submit({ text: 'Go on.' })
  expect(set.events.filter(({ type }) => type === 'receipt')).toHaveLength(1)
  expect((await said(set)).at(-1)).toBe('assistant: Here you are.')
})

test('a session that another agent writes is refused, with who writes it and how to work in a copy', async () => {
  const set = await stage({ script: () => text('Yes.') })
  await set.agent.submit({ text: 'Are you there?' })
  const { path = '', id } = set.agent.session()
  await expect(set.again({ session: { type: 'open', path } })).rejects.toThrow(
    new RegExp(
      `^The session ${id} is in use by everlong agent \\(process ${process.pid}, since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d\\)\\. ` +
        'Quit that one, or add --fork to work in a copy\\.$',
    ),
  )
  const copy = await set.again({ session: { type: 'fork', path } })
  expect(await said(copy)).toEqual(await said(set))
})

test('a session whose agent may have crashed in another container is refused with when it is free', async () => {
  const set = await stage({ script: () => text('Yes.') })
  await set.agent.submit({ text: 'Are you there?' })
  const { path = '', id } = set.agent.session()
  await set.agent.close()
  const [acquiredAt, expiresAt] = [-1_000, 29_000].map((ms) => new Date(Date.now() + ms).toISOString())
  const lock = { owner: 'everlong agent', pid: 12, host: 'container-1', token: 'one', acquiredAt, expiresAt }
  writeFileSync(`${path}.lock`, JSON.stringify(lock))
  await expect(set.again({ session: { type: 'open', path } })).rejects.toThrow(
    new RegExp(
      `^The session ${id} is in use by everlong agent \\(process 12 on container-1, since [^)]*\\)\\. ` +
        'If that process has ended, the session is free in 4\\d s: try again then\\. ' +
        'Otherwise quit it, or add --fork to work in a copy\\.$',
    ),
  )
})

test('the tools are closed if the agent cannot start', async () => {
  let closed = 0
  const close = async () => {
    closed++
  }
  const nowhere = { type: 'open', path: '/nowhere/at/all.jsonl' } as const
  const agent = { session: nowhere, createTools: async () => ({ tools: [], close }) }
  await expect(stage({ script: () => text('x'), agent })).rejects.toThrow()
  expect(closed).toBe(1)
})
