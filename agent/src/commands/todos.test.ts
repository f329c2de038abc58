import { text, toolUse } from '@everlong/simulator'
import { blocksOf, isToolUse } from 'everlong/internal'
import { expect, test } from 'vitest'
import type { Agent } from '../app.ts'
import { type AgentStage, agentStages } from '../testing/agent-stage.ts'
import { fill } from '../testing/history.ts'
import { todoTool } from '../tools/todo.ts'

const stage = agentStages()

const todos = [
  { content: 'Read\u001b[2J it', status: 'completed' },
  { content: 'Write\nit', status: 'in_progress' },
  { content: 'Test it', status: 'pending' },
]
const none = 'There is no list of steps. The agent writes one for a task with several steps.'
const listed = '1 of 3 done\n  ✔ Read it\n  ▸ Write it\n  ☐ Test it'

function callsIn({ session }: Pick<Agent, 'session'>): readonly string[] {
  const blocks = session()
    .messages()
    .flatMap(({ content }) => blocksOf(content))
  return blocks.filter(isToolUse).map(({ name }) => name)
}

async function shown({ agent }: AgentStage): Promise<string> {
  const result = await agent.command('/todos')
  return 'text' in result ? result.text : result.type
}

test('/todos shows the list after it was written, after compactions, and no longer once it was rewound', async () => {
  const script = ({ messages }: { readonly messages: readonly object[] }) =>
    JSON.stringify(messages.at(-1)).includes('Plan it.') ? toolUse('TodoWrite', { todos }) : text('Done.')
  const set = await stage({ script, tools: [todoTool()] })
  const { agent } = set
  expect(await shown(set)).toBe(none)
  await agent.submit({ text: 'Plan it.' })
  expect(await shown(set)).toBe(listed)
  for (const from of [0, 8]) {
    fill(agent.session(), { rounds: 8, tokens: 800, from })
    expect(await agent.command('/compact')).toMatchObject({ text: expect.stringContaining('Compacted') })
    expect(callsIn(agent)).not.toContain('TodoWrite')
    expect(await shown(set)).toBe(listed)
  }
  const { agent: fresh } = await stage({ script, tools: [todoTool()] })
  await fresh.submit({ text: 'Plan it.' })
  const offered = await fresh.command('/rewind')
  const [choice] = offered.type === 'choose' ? offered.choices : []
  await fresh.command(`${choice?.command} conversation`)
  expect(callsIn(fresh)).toEqual([])
  expect(await fresh.command('/todos')).toEqual({ type: 'text', text: none })
  await fresh.command('/undo')
  expect(await fresh.command('/todos')).toEqual({ type: 'text', text: listed })
})
