// One connection to an MCP server, over stdio or HTTP: its tools, calls, and why it ended.

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  type CallToolResult,
  type Tool as McpTool,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { reasonOf } from '../reason-of.ts'

export type McpServer =
  | {
      readonly type?: 'stdio' | undefined
      readonly command: string
      readonly args?: readonly string[] | undefined
      readonly env?: Readonly<Record<string, string>> | undefined
    }
  | {
      readonly type: 'http' | 'sse'
      readonly url: string
      readonly headers?: Readonly<Record<string, string>> | undefined
    }

export type Connection = {
  /** The tools in the server's latest list. */
  readonly tools: () => readonly McpTool[]
  readonly instructions: string | undefined
  readonly call: (
    tool: string,
    input: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ) => Promise<CallToolResult>
  /** The server's last output on standard error after it has ended. Undefined while it runs. */
  readonly ended: () => string | undefined
  readonly close: () => Promise<void>
}

const connectMs = 30_000
const callMs = 10 * 60_000
const maxTools = 1_000
const maxPages = 100
const maxWords = 1_000

/** Throws when the server cannot be reached. */
export async function connect(server: McpServer, { cwd }: { readonly cwd: string }): Promise<Connection> {
  const { transport, lastWords } = transportTo(server, cwd)
  const client = new Client({ name: 'everlong', version: '0.1.0' })
  let isEnded = false
  client.onclose = () => {
    isEnded = true
  }
  try {
    await client.connect(transport, { timeout: connectMs })
    let tools = await listTools(client)
    client.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
      tools = await listTools(client)
    })
    return {
      tools: () => tools,
      instructions: client.getInstructions(),
      call: async (name, input, signal) => {
        const options = { signal, timeout: callMs, resetTimeoutOnProgress: true }
        return (await client.callTool({ name, arguments: { ...input } }, undefined, options)) as CallToolResult
      },
      ended: () => (isEnded ? lastWords() : undefined),
      close: () => client.close(),
    }
  } catch (error) {
    await client.close()
    const words = lastWords()
    throw new Error(`${reasonOf(error)}${words === '' ? '' : ` (it said: ${words})`}`)
  }
}

function transportTo(
  server: McpServer,
  cwd: string,
): { readonly transport: Transport; readonly lastWords: () => string } {
  if ('url' in server) {
    const requestInit = { headers: { ...server.headers } }
    const url = new URL(server.url)
    const transport =
      server.type === 'sse'
        ? new SSEClientTransport(url, { requestInit })
        : new StreamableHTTPClientTransport(url, { requestInit })
    // The SDK's own classes do not fit its interface under exactOptionalPropertyTypes.
    return { transport: transport as Transport, lastWords: () => '' }
  }
  const { command, args = [], env = {} } = server
  const all = { ...getDefaultEnvironment(), ...env }
  const transport = new StdioClientTransport({ command, args: [...args], env: all, cwd, stderr: 'pipe' })
  let words = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString('utf8')).slice(-maxWords)
  })
  return { transport, lastWords: () => words.trim() }
}

/** Throws if the list does not end: a server may be broken, and nobody should wait for it. */
async function listTools(client: Client): Promise<readonly McpTool[]> {
  const tools: McpTool[] = []
  const seen = new Set<string>()
  const signal = AbortSignal.timeout(connectMs)
  let cursor: string | undefined
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: connectMs, signal })
    tools.push(...page.tools.slice(0, maxTools - tools.length))
    cursor = page.nextCursor
    if (cursor === undefined || tools.length === maxTools) return tools
    if (seen.has(cursor)) throw endless(`the cursor ${JSON.stringify(cursor.slice(0, 100))} comes twice`)
    seen.add(cursor)
  } while (seen.size < maxPages)
  throw endless(`it has more than ${maxPages} pages`)
}

function endless(why: string): Error {
  return new Error(`The list of its tools does not end: ${why}.`)
}
