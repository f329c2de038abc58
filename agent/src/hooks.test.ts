import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixed, text, toolUse } from '@everlong/simulator'
import type { HookSettings } from 'everlong/node'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { subagentTool } from './subagent-tool.ts'
import { agentStages } from './testing/agent-stage.ts'
import { fill } from './testing/history.ts'
import { defineTool } from './tool.ts'

const stage = agentStages()

const events = [
  ...['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PermissionRequest', 'Notification', 'Stop'],
  ...['SubagentStart', 'SubagentStop', 'PreCompact', 'PostCompact', 'SessionEnd'],
] as const

const hook = (command: string, matcher = '') => [{ matcher, hooks: [{ type: 'command' as const, command }] }]

/** Asks the person, and starts a sub-agent. */
const asking = (ask: () => Promise<unknown>) =>
  defineTool({
    name: 'Ask',
    description: 'Asks.',
    input: z.object({ what: z.string() }),
    run: async (_, { session }) => {
      await ask()
      await (await session.subagent()).close()
      return 'Asked.'
    },
  })

test('every event reaches its hooks, with what happened', async () => {
  let log = ''
  const request = { toolUseId: 'toolu_1', tool: 'Ask', title: 'Ask something' }
  const set = await stage({
    script: fixed([toolUse('Ask', { what: 'this' }, 'toolu_1'), text('Done.')]),
    tools: [asking(() => set.setup().person.askPermission(request, new AbortController().signal))],
    prepare: ({ folder }) => {
      log = join(folder, 'hooks.jsonl')
      writeFileSync(join(folder, 'hook.sh'), `cat >> '${log}'\n`)
    },
    get settings() {
      return { hooks: Object.fromEntries(events.map((event) => [event, hook('sh hook.sh')])) as HookSettings }
    },
  })
  await set.agent.submit({ text: 'Ask them.' })
  fill(set.agent.session(), { rounds: 4, tokens: 500 })
  expect(await set.agent.command('/compact keep the plan')).toMatchObject({ type: 'text' })
  await set.agent.close()
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  const told = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect([...new Set(told.map(({ hook_event_name: name }) => name))].toSorted()).toEqual(events.toSorted())
  const of = (name: string) => told.find(({ hook_event_name: event }) => event === name)
  expect(of('UserPromptSubmit')).toMatchObject({ prompt: 'Ask them.' })
  const call = { tool_name: 'Ask', tool_input: { what: 'this' }, tool_use_id: 'toolu_1' }
  expect([of('PreToolUse'), of('PostToolUse')]).toMatchObject([call, { ...call, tool_response: 'Asked.' }])
  expect(of('Notification')).toMatchObject({ message: 'Everlong needs your permission: Ask something' })
  expect(of('PreCompact')).toMatchObject({ trigger: 'manual', custom_instructions: 'keep the plan' })
})

const plain = defineTool({
  name: 'Plain',
  description: 'Runs.',
  input: z.object({ how: z.string().optional() }),
  run: ({ how }) => (how === undefined ? 'It ran.' : `It ran ${how}.`),
})

/** The result of one call of Plain under these hooks. */
async function resultUnder(hooks: HookSettings): Promise<unknown> {
  const set = await stage({ script: fixed([toolUse('Plain'), text('Done.')]), tools: [plain], settings: { hooks } })
  await set.agent.submit({ text: 'Run it.' })
  const finished = set.events.find(({ type }) => type === 'tool-finished')
  return finished?.type === 'tool-finished' ? [finished.content, finished.isError] : undefined
}

const deny = { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'not here' } }
const change = { hookSpecificOutput: { updatedInput: { how: 'slowly' } } }
const spoil = { hookSpecificOutput: { updatedInput: { how: 5 } } }
const warn = { hookSpecificOutput: { additionalContext: 'It may be slow.' } }
const add = { hookSpecificOutput: { additionalContext: 'It was slow.' } }

test.each<[string, HookSettings, unknown]>([
  [
    'refuse a call by exit code',
    { PreToolUse: hook('echo not now >&2; exit 2') },
    ['A hook refused this call: not now', true],
  ],
  [
    'refuse it by JSON',
    { PreToolUse: hook(`echo '${JSON.stringify(deny)}'`) },
    ['A hook refused this call: not here', true],
  ],
  ['name the tools they are for', { PreToolUse: hook('exit 2', 'Edit|Wr.*') }, ['It ran.', false]],
  [
    'add to a result',
    { PostToolUse: hook(`echo '${JSON.stringify(add)}'`) },
    ['It ran.\n[From a hook] It was slow.', false],
  ],
  [
    'add to it before and after the call',
    { PreToolUse: hook(`echo '${JSON.stringify(warn)}'`), PostToolUse: hook(`echo '${JSON.stringify(add)}'`) },
    ['It ran.\n[From a hook] It may be slow.\n[From a hook] It was slow.', false],
  ],
  ['change an input', { PreToolUse: hook(`echo '${JSON.stringify(change)}'`) }, ['It ran slowly.', false]],
  [
    'not make an input invalid',
    { PreToolUse: hook(`echo '${JSON.stringify(spoil)}'`) },
    [expect.stringContaining('Invalid input'), true],
  ],
  ['be broken', { PreToolUse: hook('exit 1') }, ['It ran.', false]],
])('hooks of tools may %s', async (_, hooks, result) => {
  expect(await resultUnder(hooks)).toEqual(result)
})

