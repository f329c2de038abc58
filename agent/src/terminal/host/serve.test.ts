import { text, toolUse } from '@everlong/simulator'
import { expect, test } from 'vitest'
import { agentStages } from '../../testing/agent-stage.ts'
import { until } from '../../testing/over-http.ts'
import { todoTool } from '../../tools/todo.ts'
import type { FromHost, ToHost } from './protocol.ts'
import { serveAgent } from './serve.ts'

const stage = agentStages()

test('a command that takes back the list of steps tells the terminal, and one that brings it back does too', async () => {
  const todos = [{ content: 'Test it', status: 'pending' }]
  const script = ({ messages }: { readonly messages: readonly object[] }) =>
    JSON.stringify(messages.at(-1)).includes('Plan it.') ? toolUse('TodoWrite', { todos }) : text('Done.')
  const { agent, folder } = await stage({ script, tools: [todoTool()] })
  await agent.submit({ text: 'Plan it.' })
  const heard: FromHost[] = []
  let receive: (message: ToHost) => void = () => undefined
  const port = {
    postMessage: (message: FromHost) => void heard.push(message),
    on: (_: 'message', listener: typeof receive) => {
      receive = listener
    },
    close: () => undefined,
  }
  await serveAgent(port, async () => ({ type: 'agent', agent, commands: [], folder, bell: false }))
  expect(heard.find(({ type }) => type === 'hello')).toMatchObject({ hello: { bell: false } })
  const command = async (id: number, line: string) => {
    heard.length = 0
    receive({ type: 'call', id, name: 'command', args: [line] })
    await until(() => heard.some((message) => message.type === 'result' && message.id === id))
    return heard.flatMap((message) =>
      message.type === 'event' && message.event.type === 'todos' ? [message.event] : [],
    )
  }
  const offered = await agent.command('/rewind')
  const [choice] = offered.type === 'choose' ? offered.choices : []
  expect(await command(1, `${choice?.command} conversation`)).toEqual([{ type: 'todos', todos: [] }])
  expect(await command(2, '/undo')).toEqual([{ type: 'todos', todos: [{ text: 'Test it', status: 'pending' }] }])
  expect(await command(3, '/context')).toEqual([])
})
