import { text, toolUse } from '@everlong/simulator'
import { textOf } from 'everlong/internal'
import { expect, test, vi } from 'vitest'
import type { Agent } from '../app.ts'
import { agentStages } from '../testing/agent-stage.ts'
import { until } from '../testing/over-http.ts'
import { createTools } from '../tools/create-tools.ts'

const stage = agentStages()

/** With the agent's own tools. */
const working = (script: Parameters<typeof stage>[0]['script'] = () => text('Here you are.')) =>
  stage({
    script,
    agent: {
      mode: 'allow',
      createTools: async ({ person, mode: get, setMode: set, onTasks, sendNews: tell }) => {
        const options = { person, mode: { get, set }, environment: { PATH: process.env.PATH }, tell }
        const tools = await createTools({
          ...options,
          workspace: process.cwd(),
          onTasks: () => onTasks(tools.tasks.list()),
        })
        return tools
      },
    },
  })

async function run(agent: Agent, line: string): Promise<string> {
  const result = await agent.command(line)
  if (result.type !== 'choose') return 'text' in result ? `${result.type}: ${result.text}` : result.type
  return [
    result.title,
    ...result.choices.map(({ label, detail = '', command }) => `${label}|${detail}|${command}`),
  ].join('\n')
}

test('! runs a command without a turn, and the next request has its output', async () => {
  const { agent, requests, events } = await working()
  expect(await run(agent, '!echo one; echo two >&2')).toBe('text: ')
  expect(requests).toEqual([])
  await agent.submit({ text: 'What did it say?' })
  const [message] = requests[0]?.messages ?? []
  expect(textOf(message?.content)).toContain('# Command that the user ran\n$ echo one; echo two >&2\none\ntwo')
  const calls = events.flatMap((event) =>
    event.type === 'tool-started' || event.type === 'tool-finished' ? [[event.type, event.name]] : [],
  )
  expect(calls).toEqual([
    ['tool-started', '!'],
    ['tool-finished', '!'],
  ])
  expect(await run(agent, '!')).toBe('error: Say which command: !npm test')
})

test('what ! prints while a turn runs joins its next request', async () => {
  const { agent, requests } = await working(({ messages }) =>
    messages.some(({ content }) => JSON.stringify(content).includes('tool_result'))
      ? text('Done.')
      : toolUse('Bash', { command: 'sleep 1' }),
  )
  const turn = agent.submit({ text: 'Go.' })
  await until(() => requests.length === 1)
  await run(agent, '!echo meanwhile')
  await turn
  expect(JSON.stringify(requests[0])).not.toContain('meanwhile')
  expect(JSON.stringify(requests[1]?.messages)).toContain('$ echo meanwhile')
})

test('/tasks lists what runs in the background, shows what it printed, and stops it', async () => {
  const { agent } = await working()
  expect(await run(agent, '/tasks')).toBe('text: Nothing runs in the background. Ctrl+B sends a running command there.')
  const running = run(agent, '!echo first; sleep 60')
  await until(() => agent.moveToBackground() === 1)
  await running
  const [task] = agent.state().tasks
  const id = task?.id ?? ''
  expect(task).toEqual({ id, title: 'echo first; sleep 60', isRunning: true })
  expect((await run(agent, '/tasks')).replace(/\d+ s/, 'N s')).toBe(
    `Background tasks\necho first; sleep 60|running for N s|/tasks ${id}`,
  )
  expect((await run(agent, `/tasks ${id}`)).replace(/\d+ s\n/, 'N s\n')).toBe(
    `echo first; sleep 60 · running for N s\nShow its output||/tasks output ${id}\nStop it||/tasks stop ${id}`,
  )
  await vi.waitUntil(async () => (await run(agent, `/tasks output ${id}`)).endsWith('\nfirst'))
  expect(await run(agent, `/tasks stop ${id}`)).toBe('text: Stopped echo first; sleep 60.')
  expect(await run(agent, `/tasks ${id}`)).toBe(
    `echo first; sleep 60 · finished with exit code 143\nShow its output||/tasks output ${id}`,
  )
  expect(await run(agent, `/tasks stop ${id}`)).toBe('text: It has already finished with exit code 143.')
  expect(await run(agent, '/tasks stop x')).toBe('error: There is no background task x. /tasks lists those there are.')
  expect(agent.moveToBackground()).toBe(0)
})
