import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codex } from './codex.ts'
import { installInto, removeFrom } from './install.ts'
import { opencode } from './opencode.ts'
import type { Place } from './target.ts'

let home: string
let place: Place
beforeEach(() => {
  // Names of people and folders have spaces and quotation marks.
  home = mkdtempSync(join(tmpdir(), "everlong it's "))
  place = { home, env: {}, node: 'node', pluginFile: (plugin, path) => `${plugin}: don't "quote" \\ ${path}\n` }
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const config = () => join(home, '.codex', 'config.toml')
const install = () => installInto(codex, place, { version: '1.0.0' })

function write(text: string): void {
  mkdirSync(join(home, '.codex'), { recursive: true })
  writeFileSync(config(), text)
}

test('Codex gets its keys, whatever the file says already, and the file is the same afterwards', () => {
  const before = 'model = "gpt-x"\n\n[mcp_servers.other]\ncommand = "other"\n\n[hooks.state]\n'
  write(before)
  expect(install().plan.refusals).toEqual([])
  const program = join(home, '.codex', 'everlong', 'everlong.js')
  const quoted = `'${program.replaceAll("'", `'\\''`)}'`
  expect(parse(readFileSync(config(), 'utf8'))).toEqual({
    model: 'gpt-x',
    compact_prompt: `codex: don't "quote" \\ compact-prompt.md`,
    mcp_servers: { other: { command: 'other' }, everlong: { command: 'node', args: [program, 'mcp'] } },
    hooks: {
      state: {},
      PreCompact: [{ hooks: [{ type: 'command', command: `node ${quoted} background`, async: true }] }],
      SessionStart: [{ matcher: 'compact', hooks: [{ type: 'command', command: `node ${quoted} hook` }] }],
    },
  })
  removeFrom(codex, place)
  expect(readFileSync(config(), 'utf8')).toBe(before)
})

describe('after the person has trusted the hooks', () => {
  const entry = (event: string, path = config()) =>
    `\n[hooks.state.${JSON.stringify(`${path}:${event}:0:0`)}]\ntrusted_hash = "sha256:${event}"\n`
  const trust = (...entries: readonly string[]) =>
    writeFileSync(config(), readFileSync(config(), 'utf8') + entries.join(''))

  test.each([
    ['no file', undefined],
    ['an empty file', ''],
    ['settings', 'model = "gpt-x"\n'],
    ['no line end', 'model = "gpt-x"\n\n[tools]\nweb = true'],
    ['a state of its own', '[hooks.state]\n\n[hooks.state."/other:stop:0:0"]\ntrusted_hash = "sha256:x"\n'],
  ])('uninstalling leaves nothing of it: %s', (_, before) => {
    if (before !== undefined) write(before)
    install()
    const header = before?.includes('[hooks.state]') ? '' : '\n[hooks.state]\n'
    trust(header, entry('pre_compact'), entry('session_start'))
    removeFrom(codex, place)
    expect(existsSync(config()) ? readFileSync(config(), 'utf8') : undefined).toBe(before)
  })

  test('entries about other hooks stay, and so does what was added since', () => {
    write('model = "gpt-x"\n')
    install()
    trust(entry('pre_compact'), entry('stop'), entry('session_start'), entry('pre_compact', '/else.toml'))
    trust('\n[tools]\nweb = true\n')
    removeFrom(codex, place)
    expect(readFileSync(config(), 'utf8')).toBe(
      `model = "gpt-x"\n${entry('stop')}${entry('pre_compact', '/else.toml')}\n[tools]\nweb = true\n`,
    )
  })

  test('installing again keeps it, so that the hooks stay trusted', () => {
    write('model = "gpt-x"\n')
    install()
    trust(entry('pre_compact'))
    installInto(codex, place, { version: '2.0.0' })
    expect(readFileSync(config(), 'utf8')).toContain('sha256:pre_compact')
  })
})

test.each([
  ['instructions of their own', 'compact_prompt = "Be brief."\n'],
  ['a hook of their own', '[[hooks.SessionStart]]\nmatcher = "startup"\n'],
  ['a hook of their own before compactions', '[[hooks.PreCompact]]\n'],
  ['a server of this name', '[mcp_servers.everlong]\ncommand = "x"\n'],
  ['a file that is no TOML', 'model = \n'],
])('somebody with %s is told what to add by hand', (_, before) => {
  write(before)
  const { refusals } = install().plan
  expect(refusals.map(({ path }) => path)).toContain(config())
  expect(readFileSync(config(), 'utf8')).toBe(before)
})

test('both agents are found where the environment says', () => {
  const env = { CODEX_HOME: '/c', XDG_CONFIG_HOME: '/x', XDG_DATA_HOME: '/d' }
  const paths = [codex, opencode].flatMap((target) => target.changes({ ...place, env }).map(({ path }) => path))
  expect([...new Set(paths)]).toEqual([
    join('/c', 'everlong', 'everlong.js'),
    join('/c', 'everlong', 'hook.js'),
    join('/c', 'everlong', 'engine.js'),
    join('/c', 'everlong', 'package.json'),
    join('/c', 'config.toml'),
    join('/x', 'opencode', 'plugins', 'everlong.js'),
  ])
  expect(opencode.data?.({ ...place, env })).toEqual([join('/d', 'everlong', 'opencode')])
})
