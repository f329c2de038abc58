// /config: the settings with their values and where these come from; changes one and keeps it where the person says.
import { homedir } from 'node:os'
import { isObject } from 'everlong/internal'
import type { Choice, CommandResult, KeptPlace } from '../app.ts'
import { counted } from '../render/numbers.ts'
import { sandboxModes } from '../sandbox/modes.ts'
import { keepSetting, withValue } from '../settings/keep-rules.ts'
import { checkedSettings, loadSettings, readSettings, settingsFiles } from '../settings/load.ts'
import { permissionModes } from '../settings/schema.ts'
import { type CommandContext, clipped, error, type SlashCommand, text } from './command.ts'

export const config: SlashCommand = {
  name: 'config',
  arguments: '[SETTING [VALUE [session | project | user]]]',
  help: 'shows the settings and where they come from; changes one',
  run: (words, context) => {
    const [key = '', ...rest] = words.split(/\s+/)
    if (key === '') return settingsList(context)
    const place = places.find((name) => rest.length > 1 && name === rest.at(-1))
    const value = (place ? rest.slice(0, -1) : rest).join(' ')
    if (value === '') return oneSetting(key, context)
    return place ? change(key, value, place, context) : choosePlace(key, value, context)
  },
}

type Place = KeptPlace | 'session'
const places: readonly Place[] = ['session', 'project', 'user']

type Known = { readonly byDefault: string; readonly values?: readonly string[] }

const known: Readonly<Record<string, Known>> = {
  model: { byDefault: 'by the keys in the environment' },
  thinking: { byDefault: 'by the model', values: ['off', 'adaptive'] },
  'permissions.mode': { byDefault: 'ask', values: permissionModes },
  sandbox: { byDefault: 'on', values: sandboxModes },
  checkpoints: { byDefault: 'true', values: ['true', 'false'] },
  'retry.minutes': { byDefault: '10' },
  bell: { byDefault: 'true', values: ['true', 'false'] },
  'statusLine.command': { byDefault: 'none' },
  'engine.economy': { byDefault: 'default', values: ['default', 'thrifty', 'claude-code'] },
}

/** Lists, and values that may be secrets: they are changed in the files. */
const lists = ['permissions.allow', 'permissions.deny', 'env', 'hooks', 'mcpServers'] as const

function settingsList(context: CommandContext): CommandResult {
  const { settings } = loadSettings(context)
  const inEngine = leavesOf(settings.engine, 'engine')
  const rows = [...new Set([...Object.keys(known), ...inEngine])].map((key): Choice => {
    const { value, origin } = found(key, context)
    return { label: `${key}: ${clipped(value)}`, detail: origin, command: `/config ${key}` }
  })
  const more = lists.map((key): Choice => {
    const value = valueAt(settings, key)
    const size = isObject(value) ? Object.keys(value).length : Array.isArray(value) ? value.length : 0
    return { label: `${key}: ${counted(size, 'entry', 'entries')}`, detail: 'in the files', command: `/config ${key}` }
  })
  return { type: 'choose', title: 'Settings. Enter changes one.', choices: [...rows, ...more] }
}

function oneSetting(key: string, context: CommandContext): CommandResult {
  const { folder, home } = context
  if (isList(key)) {
    const files = Object.values(settingsFiles({ home, folder })).map(short)
    return text(
      `${key} is changed in the files, the later ones first:`,
      ...files.toReversed().map((file) => `  ${file}`),
    )
  }
  const { value, origin } = found(key, context)
  const is = `${key} is ${value} (${origin}).`
  const { values } = known[key] ?? {}
  if (!values) {
    const problem = isUnknown(key)
    return problem === undefined ? text(is, `/config ${key} VALUE changes it.`) : error(problem)
  }
  const choices = values.map((each) => ({
    label: each,
    ...(each === value ? { detail: 'in use' } : {}),
    command: `/config ${key} ${each}`,
  }))
  return { type: 'choose', title: is, choices }
}

