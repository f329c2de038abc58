// Commands on sessions that a gateway has encrypted, in its folder and in PostgreSQL.
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkConfig, startGateway } from '@everlong/gateway'
import { startServer } from '@everlong/simulator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresForTests } from '../../engine/src/stores/testing/postgres-server.ts'
import { everlong } from './testing/harness.ts'

const server = await postgresForTests()
const folder = mkdtempSync(join(tmpdir(), 'everlong-cli-encrypted-'))
const data = join(folder, 'data')
const secretOf = () => randomBytes(32).toString('base64')
const [oldKey, newKey] = [
  { id: 'k1', secret: secretOf() },
  { id: 'k2', secret: secretOf() },
]
const asText = (...keys: readonly (typeof oldKey)[]) => keys.map(({ id, secret }) => `${id}=${secret}`).join(',')
const env = { EVERLONG_ENCRYPTION_KEYS: asText(newKey, oldKey) }
const configFile = join(folder, 'gateway.yaml')
const url = (session = '') => `${server?.url}?tenant=default${session === '' ? '' : `#${session}`}`

/** One conversation through a gateway that has these keys, the first of which encrypts. */
async function talk(session: string, words: string, options: object): Promise<void> {
  const simulator = await startServer({ script: () => ({ content: [{ type: 'text', text: 'I see.' }] }), port: 0 })
  const upstreams = { simulator: { url: simulator.url } }
  const defaultUpstreams = { messages: 'simulator', openai: 'simulator' }
  const config = checkConfig({ listen: { port: 0 }, data, upstreams, defaultUpstreams, ...options }, 'the test')
  const gateway = await startGateway(config, { write: () => undefined })
  const headers = {
    ...{ 'content-type': 'application/json', 'x-api-key': 'any', 'anthropic-version': '2023-06-01' },
    ...{ 'x-everlong-session': session, 'x-everlong-user': 'ann' },
  }
  const body = JSON.stringify({ model: 'claude-opus-5', max_tokens: 9, messages: [{ role: 'user', content: words }] })
  expect((await fetch(`${gateway.url}/v1/messages`, { method: 'POST', headers, body })).status).toBe(200)
  await gateway.close()
  await simulator.close()
}

beforeAll(async () => {
  mkdirSync(data)
  await talk('before', 'The heron is grey.', { encryption: { keys: [oldKey] } })
  await talk('after', 'The crane is white.', { encryption: { keys: [newKey, oldKey] } })
  const store = { postgres: server?.url }
  if (server) await talk('chat', 'The stork is black.', { store, encryption: { keys: [newKey, oldKey] } })
  const from = (name: string) => `\${${name}}`
  const keys = `    - { id: k2, secret: "${from('K2')}" }`
  const lines = ['store:', `  postgres: ${from('DATABASE_URL')}`, 'encryption:', '  keys:', keys]
  writeFileSync(configFile, `${lines.join('\n')}\n`)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server?.stop()
})

const tenant = join(data, 'sessions', 'default')

test.each([
  ['recall, over the folder of the gateway', ['recall', data, 'heron'], /The heron is grey/],
  ['recall, over its sessions', ['recall', join(data, 'sessions'), 'crane'], /The crane is white/],
  ['recall, over one tenant', ['recall', tenant, 'heron'], /The heron is grey/],
  ['inspect, one session', ['inspect', join(tenant, 'after.jsonl')], /after\.jsonl[\s\S]*claude-opus-5/],
  ['lost', ['lost', tenant], /2 sessions/],
])('with the keys in the environment: %s', async (_, words, shown) => {
  const { exitCode, stdout, stderr } = await everlong(words, { env })
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(shown)
})

test('view serves it, and no decrypted copy is left', async () => {
  const copies = () => readdirSync(tmpdir()).filter((name) => name.startsWith('everlong-store-'))
  const before = copies()
  const ran = await everlong(['view', tenant, '--no-open'], {
    env,
    meanwhile: async (stdout) => {
      const [, origin = '', token = ''] = /^Open (http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)$/m.exec(stdout) ?? []
      const headers = { authorization: `Bearer ${token}` }
      const overview = (await (await fetch(`${origin}/api/overview`, { headers })).json()) as { total: number }
      expect(overview.total).toBe(2)
    },
  })
  expect([ran.exitCode, ran.stderr.replace(/^Building the page.*\n/, '')]).toEqual([0, ''])
  expect(copies()).toEqual(before)
})

