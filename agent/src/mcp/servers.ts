// The MCP servers of the settings. A server starts when one of its tools is first needed, and once more if it ends by itself.

import type { CallToolResult, Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { reasonOf } from '../reason-of.ts'
import type { Connection, McpServer } from './connection.ts'

export type ServerTool = {
  /** `mcp__server__tool` */
  readonly name: string
  readonly server: string
  readonly tool: McpTool
}

export type CalledTool =
  | { readonly type: 'result'; readonly result: CallToolResult }
  | { readonly type: 'failed'; readonly why: string }

export type Server = {
  readonly name: string
  /** Starts the server if it does not run. */
  readonly tools: () => Promise<readonly ServerTool[] | { readonly why: string }>
  /** Instructions of the server, after it has started. */
  readonly instructions: () => string | undefined
  readonly call: (
    tool: ServerTool,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<CalledTool>
  /** Undefined before its first use. */
  readonly state: () => { readonly tools: number } | { readonly why: string } | undefined
  readonly close: () => Promise<void>
}

export function createServer(name: string, settings: McpServer, options: { readonly cwd: string }): Server {
  let connecting: Promise<Connection> | undefined
  let starts = 0
  let instructions: string | undefined
  let state: ReturnType<Server['state']>
  /** The connection, made again once after the server has ended. */
  const connected = async (): Promise<Connection | { readonly why: string }> => {
    try {
      const before = await connecting
      if (before && before.ended() === undefined) return before
      if (before && starts >= 2) return { why: gone(name, before) }
      starts++
      // Loaded with the first server: most sessions need none.
      connecting = import('./connection.ts').then(({ connect }) => connect(settings, options))
      const connection = await connecting
      instructions = connection.instructions
      return connection
    } catch (error) {
      connecting = undefined
      return { why: `The MCP server ${name} could not be started: ${reasonOf(error)}` }
    }
  }
  let last: Promise<unknown> = Promise.resolve()
  /** Two calls at once must not start two servers. */
  const connectedInTurn = () => {
    const mine = last.then(connected)
    last = mine
    return mine
  }
  return {
    name,
    instructions: () => instructions,
    state: () => state,
    tools: async () => {
      const connection = await connectedInTurn()
      const tools = 'why' in connection ? connection : namedTools(name, connection.tools())
      state = 'why' in tools ? tools : { tools: tools.length }
      return tools
    },
    call: async ({ tool }, input, signal) => {
      const connection = await connectedInTurn()
      if ('why' in connection) return { type: 'failed', why: connection.why }
      try {
        return { type: 'result', result: await connection.call(tool.name, input, signal) }
      } catch (error) {
        if (connection.ended() === undefined) return { type: 'failed', why: reasonOf(error) }
        const again =
          starts < 2
            ? ' It is started again with the next call; repeat this one only if doing it twice does no harm.'
            : ''
        return { type: 'failed', why: `${gone(name, connection)}${again}` }
      }
    },
    close: async () => {
      const connection = await connecting?.catch(() => undefined)
      await connection?.close()
    },
  }
}

function gone(name: string, connection: Connection): string {
  const words = connection.ended() ?? ''
  return `The MCP server ${name} has ended unexpectedly.${words === '' ? '' : ` It said: ${words}`}`
}

/** Names that fit the API. If two tools get the same name, the first counts. */
function namedTools(server: string, tools: readonly McpTool[]): readonly ServerTool[] {
  const named = new Map<string, ServerTool>()
  for (const tool of tools) {
    const name = `mcp__${server}__${tool.name.replace(/[^\w-]/g, '_')}`
    if (!named.has(name)) named.set(name, { name, server, tool })
  }
  return [...named.values()]
}
