import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { stringify } from 'smol-toml'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChangedMeanwhile, writeAll } from '../../disk.ts'
import { installInto, removeFrom } from './install.ts'
import { planInstall } from './plan.ts'
import { DamagedRecord, type InstallRecord, readRecord, recordPath, recordText } from './record.ts'
import type { InstallTarget, Place } from './target.ts'

let home: string
let place: Place
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'everlong-install-'))
  place = { home, env: {}, node: 'node', pluginFile: () => '' }
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const settings = () => join(home, '.agent', 'settings.toml')
const config = () => join(home, '.agent', 'config.toml')
const bundle = () => join(home, '.agent', 'plugins', 'everlong', 'everlong.js')

/** An agent with all kinds of changes. */
const agent = (content = 'one'): InstallTarget => ({
  ...{ name: 'agent', title: 'Agent', about: '' },
  changes: () => [
    { type: 'file', path: bundle(), content },
    { type: 'toml', path: settings(), text: `[hooks.stop]\nrun = "${content}"` },
    { type: 'toml', path: config(), text: 'prompt = "x"', where: 'start' },
    { type: 'toml', path: config(), text: `[mcp.everlong]\ncommand = "${content}"` },
  ],
  data: () => [
    join(home, '.agent', 'data', 'everlong'),
    { folder: join(home, '.cache', 'agent'), match: '*/logs-of-everlong' },
    { folder: join(home, '.agent', 'runs'), match: '*', ifEmpty: true },
  ],
})

const version = '1.0.0'
const install = (target = agent()) => installInto(target, place, { version })
const uninstall = () => removeFrom(agent(), place)

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** Every file and folder below the home folder, with its bytes, its mode, or where it points. */
function everything(): Record<string, unknown> {
  const names = readdirSync(home, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const stats = lstatSync(join(home, name))
      if (!stats.isFile()) return [name, stats.mode]
      return [name, [stats.mode, readFileSync(join(home, name)).toString('base64')]]
    }),
  )
}

test('an empty home folder is empty again afterwards', () => {
  expect(install().isDone).toBe(true)
  expect(readFileSync(settings(), 'utf8')).toBe('[hooks.stop]\nrun = "one"\n')
  expect(readFileSync(config(), 'utf8')).toBe('prompt = "x"\n\n[mcp.everlong]\ncommand = "one"\n')
  expect(statSync(recordPath(home, 'agent')).mode & 0o777).toBe(0o600)
  expect(uninstall()?.isDone).toBe(true)
  expect(everything()).toEqual({})
})

test('what the plug-in and the agent left while it ran goes too, and what others left stays', () => {
  install()
  put(join(home, '.agent/data/everlong/deep/note.txt'), 'x')
  put(join(home, '.cache/agent/project/logs-of-everlong/1.log'), 'x')
  mkdirSync(join(home, '.agent/runs/1'), { recursive: true })
  const data = uninstall()?.data.map((path) => path.slice(home.length + 1))
  expect(data).toEqual(['.agent/data/everlong', '.cache/agent/project/logs-of-everlong', '.agent/runs/1'])
  expect(everything()).toEqual({})

  mkdirSync(join(home, '.agent/runs/1'), { recursive: true })
  put(join(home, '.cache/agent/project/logs-of-others/1.log'), 'x')
  const before = everything()
  install()
  put(join(home, '.cache/agent/project/logs-of-everlong/1.log'), 'x')
  uninstall()
  expect(everything()).toEqual(before)
})

test('whatever was in the files, it is there again afterwards, byte for byte', () => {
  const anyToml = fc.oneof(
    fc.constantFrom(
      '',
      '\ufeff',
      'a = 1',
      '# mine\n[a]\nb = "c"\r\n',
      '[[list]]\nx = 1\n\n\n',
      '[hooks]\na = 1',
      'prompt = "mine"',
    ),
    fc.dictionary(fc.string(), fc.oneof(fc.string(), fc.integer(), fc.boolean())).map((table) => stringify(table)),
  )
  const property = fc.property(anyToml, anyToml, fc.boolean(), (first, second, isUsed) => {
    rmSync(home, { recursive: true, force: true })
    put(settings(), first)
    put(config(), second)
    const before = everything()
    const { isDone, plan } = install()
    if (!isDone) expect(plan.refusals.length).toBeGreaterThan(0)
    else {
      if (isUsed) put(join(home, '.agent/data/everlong/note.txt'), 'x')
      expect(uninstall()?.isDone).toBe(true)
    }
    expect(everything()).toEqual(before)
  })
  fc.assert(property, { numRuns: 50 })
})

test('what a person changed elsewhere since stays, and what they removed of ours is no problem', () => {
  put(settings(), 'theme = "dark"\n')
  install()
  put(settings(), readFileSync(settings(), 'utf8').replace('"dark"', '"light" # better'))
  put(config(), `${readFileSync(config(), 'utf8')}\n[mine]\na = 1\n`)
  rmSync(bundle())
  expect(uninstall()?.plan.refusals).toEqual([])
  expect(readFileSync(settings(), 'utf8')).toBe('theme = "light" # better\n')
  expect(readFileSync(config(), 'utf8')).toBe('\n[mine]\na = 1\n')
  expect(existsSync(join(home, '.agent/plugins'))).toBe(false)
})

