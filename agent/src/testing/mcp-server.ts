// An MCP server for tests, over stdio or HTTP: a hundred tools, one that crashes, one that fails, one with an image.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { z } from 'zod'

function testServer(): McpServer {
  const server = new McpServer({ name: 'test', version: '1.0.0' }, { instructions: 'Counts start at one.' })
  const text = (said: string) => ({ content: [{ type: 'text' as const, text: said }] })
  server.registerTool(
    'add_numbers',
    { description: 'Adds two numbers.', inputSchema: { a: z.number(), b: z.number() } },
    ({ a, b }) => text(String(a + b)),
  )
  server.registerTool('crash', { description: 'Ends the server.' }, () => {
    console.error('out of memory')
    process.exit(3)
  })
  server.registerTool('fail', { description: 'Always fails.' }, () => ({ ...text('It did not work.'), isError: true }))
  server.registerTool('picture', { description: 'Draws.' }, () => ({
    content: [{ type: 'image' as const, data: 'aGk=', mimeType: 'image/png' }],
  }))
  server.registerTool('who', { description: 'Tells the environment.' }, () =>
    text(
      JSON.stringify({
        pid: process.pid,
        mine: process.env.MINE ?? null,
        home: process.env.HOME ?? null,
        key: process.env.ANTHROPIC_API_KEY ?? null,
      }),
    ),
  )
  server.registerTool('grow', { description: 'Adds a tool.' }, () => {
    server.registerTool('grown', { description: 'Was added.' }, () => text('Here I am.'))
    return text('Done.')
  })
  server.registerTool('long', { description: 'Says a lot.' }, () => text('many words\n'.repeat(10_000)))
  for (let at = 1; at <= 94; at++) {
    const description = `Counts the widgets of shelf ${at}. ${'It is rather careful about it. '.repeat(10)}`
    server.registerTool(`count_widgets_${at}`, { description, inputSchema: { shelf: z.string() } }, () => text(`${at}`))
  }
  return server
}

/** Returns the address and how to close it. Each session of a client has a server of its own. */
export async function serveHttp(): Promise<{
  readonly url: string
  readonly headers: string[]
  readonly close: () => Promise<void>
}> {
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const headers: string[] = []
  const http = createServer(async (request, response) => {
    headers.push(request.headers.authorization ?? '')
    const known = sessions.get(String(request.headers['mcp-session-id'] ?? ''))
    const transport =
      known ??
      new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      })
    if (!known) await testServer().connect(transport as Transport)
    await transport.handleRequest(request, response)
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
  }
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, headers, close }
}

if (process.argv[2] === 'stdio') await testServer().connect(new StdioServerTransport())
