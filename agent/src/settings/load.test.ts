import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { loadSettings, type SettingsPlaces } from './load.ts'
import { noSettings } from './settings.ts'
import { isTrusted, trustFolder } from './trust.ts'

const root = mkdtempSync(join(tmpdir(), 'everlong-settings-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let count = 0

type Files = { readonly user?: unknown; readonly project?: unknown; readonly local?: unknown }

function placesWith({ user, project, local }: Files) {
  const base = join(root, String(++count))
  const places = { home: join(base, 'home'), folder: join(base, 'work', 'project') }
  for (const folder of [places.home, join(places.folder, '.everlong')]) mkdirSync(folder, { recursive: true })
  const write = (path: string, value: unknown) => {
    if (value !== undefined) writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
  }
  write(join(places.home, 'settings.json'), user)
  write(join(places.folder, '.everlong', 'settings.json'), project)
  write(join(places.folder, '.everlong', 'settings.local.json'), local)
  return places
}

type Places = Pick<SettingsPlaces, 'home' | 'folder'>

/** The settings about which the person would be asked. */
const withheldIn = (places: Places) => loadSettings(places).withheld.map(({ text }) => text)
const trust = (places: Places) => trustFolder(places, loadSettings(places).withheld)

/** The mistakes, without the folder. */
function problemsIn(files: Files): readonly string[] {
  const places = placesWith(files)
  return loadSettings(places).problems.map((problem) => problem.replace(places.home, '~').replace(places.folder, '.'))
}

const everything = {
  model: 'anthropic:claude-opus-5',
  thinking: 4_000,
  retry: { minutes: 30 },
  permissions: { mode: 'accept-edits', allow: ['Bash(npm test)'], deny: ['Read(.env)'] },
  env: { COLOR: '0' },
  hooks: { PreToolUse: [{ matcher: 'Edit|Write', hooks: [{ type: 'command', command: 'true' }] }] },
  mcpServers: { files: { command: 'npx', args: ['files'] }, web: { type: 'http', url: 'https://example.com/mcp' } },
  engine: { target: 0.5, keep: { tokens: 4_000 }, summary: { model: 'claude-haiku-4-5' } },
}

test('without files there are no settings and no mistakes', () => {
  expect(loadSettings(placesWith({}))).toEqual({ settings: noSettings, problems: [], notices: [], withheld: [] })
})

test('the settings of the person are taken whole', () => {
  expect(loadSettings(placesWith({ user: everything }))).toEqual({
    settings: everything,
    problems: [],
    notices: [],
    withheld: [],
  })
})

test('in a trusted folder the project comes before the person, and what is local before both; lists are joined', () => {
  const places = placesWith({
    user: { model: 'demo', permissions: { mode: 'ask', allow: ['Bash(ls)'] }, env: { A: 'user', B: 'user' } },
    project: { model: 'anthropic:claude-opus-5', permissions: { allow: ['Bash(npm test)'] }, env: { B: 'project' } },
    local: { permissions: { mode: 'plan', deny: ['WebFetch'] }, env: { C: 'local' } },
  })
  trust(places)
  expect(loadSettings(places).settings).toEqual({
    ...noSettings,
    model: 'anthropic:claude-opus-5',
    permissions: { mode: 'plan', allow: ['Bash(ls)', 'Bash(npm test)'], deny: ['WebFetch'] },
    env: { A: 'user', B: 'project', C: 'local' },
  })
})

test('a project replaces single settings of the person and keeps the others of the same group', () => {
  const places = placesWith({
    user: {
      retry: { minutes: 5 },
      engine: {
        target: 0.5,
        autoCompactAt: { 'claude-opus': '70%' },
        sessionMemory: false,
        summary: { model: 'claude-haiku-4-5', offline: 'never' },
        reductions: { weigh: false, bySize: { keep: 1, target: 9_000 } },
      },
    },
    project: {
      retry: {},
      engine: {
        autoCompactAt: { 'claude-haiku': '60%' },
        sessionMemory: { growth: 7_000 },
        summary: { offline: 'always' },
        reductions: { bySize: { keep: 4 }, native: {} },
      },
    },
    local: { engine: { reductions: { bySize: { minFreed: 10 } } } },
  })
  const expected = {
    ...noSettings,
    retry: { minutes: 5 },
    engine: {
      target: 0.5,
      autoCompactAt: { 'claude-haiku': '60%' },
      sessionMemory: { isOn: false, growth: 7_000 },
      summary: { model: 'claude-haiku-4-5', offline: 'always' },
      reductions: { weigh: false, bySize: { keep: 4, target: 9_000, minFreed: 10 }, native: {} },
    },
  }
  expect(loadSettings(places).settings).toEqual(expected)
  trust(places)
  expect(loadSettings(places).settings).toEqual(expected)
})

test('a folder that nobody trusts can be stricter and no more; what it would get is listed', () => {
  const places = placesWith({ project: everything })
  const { settings } = loadSettings(places)
  const { engine, retry } = everything
  expect(settings).toEqual({ ...noSettings, permissions: { allow: [], deny: ['Read(.env)'] }, engine, retry })
  expect(withheldIn(places)).toEqual([
    'hook PreToolUse: true',
    'MCP server files: npx files',
    'MCP server web: https://example.com/mcp',
    'allow Bash(npm test)',
    'permission mode accept-edits',
    'set the variable COLOR=0',
    'model anthropic:claude-opus-5',
  ])
  trust(places)
  expect(loadSettings(places)).toEqual({ settings: everything, problems: [], notices: [], withheld: [] })
})

test('trust covers the folders below and no others', () => {
  const places = placesWith({})
  const { home, folder } = places
  const below = join(folder, 'packages', 'a')
  mkdirSync(below, { recursive: true })
  expect(isTrusted(places)).toBe(false)
  trust(places)
  trust(places)
  expect([isTrusted({ home, folder: below }), isTrusted({ home, folder: join(folder, '..') })]).toEqual([true, false])
})

test('trust counts for where a link leads', () => {
  const { home, folder } = placesWith({})
  const other = placesWith({}).folder
  trust({ home, folder })
  symlinkSync(other, join(folder, 'inside'))
  symlinkSync(folder, join(other, 'outside'))
  const trusted = [join(folder, 'inside'), join(other, 'outside')].map((each) => isTrusted({ home, folder: each }))
  expect(trusted).toEqual([false, true])
})

test('a project that nobody trusts can require the sandbox, and not change it otherwise', () => {
  const loaded = (sandbox: string) => {
    const places = placesWith({ user: { sandbox: 'on' }, project: { sandbox } })
    return [loadSettings(places).settings.sandbox, withheldIn(places)]
  }
  expect(['on', 'ask', 'off', 'required'].map(loaded)).toEqual([
    ['on', ['sandbox on']],
    ['on', ['sandbox ask']],
    ['on', ['sandbox off']],
    ['required', []],
  ])
})

test('a folder that nobody trusts may turn the bell off', () => {
  const { settings, withheld } = loadSettings(placesWith({ user: { bell: true }, project: { bell: false } }))
  expect([settings.bell, withheld]).toEqual([false, []])
})

test('a trusted project can ask about everything, but not turn off the plan mode of the person', () => {
  const loaded = (user: string | undefined, project: string) => {
    const places = placesWith({ user: { permissions: { mode: user } }, project: { permissions: { mode: project } } })
    trustFolder(places, [])
    return loadSettings(places).settings.permissions.mode
  }
  const modes = ['plan', 'ask', 'accept-edits', 'allow'] as const
  expect(modes.map((mode) => [loaded(mode, 'ask'), loaded(mode, 'plan'), loaded(mode, 'allow')])).toEqual([
    ['plan', 'plan', 'plan'],
    ['ask', 'plan', 'ask'],
    ['ask', 'plan', 'accept-edits'],
    ['ask', 'plan', 'allow'],
  ])
  expect(loaded(undefined, 'ask')).toBe('ask')
})

test('a trusted project needs agreement to turn checkpoints off, and none to turn them on', () => {
  const loaded = (checkpoints: boolean) => {
    const places = placesWith({ user: { checkpoints: !checkpoints }, project: { checkpoints } })
    trustFolder(places, [])
    const before = loadSettings(places).settings.checkpoints
    const asked = withheldIn(places)
    trust(places)
    return [before, asked, loadSettings(places).settings.checkpoints]
  }
  expect([true, false].map(loaded)).toEqual([
    [true, [], true],
    [true, ['no checkpoints, so /rewind cannot restore files'], false],
  ])
})

test('a project that wants to ask about everything withholds nothing', () => {
  const withheld = (mode: string) => withheldIn(placesWith({ project: { permissions: { mode } } }))
  expect(['ask', 'plan', 'allow'].map(withheld)).toEqual([[], [], ['permission mode allow']])
})

test.each<[string, Files, readonly string[]]>([
  ['a file that is not JSON', { user: '{"model": }' }, [expect.stringMatching(/^~\/settings\.json: not valid JSON: /)]],
  [
    'an unknown key, with those that are known',
    { project: { permission: {} } },
    [
      './.everlong/settings.json: permission: unknown setting; known here: model, thinking, retry, permissions, checkpoints, statusLine, bell, sandbox, env, hooks, mcpServers, engine',
    ],
  ],
  [
    'an unknown key further down',
    { user: { permissions: { allowed: [] } } },
    ['~/settings.json: permissions.allowed: unknown setting; known here: mode, allow, deny'],
  ],
  [
    'a wrong value, with what is allowed',
    { local: { permissions: { mode: 'yolo' } } },
    [
      './.everlong/settings.local.json: permissions.mode: invalid option: expected one of "ask"|"accept-edits"|"plan"|"allow"',
    ],
  ],
  [
    'several mistakes, each on its own',
    { user: { thinking: 'on', engine: { target: 2, economy: 5, keeep: 2, sessionMemory: { first: 1 } } } },
    [
      expect.stringMatching(/^~\/settings\.json: thinking: /),
      '~/settings.json: engine.target: 2 is not a share between 0 and 1',
      '~/settings.json: engine.economy: 5 is not one of default, thrifty, claude-code',
      '~/settings.json: engine.keeep: unknown setting; did you mean keep?',
      '~/settings.json: engine.sessionMemory.first: unknown setting; it was renamed to sessionMemory.minTokens.',
    ],
  ],
  [
    'a server without a command',
    { user: { mcpServers: { files: { args: [] } } } },
    ['~/settings.json: mcpServers.files.command: invalid input: expected string, received undefined'],
  ],
  [
    'a rule that cannot be read',
    { user: { permissions: { deny: ['Bash('] } } },
    [expect.stringMatching(/^~\/settings\.json: permissions\.deny\[0\] "Bash\(": expected a tool/)],
  ],
  [
    'rules for tools that are not there',
    { user: { permissions: { deny: ['Raed(.env)', 'Bash(rm *)'], allow: ['bash(ls:*)'] } } },
    [
      expect.stringMatching(
        /^~\/settings\.json: permissions\.allow\[0\] "bash\(ls:\*\)": there is no tool bash\. Did you mean Bash\?/,
      ),
      expect.stringMatching(
        /^~\/settings\.json: permissions\.deny\[0\] "Raed\(\.env\)": there is no tool Raed\. Did you mean Read\?/,
      ),
    ],
  ],
  [
    'a server whose tools could be taken for those of another',
    { user: { mcpServers: { a__b: { command: 'x' } } } },
    ['~/settings.json: mcpServers.a__b: use letters, digits, "-" and single "_", and no "_" at the end'],
  ],
  [
    'a hook of an event that is not there',
    { user: { hooks: { PreTool: [] } } },
    [expect.stringMatching(/^~\/settings\.json: hooks\.PreTool: not one of PreCompact, /)],
  ],
  [
    'a matcher that is no expression',
    { user: { hooks: { PreToolUse: [{ matcher: '(', hooks: [] }] } } },
    ['~/settings.json: hooks.PreToolUse.0.matcher: expected words, or a regular expression'],
  ],
])('%s is told with file and place', (_, files, problems) => {
  expect(problemsIn(files)).toEqual(problems)
})

test('settings in a pipe, a device or a huge file are a mistake, and nobody waits for them', () => {
  const places = placesWith({ user: ' '.repeat(1024 * 1024 + 1) })
  const [pipe, device, mcp] = ['.everlong/settings.json', '.everlong/settings.local.json', '.mcp.json'].map((name) =>
    join(places.folder, name),
  ) as [string, string, string]
  execFileSync('mkfifo', [pipe, mcp])
  symlinkSync('/dev/zero', device)
  const { problems, notices } = loadSettings(places)
  expect(problems).toEqual([
    `${join(places.home, 'settings.json')}: cannot be read: it is larger than 1024 KB`,
    `${pipe}: cannot be read: it is not a regular file`,
    `${device}: cannot be read: it is not a regular file`,
  ])
  expect(notices).toEqual([`${mcp}: cannot be read: it is not a regular file`])
})

test('settings of exactly 1 MB, or where a link leads, are used', () => {
  const settings = '{"model":"demo"}'
  const places = placesWith({ user: settings.padEnd(1024 * 1024) })
  symlinkSync(join(places.home, 'settings.json'), join(places.folder, '.everlong', 'settings.json'))
  expect([loadSettings(places).settings.model, loadSettings(places).problems]).toEqual(['demo', []])
})

test('nothing of a file with a mistake is used', () => {
  expect(loadSettings(placesWith({ user: { model: 'demo', nonsense: true } })).settings).toEqual(noSettings)
})

test('the settings of the engine must be an object', () => {
  expect(problemsIn({ user: { engine: null } })).toEqual(['~/settings.json: engine: null is not an object'])
})

test('a folder that nobody trusts can turn plan mode on', () => {
  const places = placesWith({ user: { permissions: { mode: 'allow' } }, project: { permissions: { mode: 'plan' } } })
  const { settings, withheld } = loadSettings(places)
  expect([settings.permissions.mode, withheld]).toEqual(['plan', []])
})

test('in the home folder, the settings of the person are not read again as those of a project', () => {
  const folder = join(root, String(++count))
  const places = { home: join(folder, '.everlong'), folder }
  mkdirSync(places.home, { recursive: true })
  const file = join(places.home, 'settings.json')
  writeFileSync(file, JSON.stringify(everything))
  expect(loadSettings(places)).toEqual({ settings: everything, problems: [], notices: [], withheld: [] })
  trust(places)
  expect(loadSettings(places).settings).toEqual(everything)
  writeFileSync(file, '{ "modle": "demo" }')
  expect(loadSettings(places).problems).toHaveLength(1)
})

const hook = (command: string, matcher = 'Edit') => ({ matcher, hooks: [{ type: 'command', command }] })

test('what is added to a trusted folder is withheld, and what was trusted stays in use', () => {
  const project = {
    hooks: { PreToolUse: [hook('lint')] },
    permissions: { allow: ['Bash(npm test)'] },
    env: { COLOR: '0' },
    mcpServers: { files: { command: 'npx', args: ['files'] } },
  }
  const places = placesWith({ project })
  trust(places)
  const before = loadSettings(places)
  const change = (settings: object) =>
    writeFileSync(join(places.folder, '.everlong', 'settings.json'), JSON.stringify(settings))
  const later = {
    ...project,
    hooks: { PreToolUse: [hook('lint'), hook('curl evil.example')], Stop: [hook('beep')] },
    statusLine: { command: 'status' },
    permissions: { mode: 'allow', allow: ['Bash(npm test)', 'Bash'] },
    sandbox: 'off',
    env: { COLOR: '0', PATH: '/evil' },
    mcpServers: { ...project.mcpServers, web: { type: 'http', url: 'https://example.com/mcp' } },
    model: 'demo',
  }
  change(later)
  expect(withheldIn(places)).toEqual([
    'hook PreToolUse: curl evil.example',
    'hook Stop: beep',
    'MCP server web: https://example.com/mcp',
    'status line: status',
    'allow Bash',
    'permission mode allow',
    'sandbox off',
    'set the variable PATH=/evil',
    'model demo',
  ])
  expect(loadSettings(places).settings).toEqual(before.settings)
  trust(places)
  expect([withheldIn(places), loadSettings(places).settings]).toEqual([
    [],
    { ...noSettings, ...later, permissions: { deny: [], ...later.permissions } },
  ])
  // Another branch has the old settings; nobody is asked on the way back.
  change(project)
  expect(loadSettings(places)).toEqual(before)
  change(later)
  expect(withheldIn(places)).toEqual([])
})

test.each<[string, object, object, string]>([
  ['the value of a variable', { env: { A: '1' } }, { env: { A: '2' } }, 'set the variable A=2'],
  ['the tools of a hook', { hooks: { Stop: [hook('x')] } }, { hooks: { Stop: [hook('x', '*')] } }, 'hook Stop: x'],
  [
    'the event of a hook',
    { hooks: { Stop: [hook('x')] } },
    { hooks: { PreToolUse: [hook('x')] } },
    'hook PreToolUse: x',
  ],
  [
    'the variables of a server',
    { mcpServers: { a: { command: 'x' } } },
    { mcpServers: { a: { command: 'x', env: { NODE_OPTIONS: '--import evil' } } } },
    'MCP server a: x (variables: NODE_OPTIONS=--import evil)',
  ],
  [
    'the name of a server',
    { mcpServers: { a: { command: 'x' } } },
    { mcpServers: { b: { command: 'x' } } },
    'MCP server b: x',
  ],
])('a change of %s is new', (_, project, later, asked) => {
  const places = placesWith({ project })
  trust(places)
  expect(withheldIn(places)).toEqual([])
  writeFileSync(join(places.folder, '.everlong', 'settings.json'), JSON.stringify(later))
  expect(withheldIn(places)).toEqual([asked])
})

test('a folder below a trusted one is asked about what the folder above does not have', () => {
  const places = placesWith({ project: { env: { A: '1' } } })
  trust(places)
  const below = { home: places.home, folder: join(places.folder, 'below') }
  mkdirSync(join(below.folder, '.everlong'), { recursive: true })
  const settings = { env: { A: '1' }, hooks: { Stop: [hook('x')] } }
  writeFileSync(join(below.folder, '.everlong', 'settings.json'), JSON.stringify(settings))
  expect([loadSettings(below).settings.env, withheldIn(below)]).toEqual([{ A: '1' }, ['hook Stop: x']])
  trust(below)
  expect([withheldIn(below), withheldIn(places)]).toEqual([[], []])
})

test('without a record of what was trusted, the person is asked again', () => {
  const places = placesWith({ project: { env: { A: '1' } } })
  for (const text of [JSON.stringify({ folders: [places.folder] }), '{"folders": {', 'null']) {
    writeFileSync(join(places.home, 'trusted.json'), text)
    expect(withheldIn(places)).toEqual(['set the variable A=1'])
  }
  trust(places)
  expect(withheldIn(places)).toEqual([])
})
