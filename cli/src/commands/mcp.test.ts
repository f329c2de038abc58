import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { session } from 'everlong/internal/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import packageFacts from '../../package.json' with { type: 'json' }
import { everlong } from '../testing/harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-mcp-'))
const file = join(folder, 'session.jsonl')
const told = session()
  .user('find the heron')
  .toolUse('t1', 'Read', { file_path: 'src/heron.ts' })
  .toolResult('t1', 'const heron = 1\nconst crane = 2').text
writeFileSync(file, told)
afterAll(async () => {
  await client.close()
  rmSync(folder, { recursive: true, force: true })
})

/** A real process, as a client would start it. */
const program = join(import.meta.dirname, '..', 'main.ts')

async function connected(path: string): Promise<Client> {
  const client = new Client({ name: 'a test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, 'mcp', path],
    env: { EVERLONG_CACHE_DIR: join(folder, 'cache') },
    stderr: 'pipe',
  })
  await client.connect(transport)
  return client
}

/** One server for all tests: whatever it was asked before, it must answer the next one. */
let client: Client
beforeAll(async () => {
  client = await connected(file)
})

async function textOf(name: string, args: Record<string, unknown>, from = client) {
  const { content, isError } = await from.callTool({ name, arguments: args })
  const [block] = content as readonly { readonly type: string; readonly text: string }[]
  return { text: block?.text ?? '', isError }
}

test('it says who it is and which tools it has', async () => {
  expect(client.getServerVersion()).toEqual({ name: 'everlong', version: packageFacts.version })
  const { tools } = await client.listTools()
  const seen = tools.map(({ name, inputSchema, annotations }) => [
    name,
    Object.keys(inputSchema.properties ?? {}),
    inputSchema.required,
    annotations,
  ])
  const annotations = { readOnlyHint: true, openWorldHint: false }
  const filters = ['query', 'kind', 'role', 'tool', 'path', 'epoch', 'since', 'until', 'order', 'limit']
  expect(seen).toEqual([
    ['search', filters, [], annotations],
    ['read', ['id', 'from_line', 'to_line', 'from_character'], ['id'], annotations],
  ])
})

test('what search finds, read brings, also what was said since it started', async () => {
  const found = await textOf('search', { query: 'crane' })
  expect([found.isError, found.text.includes('1. t1 · ')]).toEqual([false, true])
  const read = await textOf('read', { id: 't1', from_line: 2 })
  expect(read.text).toContain('\n\nconst crane = 2\n')
  appendFileSync(file, session({ ids: (name) => `later-${name}` }).user('an egret came').text)
  expect((await textOf('search', { query: 'egret' })).text).toContain('later-u1')
})

test('a wrong call is an answer that says so, and the server continues', async () => {
  expect(await textOf('read', { id: '../../../etc/passwd' })).toEqual({
    text: 'Nothing in the archive has this id. Search for it first.',
    isError: true,
  })
  expect(await textOf('search', { epoch: 'two' })).toEqual({ text: '"epoch" must be a whole number.', isError: true })
  expect(await textOf('delete', {})).toEqual({ text: 'There is no tool delete.', isError: true })
  expect((await textOf('search', { query: '"NEAR( OR * ^' })).isError).toBe(false)
})

test('a request that is too long is refused by its id, and the server continues', async () => {
  const long = client.callTool({ name: 'search', arguments: { query: 'x'.repeat(20_000_000) } })
  await expect(long).rejects.toThrow('The request is too long: 20')
  expect((await textOf('search', { query: 'crane' })).isError).toBe(false)
})

test('a request that is long, but not too long, is answered', async () => {
  expect((await textOf('search', { query: `crane ${'y'.repeat(5_000_000)}` })).isError).toBe(false)
})

test('a folder is served as a whole', async () => {
  const own = await connected(folder)
  expect((await textOf('search', { query: 'heron', kind: 'human' }, own)).text).toContain('find the heron')
  await own.close()
})

test('when its input ends, it ends, with exit code 0 and nothing said', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'mcp', file], {
    input: '',
    encoding: 'utf8',
    env: { ...process.env, EVERLONG_CACHE_DIR: join(folder, 'cache'), NODE_NO_WARNINGS: '1' },
  })
  expect([status, stdout, stderr]).toEqual([0, '', ''])
})

test('a path that is not there is one clear line and exit code 1', async () => {
  const { exitCode, stdout, stderr } = await everlong(['mcp', join(folder, 'nothing.jsonl')])
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^everlong: .*nothing\.jsonl does not exist\. .*\n$/)
})
