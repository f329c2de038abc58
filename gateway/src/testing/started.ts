// Shared parts of the gateway's tests: setups that are closed after each test, keys of two tenants, raw requests, and an upstream
// that remembers its requests. Not part of the package.
import { createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { onTestFinished } from 'vitest'
import { type Setup, type SetupOptions, setUp } from './setup.ts'

type Closable = { readonly close: () => Promise<void> }

/** Closes it after the test, newest first. An `afterEach` here would apply only to the first file that imports this module. */
export function closeAfterTest<T extends Closable>(one: T): T {
  onTestFinished(() => one.close())
  return one
}

export async function started(options?: SetupOptions): Promise<Setup> {
  return closeAfterTest(await setUp(options))
}

export const model = 'claude-opus-5'

export const annsKey = 'a'.repeat(32)
export const annsOldKey = 'o'.repeat(32)
export const bobsKey = 'b'.repeat(32)
export const adminKey = 'x'.repeat(32)
export const keys = [
  { name: 'ann', tenant: 'acme', secrets: [annsKey, annsOldKey] },
  { name: 'bob', tenant: 'rivals', secrets: [bobsKey] },
]

export function clientWith(url: string, key: string | undefined, session = 'chat'): Anthropic {
  const defaultHeaders = { ...(key === undefined ? {} : { 'x-everlong-key': key }), 'x-everlong-session': session }
  return new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0, defaultHeaders })
}

export const user = (content: string) => ({ role: 'user' as const, content })
export const assistant = (content: string) => ({ role: 'assistant' as const, content })

export const ask = (client: Anthropic, text: string) =>
  client.messages.create({ model, max_tokens: 50, messages: [user(text)] })

export type RawAnswer = { readonly status: number; readonly head: readonly string[]; readonly body: Buffer }

/** A request without the headers that a client adds. */
export function raw(
  url: string,
  options: { method?: string; headers?: readonly string[]; body?: string | Buffer; path?: string } = {},
): Promise<RawAnswer> {
  const { method = 'POST', headers = [], body = '', path } = options
  return new Promise((resolve, reject) => {
    const how = { method, headers: [...headers], agent: false as const, ...(path === undefined ? {} : { path }) }
    const sent = request(url, how, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, head: response.rawHeaders, body: Buffer.concat(chunks) }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

export type Arrived = { readonly request: IncomingMessage; readonly body: Buffer }

export type Upstream = { readonly got: readonly Arrived[]; readonly url: string }

/** An upstream that records its requests and answers as scripted. */
export async function upstream(
  answer: (request: IncomingMessage, body: Buffer) => { status?: number; headers?: string[]; body: Buffer | string },
): Promise<Upstream> {
  const got: Arrived[] = []
  const { url } = await listening(
    createServer((incoming, outgoing) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk) => chunks.push(chunk))
      incoming.on('end', () => {
        const body = Buffer.concat(chunks)
        got.push({ request: incoming, body })
        const told = answer(incoming, body)
        outgoing.writeHead(told.status ?? 200, told.headers ?? [])
        outgoing.end(told.body)
      })
    }),
  )
  return { got, url }
}

/** Listens on a port of this machine until the test ends. */
export async function listening(server: Server): Promise<{ readonly url: string }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closeAfterTest({
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

/** The text that a tool of the gateway's MCP endpoint returns. */
export async function callRecall(url: string, key: string, name: string, input: object): Promise<string> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { 'x-everlong-key': key } },
  })
  await client.connect(transport as never)
  const answer = await client.callTool({ name, arguments: { ...input } })
  await client.close()
  return JSON.stringify(answer.content)
}