test.each([
  ['a file of ours that was edited', () => put(bundle(), 'edited'), () => bundle()],
  ['lines of ours that were edited', () => edit(config(), '"one"', '"two"'), () => config()],
  ['settings that are no longer TOML', () => put(settings(), '{'), () => settings()],
])('%s: nothing is removed, and the person is told what to do', (_, change, path) => {
  install()
  change()
  const before = everything()
  const result = uninstall()
  expect(result?.isDone).toBe(false)
  expect(result?.plan.refusals).toEqual([
    { type: 'refused', path: path(), why: expect.any(String), todo: expect.stringMatching(/^(Remove|Delete) /) },
  ])
  expect(install(agent('two')).isDone).toBe(false)
  expect(everything()).toEqual(before)
})

function edit(path: string, from: string, to: string): void {
  put(path, readFileSync(path, 'utf8').replace(from, to))
}

test.each<[string, () => void, () => string, string]>([
  [
    'settings that are not TOML',
    () => put(settings(), 'a 1'),
    settings,
    'it is not valid TOML in line 1: illegal character in key',
  ],
  [
    'settings that are not text',
    () => put(settings(), new Uint8Array([0x7b, 0xff])),
    settings,
    'it is not valid UTF-8',
  ],
  [
    'a file where ours would go',
    () => put(bundle(), 'mine'),
    bundle,
    'it exists already, and everlong did not write it',
  ],
  ['a folder where settings should be', () => mkdirSync(settings(), { recursive: true }), settings, 'it is not a file'],
  [
    'settings that point nowhere',
    () => {
      mkdirSync(dirname(settings()))
      symlinkSync(join(home, 'gone'), settings())
    },
    settings,
    'it is a link to a file that does not exist',
  ],
])('%s: nothing is written', (_, prepare, path, why) => {
  prepare()
  const before = everything()
  const { plan, isDone } = install()
  expect(isDone).toBe(false)
  expect(plan.refusals[0]).toEqual({ type: 'refused', path: path(), why, todo: expect.any(String) })
  expect(everything()).toEqual(before)
})

test('a link to settings elsewhere stays a link, and the file keeps its mode', () => {
  const real = join(home, 'dotfiles', 'settings.toml')
  put(real, 'a = 1\n')
  chmodSync(real, 0o600)
  mkdirSync(dirname(settings()))
  symlinkSync(real, settings())
  const before = everything()
  install()
  expect(lstatSync(settings()).isSymbolicLink()).toBe(true)
  expect(statSync(real).mode & 0o777).toBe(0o600)
  expect(readFileSync(real, 'utf8')).toContain('[hooks.stop]')
  uninstall()
  expect(everything()).toEqual(before)
})

test('installing twice writes nothing, and a newer version replaces the older one', () => {
  put(settings(), 'a = 1\n')
  const before = everything()
  install()
  expect(install().plan.writes).toEqual([])
  expect(installInto(agent('two'), place, { version: '2.0.0' }).isDone).toBe(true)
  expect(readFileSync(bundle(), 'utf8')).toBe('two')
  expect(readFileSync(config(), 'utf8').match(/command/g)).toHaveLength(1)
  uninstall()
  expect(everything()).toEqual(before)
})

test('a dry run writes nothing', () => {
  expect(installInto(agent(), place, { version, dryRun: true }).plan.writes.map(({ path }) => path)).toEqual([
    recordPath(home, 'agent'),
    bundle(),
    settings(),
    config(),
  ])
  expect(everything()).toEqual({})
})

test('an installation that fails halfway leaves nothing behind', () => {
  put(settings(), 'a = 1\n')
  const before = everything()
  const plan = planInstall(agent(), place, { record: undefined, version })
  const last = plan.writes.at(-1)
  if (!last) throw new Error('nothing to write')
  const writes = [...plan.writes.slice(0, -1), { ...last, before: Buffer.from('what somebody wrote meanwhile') }]
  expect(() => writeAll({ ...plan, writes })).toThrow(ChangedMeanwhile)
  expect(everything()).toEqual(before)
})

test.each([1, 2, 3, 4])('killed after %i writes, it can still be removed or repeated', (count) => {
  put(settings(), 'a = 1\n')
  const before = everything()
  const killed = (target: InstallTarget, number: number) => {
    const plan = planInstall(target, place, { record: undefined, version })
    writeAll({ ...plan, writes: plan.writes.slice(0, number) })
  }
  killed(agent(), count)
  expect(install().isDone).toBe(true)
  uninstall()
  expect(everything()).toEqual(before)
  killed(agent(), count)
  expect(uninstall()?.isDone).toBe(true)
  expect(everything()).toEqual(before)
})

test('what is not installed cannot be removed', () => {
  expect(uninstall()).toBeUndefined()
})

test('a record that names another agent is damaged, and nothing is made of it', () => {
  const record: InstallRecord = { format: 1, target: 'other', version: '1', folders: [], files: [] }
  const path = recordPath(home, 'agent')
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, recordText(record))
  expect(() => readRecord(home, 'agent')).toThrow(DamagedRecord)
  writeFileSync(path, recordText({ ...record, target: 'agent' }))
  expect(readRecord(home, 'agent')).toEqual({ ...record, target: 'agent' })
  expect(readRecord(home, 'third')).toBe(undefined)
})
