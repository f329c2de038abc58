import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { everlong } from '../testing/harness.ts'
import { recordPath } from './install/record.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'everlong-home-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const run = (...words: readonly string[]) => everlong(words, { env: { HOME: home } })
const skill = () => join(home, '.claude/skills/everlong')

test('Claude Code: install, status, uninstall', async () => {
  const dry = await run('install', 'claude-code', '--dry-run')
  expect(dry.stdout).toContain(`  new      ${skill()}/hooks/hooks.json`)
  expect(dry.stdout).toContain('A dry run: nothing was written.')
  expect(readdirSync(home)).toEqual([])

  const installed = await run('install', 'claude-code')
  expect(installed.stdout.replaceAll(/\s+/g, ' ')).toContain('To remove it: everlong uninstall claude-code')
  // Nothing on the PATH, so the Node that installs is named.
  expect(JSON.parse(readFileSync(join(skill(), '.mcp.json'), 'utf8')).mcpServers.everlong.command).toBe(
    process.execPath,
  )
  expect(readFileSync(join(skill(), 'hooks/hooks.json'), 'utf8')).not.toMatch(/\bnode \\/)
  expect((await run('install', 'claude-code')).stdout).toContain('already. Nothing was written.')

  expect(readFileSync(join(skill(), 'dist/hooks-module.js'), 'utf8')).toContain(JSON.stringify(process.execPath))

  const status = await run('status', '--json')
  expect(JSON.parse(status.stdout).targets[0]).toMatchObject({ name: 'claude-code', version: '0.1.0', byHand: [] })

  const removed = await run('uninstall', 'claude-code')
  expect([removed.exitCode, removed.stderr]).toEqual([0, ''])
  expect(readdirSync(home)).toEqual([])
  expect((await run('status')).stdout).toContain('claude-code  not installed')
})

test.each([
  ['claude-code', '.claude/skills/everlong/dist/everlong.js'],
  ['codex', '.codex/everlong/everlong.js'],
])('the program of %s starts below a package.json whose programs are no modules', async (name, program) => {
  await run('install', name)
  writeFileSync(join(home, 'package.json'), '{ "type": "commonjs" }')
  const { status, stderr } = spawnSync(process.execPath, [join(home, program), 'hook', home], {
    ...{ input: '{}', encoding: 'utf8', env: { HOME: home } },
  })
  expect([status, stderr]).toEqual([0, ''])
})

test('what was changed by hand is shown by status, and stays', async () => {
  await run('install', 'claude-code')
  writeFileSync(join(skill(), 'README.md'), 'mine')
  expect((await run('status')).stdout).toContain('changed since:')
  const { exitCode, stdout, stderr } = await run('uninstall', 'claude-code')
  expect(exitCode).toBe(1)
  expect(stdout).toContain('Not changed: it was changed since everlong wrote it.')
  expect(stderr).toBe('everlong: nothing was written: 1 file must be changed by hand first.\n')
  expect(existsSync(join(skill(), 'dist/everlong.js'))).toBe(true)
})

test('a settings file that cannot be read is named once, with the line', async () => {
  mkdirSync(join(home, '.codex'))
  const config = join(home, '.codex/config.toml')
  writeFileSync(config, 'model = "gpt-5"\n[broken\n')
  const { exitCode, stdout, stderr } = await run('install', 'codex')
  expect(exitCode).toBe(1)
  expect(stdout.split(config)).toHaveLength(2)
  expect(stdout).toContain('Not changed: it is not valid TOML in line 2: ')
  expect(stdout).toContain('Correct it, then try again.')
  expect(stderr).toBe('everlong: nothing was written: 1 file must be changed by hand first.\n')
  expect(readdirSync(home)).toEqual(['.codex'])
})

test('installing over a file that was changed by hand names it once', async () => {
  await run('install', 'pi')
  const path = join(home, '.pi/agent/extensions/everlong.js')
  writeFileSync(path, 'mine')
  const { exitCode, stdout } = await run('install', 'pi')
  expect([exitCode, stdout.split(path).length]).toEqual([1, 2])
  expect(stdout).toContain('it was changed since everlong wrote it')
})

test.each([
  ['an agent that nobody knows', ['install', 'emacs'], 'there is no agent called emacs. Known: '],
  ['what is not installed', ['uninstall', 'claude-code'], 'Everlong is not installed in Claude Code.'],
])('%s is an error', async (_, words, message) => {
  const { exitCode, stderr } = await run(...words)
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(message)])
  expect(readdirSync(home)).toEqual([])
})

test('a damaged record is an error that names it', async () => {
  const path = recordPath(home, 'claude-code')
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, '{"format":1,"files":[{}]}')
  for (const words of [['install', 'claude-code'], ['uninstall', 'claude-code'], ['status']]) {
    const { exitCode, stderr } = await run(...words)
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`${path} is damaged`)])
  }
  await run('install', 'pi')
  const { stdout } = await run('status')
  expect(stdout).toContain('claude-code  unknown: its record is damaged')
  expect(stdout).toContain('pi           installed, version ')
})