function choosePlace(key: string, words: string, context: CommandContext): CommandResult {
  const read = readValue(key, words)
  if ('problem' in read) return error(read.problem)
  const files = settingsFiles(context)
  const here = { label: 'In this session', command: `/config ${key} ${words} session` }
  return {
    type: 'choose',
    title: `Where should ${key} be ${words}?`,
    choices: [
      ...(key === 'permissions.mode' ? [here] : []),
      { label: 'In this project', detail: short(files.own), command: `/config ${key} ${words} project` },
      { label: 'In all projects', detail: short(files.user), command: `/config ${key} ${words} user` },
    ],
  }
}

function change(key: string, words: string, place: Place, context: CommandContext): CommandResult {
  const read = readValue(key, words)
  if ('problem' in read) return error(read.problem)
  const mode = key === 'permissions.mode' ? permissionModes.find((name) => name === words) : undefined
  if (place === 'session') {
    if (!mode) return error(`${key} cannot change for one session. For the model, use /model.`)
    context.setMode(mode)
    return text(`${key} is ${words} in this session.`)
  }
  const file = settingsFiles(context)[place === 'project' ? 'own' : 'user']
  keepSetting(file, key.split('.'), read.value)
  if (mode) context.setMode(mode)
  const { value, origin } = inFiles(key, context)
  const since = mode ? 'from now on' : 'from the next start on'
  const told = `${key} is ${words} ${since} (${short(file)}).`
  return value === words ? text(told) : text(`${short(file)} says ${key}: ${words}, but it is ${value} (${origin}).`)
}

type ReadValue = { readonly value: unknown } | { readonly problem: string }

/** A number or `true` where the setting wants one, else the words. */
function readValue(key: string, words: string): ReadValue {
  if (isList(key)) return { problem: `${key} is changed in the settings files. /config ${key} lists them.` }
  const values = [...(/^(?:true|false|-?\d+(?:\.\d+)?)$/.test(words) ? [JSON.parse(words) as unknown] : []), words]
  const problems = values.map((value) => checkedSettings(withValue({}, key.split('.'), value)).problems)
  const right = problems.findIndex((all) => all.length === 0)
  return right < 0 ? { problem: problems[0]?.join('\n') ?? '' } : { value: values[right] }
}

/** Says which settings there are if this is none. */
function isUnknown(key: string): string | undefined {
  const { problems } = checkedSettings(withValue({}, key.split('.'), '?'))
  return problems.find((problem) => problem.includes('unknown setting'))
}

function isList(key: string): boolean {
  return lists.some((name) => key === name || key.startsWith(`${name}.`))
}

type Found = { readonly value: string; readonly origin: string }

/** What holds now. The mode and the model of this session may be others than in the files. */
function found(key: string, context: CommandContext): Found {
  const stored = inFiles(key, context)
  const inUse = key === 'permissions.mode' ? context.mode() : key === 'model' ? context.model().words : stored.value
  const isStored = inUse === stored.value || (key === 'model' && inUse === `anthropic:${stored.value}`)
  return isStored ? stored : { value: inUse, origin: 'session' }
}

function inFiles(key: string, context: CommandContext): Found {
  const { own, local, project, user } = settingsFiles(context)
  const value = valueAt(loadSettings(context).settings, key)
  if (value === undefined) return { value: known[key]?.byDefault ?? 'not set', origin: 'default' }
  const sources = [
    ['project', own],
    ['project', local],
    ['project', project],
    ['user', user],
  ] as const
  const source = sources.find(([, file]) => valueAt(readSettings(file).settings, key) === value)
  return { value: String(value), origin: source ? `${source[0]}: ${short(source[1])}` : 'default' }
}

function valueAt(settings: unknown, key: string): unknown {
  return key
    .split('.')
    .reduce<unknown>(
      (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
      settings,
    )
}

function leavesOf(value: unknown, path: string): readonly string[] {
  if (!isObject(value)) return [path]
  return Object.entries(value).flatMap(([name, inside]) => leavesOf(inside, `${path}.${name}`))
}

function short(file: string): string {
  const home = homedir()
  return file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file
}