test('the keys may be in a file', async () => {
  const file = join(folder, 'keys')
  writeFileSync(file, `${asText(newKey)}\n${asText(oldKey)}\n`)
  const ran = await everlong(['recall', tenant, 'heron'], { env: { EVERLONG_ENCRYPTION_KEYS_FILE: file } })
  expect([ran.exitCode, /The heron is grey/.test(ran.stdout)]).toEqual([0, true])
})

test.each([
  ['no keys', {}, /^everlong: This session is encrypted with the key "k[12]"\. Put the keys .*ENCRYPTION_KEYS/],
  [
    'the old key is missing',
    { EVERLONG_ENCRYPTION_KEYS: asText(newKey) },
    /^everlong: .*the key "k1", which is not given/,
  ],
  [
    'another key',
    { EVERLONG_ENCRYPTION_KEYS: `k1=${secretOf()},k2=${secretOf()}` },
    /^everlong: .*cannot be decrypted/,
  ],
  [
    'no list',
    { EVERLONG_ENCRYPTION_KEYS: 'nonsense' },
    /^everlong: EVERLONG_ENCRYPTION_KEYS is not a list of ID=SECRET: see entry 1/,
  ],
  ['no such file', { EVERLONG_ENCRYPTION_KEYS_FILE: '/nowhere' }, /^everlong: .*\/nowhere cannot be read \(ENOENT\)/],
  ['a short key', { EVERLONG_ENCRYPTION_KEYS: 'k1=abc' }, /^everlong: The encryption key "k1" is not 32 bytes/],
])('one clear line, and no secret: %s', async (_, given, line) => {
  const { exitCode, stdout, stderr } = await everlong(['recall', tenant, 'heron'], { env: given })
  expect([exitCode, stdout, stderr.trimEnd().split('\n').length]).toEqual([1, '', 1])
  expect(stderr).toMatch(line)
  for (const secret of Object.values(given)) if (!secret.startsWith('/')) expect(stderr).not.toContain(secret)
})

test('of several tenants one must be named', async () => {
  const other = join(data, 'sessions', 'other')
  mkdirSync(other)
  const { exitCode, stderr } = await everlong(['recall', join(data, 'sessions'), 'heron'], { env })
  rmSync(other, { recursive: true })
  expect([exitCode, stderr]).toEqual([1, expect.stringMatching(/several tenants\. Name one: .*default, .*other/)])
})

test('what a command appends is encrypted with the first key', async () => {
  const file = join(tenant, 'before.jsonl')
  const uuid = String(JSON.parse(readFileSync(file, 'utf8').split('\n')[0] ?? '').uuid)
  expect(await everlong(['pin', file, uuid], { env })).toMatchObject({ exitCode: 0, stderr: '' })
  const records = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(records.map(({ everlongSealed }) => everlongSealed?.key)).toEqual(['k1', 'k1', 'k2'])
})

describe.runIf(server)('in PostgreSQL', () => {
  const ofDatabase = { DATABASE_URL: server?.url ?? '', K2: newKey.secret }

  test('recall and inspect read a session with the keys, and say what is missing without them', async () => {
    expect((await everlong(['recall', url(), 'stork'], { env })).stdout).toMatch(/The stork is black/)
    expect(await everlong(['inspect', url('chat')], { env })).toMatchObject({ exitCode: 0, stderr: '' })
    const refused = await everlong(['inspect', url('chat')])
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringMatching(/encrypted with the key "k2"/)])
  })

  test('the report and the erasure work by the configuration, and a second erasure finds nothing', async () => {
    const report = await everlong(['gateway', 'report', '--config', configFile, '--json'], { env: ofDatabase })
    expect(JSON.parse(report.stdout)).toMatchObject({
      requests: 1,
      failed: 0,
      balance: 0,
      tenants: [{ name: 'default' }],
    })
    const erase = () =>
      everlong(['gateway', 'erase', '--tenant', 'default', '--user', 'ann', '--config', configFile], {
        env: ofDatabase,
      })
    expect(await erase()).toMatchObject({ exitCode: 0, stderr: '' })
    expect((await everlong(['inspect', url('chat')], { env })).stderr).toMatch(/There is no session/)
    const again = await erase()
    expect(again.stdout + again.stderr).toMatch(/nothing/i)
    const after = await everlong(['gateway', 'report', '--config', configFile, '--json'], { env: ofDatabase })
    expect(JSON.parse(after.stdout)).toMatchObject({ requests: 1 })
  })
})
