// `everlong mcp URL`: the recall of a gateway for agents that can only start programs. Passes standard input to the gateway's MCP
// endpoint, and returns its answers.
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import type { Environment } from 'everlong'
import { failed, gathered, type Outcome } from '../../outcome.ts'
import type { McpStreams } from './server.ts'

/** The gateway's key is in the environment, so that no list of processes shows it. */
const keyVariable = 'EVERLONG_GATEWAY_KEY'

export async function serveRemote(
  url: string,
  streams: McpStreams & { readonly env: Environment },
): Promise<Outcome<'served'>> {
  if (!URL.canParse(url)) return failed(`${url} is not the URL of a gateway, such as http://127.0.0.1:8787.`)
  const address = new URL(url)
  if (address.pathname === '/') address.pathname = '/mcp'
  const key = streams.env[keyVariable]
  const requestInit = key === undefined ? {} : { headers: { 'x-everlong-key': key } }
  const there = new StreamableHTTPClientTransport(address, { requestInit })
  const here = new StdioServerTransport(streams.stdin, streams.stdout as never)
  const say = (error: Error) => void streams.stderr.write(`everlong: ${error.message}\n`)
  here.onmessage = (message) => void there.send(message).catch((error: Error) => refuse(message, error))
  there.onmessage = (message) => void here.send(message).catch(say)
  there.onerror = say
  /** Without an answer the client would wait forever. */
  const refuse = (message: unknown, error: Error): void => {
    say(error)
    if (typeof message !== 'object' || message === null || !('id' in message)) return
    const { id } = message as { readonly id: string | number }
    void here.send({
      jsonrpc: '2.0',
      id,
      error: { code: -32_000, message: `The gateway cannot be used: ${error.message}` },
    })
  }
  await there.start()
  await here.start()
  await new Promise<void>((resolve) => {
    here.onclose = resolve
    streams.stdin.once('end', resolve)
    streams.stdin.once('close', resolve)
  })
  await there.close()
  return gathered('served')
}
