import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { ConfigError, loadConfig } from './load.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-config-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const path = join(folder, 'gateway.yaml')
/** As the file refers to a secret. */
const from = (name: string) => `\${${name}}`
const secret = 's'.repeat(32)

function load(text: string, environment: Readonly<Record<string, string>> = {}) {
  writeFileSync(path, text)
  return loadConfig(path, {}, environment)
}

test('without a file the gateway observes, on this machine only', () => {
  const config = loadConfig(undefined, {}, {})
  expect(config).toMatchObject({
    listen: { host: '127.0.0.1', port: 8787 },
    level: 'observe',
    keys: [],
    data: 'everlong-gateway',
  })
  expect(config.upstreams).toEqual({
    anthropic: { url: 'https://api.anthropic.com' },
    openai: { url: 'https://api.openai.com' },
  })
})

test('the command line goes before the file', () => {
  writeFileSync(path, 'listen: { host: 0.0.0.0, port: 9 }\ndata: there\n')
  const config = loadConfig(path, { port: 0, data: 'here', upstream: 'http://127.0.0.1:1' }, {})
  expect([config.listen, config.data]).toEqual([{ host: '0.0.0.0', port: 0 }, 'here'])
  expect([config.upstreams, config.defaultUpstreams]).toEqual([
    { upstream: { url: 'http://127.0.0.1:1' } },
    { messages: 'upstream', openai: 'upstream' },
  ])
})

test('secrets come from the environment and from files', () => {
  writeFileSync(join(folder, 'key'), `${secret}\n`)
  const text = `keys:\n  - { name: ann, tenant: acme, secrets: ["${from('ANN')}", "${from('file:key')}"] }\n`
  expect(load(text, { ANN: 'e'.repeat(40) }).keys[0]?.secrets).toEqual(['e'.repeat(40), secret])
})

test.each([
  ['an unknown key', 'levels: observe', 'levels: there is no such key'],
  ['an unknown key further in', 'listen: { prot: 5 }', 'listen.prot: there is no such key'],
  ['a wrong level', 'level: all', 'level: '],
  ['no URL', 'upstreams: { a: { url: nowhere } }', 'upstreams.a.url: must be an http or https URL'],
  [
    'another protocol',
    'upstreams: { a: { url: "file:///etc/passwd" } }',
    'upstreams.a.url: must be an http or https URL',
  ],
  ['an upstream that is not there', 'defaultUpstreams: { messages: other }', 'there is no upstream "other"'],
  [
    'a short key',
    'keys: [{ name: a, tenant: b, secrets: [short-secret] }]',
    'keys.0.secrets.0: a key needs at least 32 characters',
  ],
  [
    'a tenant that is no plain name',
    `keys: [{ name: a, tenant: ../b, secrets: [${secret}] }]`,
    'keys.0.tenant: use lower-case letters',
  ],
  [
    'a secret that is not set',
    `keys: [{ name: a, tenant: b, secrets: ["${from('NOT_SET')}"] }]`,
    'keys.0.secrets.0: the environment variable NOT_SET is not set',
  ],
  [
    'a file that is not there',
    `keys: [{ name: a, tenant: b, secrets: ["${from('file:gone')}"] }]`,
    'keys.0.secrets.0: the file of a secret cannot be read',
  ],
  ['no YAML', 'a: [', 'is not valid YAML'],
  ['a list', '- a', 'must have keys and values'],
  [
    'one secret for two',
    `keys: [{ name: a, tenant: t, secrets: [${secret}] }, { name: b, tenant: u, secrets: [${secret}] }]`,
    '"a" and "b" have the same secret',
  ],
])('%s refuses to start', (_, text, message) => {
  expect(() => load(text)).toThrow(ConfigError)
  expect(() => load(text)).toThrow(message)
})

test('no message contains a secret', () => {
  expect(() => load('keys: [{ name: a, tenant: b, secrets: [my-short-secret] }]')).not.toThrow('my-short-secret')
})
