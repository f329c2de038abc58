// Recall for clients: a real MCP client over HTTP, with the keys of two tenants.
import Anthropic from '@anthropic-ai/sdk'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterEach, expect, test } from 'vitest'
import { type Setup, setUp } from '../testing/setup.ts'

let setup: Setup | undefined
afterEach(async () => setup?.close())

const [annsKey, bobsKey] = ['a'.repeat(32), 'b'.repeat(32)]
const keys = [
  { name: 'ann', tenant: 'acme', secrets: [annsKey] },
  { name: 'bob', tenant: 'rivals', secrets: [bobsKey] },
]

async function recall(url: string, key: string, query: string): Promise<string> {
  const client = new Client({ name: 'test', version: '1' })
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
    requestInit: { headers: { 'x-everlong-key': key } },
  })
  await client.connect(transport as never)
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['search', 'read'])
  const answer = await client.callTool({ name: 'search', arguments: { query } })
  await client.close()
  return JSON.stringify(answer.content)
}

test('a client finds what its tenant said, and nothing of another', async () => {
  setup = await setUp({ config: { keys } })
  const say = (key: string, content: string) =>
    new Anthropic({
      apiKey: 'any',
      baseURL: setup?.url ?? '',
      defaultHeaders: { 'x-everlong-key': key, 'x-everlong-session': 'chat' },
    }).messages.create({
      ...{ model: 'claude-opus-5', max_tokens: 50, messages: [{ role: 'user', content }] },
    })
  await say(annsKey, 'The heron nests in the third tower.')
  await say(bobsKey, 'The falcon nests in the first tower.')
  await setup.gateway.settled()
  expect(await recall(setup.url, annsKey, 'heron tower')).toContain('third tower')
  const seen = await recall(setup.url, bobsKey, 'heron tower')
  expect(seen).not.toContain('third tower')
  expect(seen).toContain('first tower')
})

test('without a right key, and from a page elsewhere, there is nothing', async () => {
  setup = await setUp({ config: { keys } })
  const post = (headers: Readonly<Record<string, string>>) =>
    fetch(`${setup?.url}/mcp`, { method: 'POST', headers, body: '{}' })
  expect((await post({})).status).toBe(401)
  expect((await post({ 'x-everlong-key': 'c'.repeat(32) })).status).toBe(401)
  expect((await post({ 'x-everlong-key': annsKey, origin: 'https://evil.test' })).status).toBe(403)
})
