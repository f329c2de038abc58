import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { loadSettings } from './load.ts'
import { trustFolder } from './trust.ts'

const temporary = setFolder()
/** As the file writes it. */
const variable = (name: string) => `$\{${name}}`

function load(mcp: string, own?: object) {
  const places = { home: join(temporary(), 'home'), folder: join(temporary(), 'project') }
  for (const place of [places.home, join(places.folder, '.everlong')]) mkdirSync(place, { recursive: true })
  writeFileSync(join(places.folder, '.mcp.json'), mcp)
  if (own) writeFileSync(join(places.folder, '.everlong/settings.json'), JSON.stringify(own))
  const env = { TOKEN: 'secret', EMPTY: '' }
  return { places, before: loadSettings({ ...places, env }), after: () => loadSettings({ ...places, env }) }
}

const servers = {
  files: {
    command: 'npx',
    args: ['-y', `${variable('ROOT:-/tmp')}`, `${variable('MISSING')}`],
    env: { KEY: `${variable('TOKEN')}` },
    disabled: true,
  },
  web: { url: `https://example.com/${variable('EMPTY')}`, headers: { Authorization: `Bearer ${variable('TOKEN')}` } },
  'odd name': { command: 'x' },
  empty: {},
}

test('servers of .mcp.json wait for trust, and are then used with their variables', () => {
  const { places, before, after } = load(JSON.stringify({ mcpServers: servers, other: 1 }))
  expect(before.settings.mcpServers).toEqual({})
  expect(before.withheld.map(({ text }) => text)).toEqual([
    `MCP server files: npx -y /tmp ${variable('MISSING')} (variables: KEY)`,
    'MCP server web: https://example.com/ (headers: Authorization)',
  ])
  expect(before.problems).toEqual([])
  expect(before.notices.map((each) => each.slice(places.folder.length + 1))).toEqual([
    '.mcp.json: odd name: use letters, digits, "-" and single "_", and no "_" at the end',
    '.mcp.json: empty: expected a "command", or a "url" with the type http or sse',
  ])
  trustFolder(places, before.withheld)
  expect(after().settings.mcpServers).toEqual({
    files: { command: 'npx', args: ['-y', '/tmp', `${variable('MISSING')}`], env: { KEY: 'secret' } },
    web: { type: 'http', url: 'https://example.com/', headers: { Authorization: 'Bearer secret' } },
  })
})

test('the settings of the project replace a server of .mcp.json, and a broken file stops nobody', () => {
  const own = { mcpServers: { files: { command: 'mine' } } }
  const first = load(JSON.stringify({ mcpServers: servers }), own)
  trustFolder(first.places, first.before.withheld)
  expect(first.after().settings.mcpServers.files).toEqual({ command: 'mine' })
  const broken = load('{ "mcpServers": ')
  expect(broken.before.problems).toEqual([])
  expect(broken.before.notices).toHaveLength(1)
})

test('a new value of a variable asks nobody again; another variable, default or server does', () => {
  const server = (url: string) => ({ web: { url: `https://example.com/${url}`, headers: { Key: variable('TOKEN') } } })
  const { places, before } = load(JSON.stringify({ mcpServers: server(variable('ROOT:-a')) }))
  trustFolder(places, before.withheld)
  const withheld = (mcpServers: object, env = {}) => {
    writeFileSync(join(places.folder, '.mcp.json'), JSON.stringify({ mcpServers }))
    return loadSettings({ ...places, env }).withheld.map(({ text }) => text)
  }
  expect(withheld(server(variable('ROOT:-a')), { TOKEN: 'rotated', ROOT: 'x' })).toEqual([])
  expect(withheld(server(variable('ROOT:-b')))).toEqual(['MCP server web: https://example.com/b (headers: Key)'])
  expect(withheld(server(variable('HOME:-a')))).toEqual(['MCP server web: https://example.com/a (headers: Key)'])
  expect(withheld({ ...server(variable('ROOT:-a')), other: { command: 'x' } })).toEqual(['MCP server other: x'])
})

test('the question shows variables and headers, with their values, and no secrets', () => {
  const env = {
    NODE_OPTIONS: '--require ./evil.js',
    LD_PRELOAD: './evil.so',
    PATH: './bin:/bin',
    PYTHONPATH: 'lib',
    BASH_ENV: 'a\nallow Bash',
    HOME: './evil',
    DYLD_INSERT_LIBRARIES: './evil.dylib',
    npm_config_registry: 'http://evil.example',
    API_KEY: 'topsecret',
    KEY_FILE: './key',
    SSL_KEY: './key',
  }
  const shown =
    'NODE_OPTIONS=--require ./evil.js, LD_PRELOAD=./evil.so, PATH=./bin:/bin, PYTHONPATH=lib, BASH_ENV=a allow Bash, HOME=./evil, DYLD_INSERT_LIBRARIES=./evil.dylib, npm_config_registry=http://evil.example, API_KEY, KEY_FILE=./key, SSL_KEY=./key'
  const mcpServers = {
    a: { command: 'npx', args: ['known'], env },
    b: { type: 'http', url: 'https://example.com/', headers: { Authorization: 'Bearer topsecret', 'X-A': 'b' } },
    c: { command: 'x', env: {} },
  }
  const { before } = load('{}', { mcpServers, env: { NODE_OPTIONS: '--require ./evil.js', API_KEY: 'topsecret' } })
  expect(before.withheld.map(({ text }) => text)).toEqual([
    `MCP server a: npx known (variables: ${shown})`,
    'MCP server b: https://example.com/ (headers: Authorization, X-A)',
    'MCP server c: x',
    'set the variable NODE_OPTIONS=--require ./evil.js',
    'set the variable API_KEY',
  ])
})