test('after a hook changed an input, the hooks of its result hear of the changed one', async () => {
  let log = ''
  const set = await stage({
    script: fixed([toolUse('Plain'), text('Done.')]),
    tools: [plain],
    prepare: ({ folder }) => {
      log = join(folder, 'hooks.jsonl')
      writeFileSync(join(folder, 'hook.sh'), `cat >> '${log}'\n`)
    },
    settings: {
      hooks: { PreToolUse: hook(`echo '${JSON.stringify(change)}'`), PostToolUse: hook('sh hook.sh') },
    },
  })
  await set.agent.submit({ text: 'Run it.' })
  const heard = JSON.parse(readFileSync(log, 'utf8')) as unknown
  expect(heard).toMatchObject({ tool_input: { how: 'slowly' }, tool_response: 'It ran slowly.' })
})

test('hooks know the tool of a server by its own name, and see and change its own input', async () => {
  let log = ''
  const called: unknown[] = []
  const call = defineTool({
    name: 'McpCall',
    description: 'Calls a tool of a server.',
    input: z.object({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }),
    run: (given) => {
      called.push(given)
      return 'It ran.'
    },
  })
  const set = await stage({
    script: fixed([toolUse('McpCall', { tool: 'mcp__files__find', arguments: { how: 'fast' } }), text('Done.')]),
    tools: [call],
    prepare: ({ folder }) => {
      log = join(folder, 'hooks.jsonl')
      writeFileSync(join(folder, 'hook.sh'), `cat >> '${log}'\necho '${JSON.stringify(change)}'\n`)
    },
    settings: { hooks: { PreToolUse: hook('sh hook.sh', 'mcp__files__.*') } },
  })
  await set.agent.submit({ text: 'Run it.' })
  const heard = JSON.parse(readFileSync(log, 'utf8')) as unknown
  expect(heard).toMatchObject({ tool_name: 'mcp__files__find', tool_input: { how: 'fast' } })
  expect(called).toEqual([{ tool: 'mcp__files__find', arguments: { how: 'slowly' } }])
})

test('when a sub-agent finishes, only the hooks of sub-agents run', async () => {
  let log = ''
  const set = await stage({
    script: fixed([toolUse('Agent', { description: 'count', prompt: 'Count.' }), text('24'), text('There are 24.')]),
    tools: [subagentTool({ tools: [] })],
    prepare: ({ folder }) => {
      log = join(folder, 'hooks.jsonl')
      writeFileSync(join(folder, 'hook.sh'), `cat >> '${log}'\n`)
    },
    settings: { hooks: { Stop: hook('sh hook.sh'), SubagentStop: hook('sh hook.sh') } },
  })
  await set.agent.submit({ text: 'How many are there?' })
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  const names = lines.map((line) => (JSON.parse(line) as Record<string, unknown>).hook_event_name)
  expect(names).toEqual(['SubagentStop', 'Stop'])
})

test('a hook may refuse a prompt, or add to it', async () => {
  const refusing = await stage({
    script: () => text('Never.'),
    settings: { hooks: { UserPromptSubmit: hook('echo not on Fridays >&2; exit 2') } },
  })
  await refusing.agent.submit({ text: 'Deploy it.' })
  expect(refusing.requests).toEqual([])
  expect(refusing.events).toContainEqual({ type: 'notice', text: 'A hook refused the prompt: not on Fridays' })
  const adding = await stage({
    script: () => text('Yes.'),
    settings: { hooks: { UserPromptSubmit: hook('echo The sprint ends today.') } },
  })
  await adding.agent.submit({ text: 'Go.' })
  expect(JSON.stringify(adding.requests[0]?.messages)).toContain('The sprint ends today.')
})

test('SessionStart hooks hear how a session began', async () => {
  let log = ''
  const set = await stage({
    script: () => text('Yes.'),
    prepare: ({ folder }) => {
      log = join(folder, 'hooks.jsonl')
      writeFileSync(join(folder, 'hook.sh'), `cat >> '${log}'\n`)
    },
    settings: { hooks: { SessionStart: hook('sh hook.sh') } },
  })
  await set.agent.submit({ text: 'Go.' })
  const { id } = set.agent.session()
  for (const line of ['/clear', `/resume ${id}`]) await set.agent.command(line)
  const lines = readFileSync(log, 'utf8').trim().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as Record<string, unknown>).source)).toEqual([
    'startup',
    'clear',
    'resume',
  ])
})
