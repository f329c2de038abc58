// Reads and merges the settings of a person and a project. A mistake is reported with its file, its place and the allowed values;
// a file with a mistake is not used at all.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Environment } from 'everlong'
import { checkSettings, isObject, mergeSettings, type SettingProblem } from 'everlong/internal'
import { type HookSettings, readHookSettings } from 'everlong/node'
import { z } from 'zod'
import { readRegularFile } from '../files/regular-file.ts'
import { findOwnCommands, type OwnCommand } from '../own/own-commands.ts'
import { parseRules } from '../permissions/rule.ts'
import { reasonOf } from '../reason-of.ts'
import { sessionsFolder } from '../sessions/places.ts'
import { readMcpFile } from './mcp-file.ts'
import { maxSettingsBytes, settingsSchema } from './schema.ts'
import { noSettings, type Settings } from './settings.ts'
import { trustedIn } from './trust.ts'
import { type Wish, wishesOf } from './wishes.ts'

export type LoadedSettings = {
  readonly settings: Settings
  /** One line per mistake: file, place, problem. */
  readonly problems: readonly string[]
  /** Ignored settings that do not prevent a start, one line each. */
  readonly notices: readonly string[]
  /** Settings of the project that are withheld until the person trusts it. */
  readonly withheld: readonly Wish[]
}

export type SettingsPlaces = {
  readonly home: string
  readonly folder: string
  /** For `${NAME}` in `.mcp.json`. */
  readonly env?: Environment
}

export function settingsFiles({ home, folder }: SettingsPlaces) {
  return {
    user: join(home, 'settings.json'),
    project: join(folder, '.everlong', 'settings.json'),
    mcp: join(folder, '.mcp.json'),
    local: join(folder, '.everlong', 'settings.local.json'),
    /** The person's own for this project. It is outside the project, so nobody else can have written it. */
    own: join(sessionsFolder(home, folder), 'settings.json'),
  }
}

export function loadSettings(places: SettingsPlaces): LoadedSettings {
  const files = settingsFiles(places)
  const user = readSettings(files.user)
  const project = [files.project, files.local].filter((path) => path !== files.user).map(readSettings)
  const own = readSettings(files.own)
  const problems = [user, ...project, own].flatMap((read) => read.problems)
  const { servers, sources, problems: notices } = readMcpFile(files.mcp, places.env ?? {})
  const ofProject = project.reduce((sum, { settings }) => merged(sum, settings), {
    ...noSettings,
    mcpServers: servers,
  })
  const ofFiles = project.map(({ settings }) => settings.mcpServers)
  const wishes = wishesOf(ofProject, Object.assign({}, sources, ...ofFiles), projectCommands(places))
  const trusted = trustedIn(places)
  const isGranted = ({ digest }: Wish) => trusted?.has(digest) ?? false
  const granted = wishes.filter(isGranted).map((wish) => ({ ...noSettings, ...wish.settings }))
  const free = trusted ? harmless(ofProject, user.settings) : restricted(ofProject)
  const settings = [free, ...granted, own.settings].reduce(merged, user.settings)
  return { settings, problems, notices, withheld: wishes.filter((wish) => !isGranted(wish)) }
}

/** Slash commands of the project. In the home folder they belong to the person. */
function projectCommands({ home, folder }: SettingsPlaces): readonly OwnCommand[] {
  return projectFolders({ home, folder }).flatMap((path) => findOwnCommands([join(path, 'commands')]).found)
}

/** Folders of a project with files for the agent. */
export function projectFolders({ home, folder }: SettingsPlaces): readonly string[] {
  return ['.everlong', '.claude'].map((name) => join(folder, name)).filter((path) => path !== home)
}

type ReadSettings = { readonly settings: Settings; readonly problems: readonly string[] }

export function readSettings(path: string): ReadSettings {
  const wrong = (...problems: readonly string[]) => ({ settings: noSettings, problems })
  if (!existsSync(path)) return wrong()
  const value = parsed(path)
  if (value.type === 'wrong') return wrong(`${path}: ${value.why}`)
  const { settings, problems } = checkedSettings(value.json)
  return { settings, problems: problems.map((problem) => `${path}: ${problem}`) }
}

/** What a settings file holds. With a problem, nothing of it is used. */
export function checkedSettings(json: unknown): ReadSettings {
  const wrong = (...problems: readonly string[]) => ({ settings: noSettings, problems })
  const read = settingsSchema.safeParse(json)
  const engine = checkSettings(isObject(json) ? json.engine : undefined)
  const mistakes = [
    ...(read.error?.issues ?? []).flatMap((issue) => mistakesIn(issue)),
    ...engine.problems.map(mistakeInEngine),
  ]
  if (!read.success || mistakes.length > 0) return wrong(...mistakes)
  const hooks = readHookSettings(read.data.hooks)
  if (hooks.type === 'wrong') return wrong(hooks.problem)
  const rules = parseRules(read.data.permissions ?? {})
  if (rules.problems.length > 0) return wrong(...rules.problems)
  const { $schema: _, hooks: __, permissions, engine: ___, env = {}, mcpServers = {}, ...rest } = read.data
  return {
    settings: {
      ...(JSON.parse(JSON.stringify(rest)) as Pick<
        Settings,
        'model' | 'thinking' | 'retry' | 'statusLine' | 'bell' | 'checkpoints' | 'sandbox'
      >),
      permissions: { ...noSettings.permissions, ...permissions } as Settings['permissions'],
      env,
      hooks: hooks.settings,
      mcpServers,
      engine: engine.settings,
    },
    problems: [],
  }
}

type Parsed = { readonly type: 'json'; readonly json: unknown } | { readonly type: 'wrong'; readonly why: string }

function parsed(path: string): Parsed {
  const read = readRegularFile(path, maxSettingsBytes)
  if (read.type === 'unreadable') return { type: 'wrong', why: `cannot be read: ${read.why}` }
  try {
    return { type: 'json', json: JSON.parse(read.text) }
  } catch (error) {
    return { type: 'wrong', why: `not valid JSON: ${reasonOf(error)}` }
  }
}

type Issue = z.core.$ZodIssue

/** The place in the file, the problem, and the allowed values. */
function mistakesIn(issue: Issue, before: readonly PropertyKey[] = []): readonly string[] {
  const path = [...before, ...issue.path]
  const place = path.length === 0 ? 'the whole file' : path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(
      (key) => `${[...path, key].map(String).join('.')}: unknown setting; known here: ${knownAt(path)}`,
    )
  }
  // The name itself is invalid; explains why.
  if (issue.code === 'invalid_key') return issue.issues.map(({ message }) => `${place}: ${lowerFirst(message)}`)
  if (issue.code === 'invalid_union') {
    // The alternative with the fewest mistakes is the intended one.
    const [closest] = issue.errors.toSorted((a, b) => a.length - b.length)
    if (closest?.some(({ path: deep }) => deep.length > 0)) return closest.flatMap((each) => mistakesIn(each, path))
    return [
      `${place}: ${issue.errors
        .flat()
        .map(({ message }) => lowerFirst(message))
        .join(', or ')}`,
    ]
  }
  return [`${place}: ${lowerFirst(issue.message)}`]
}

/** `engine.target: 2 is not a share between 0 and 1` */
function mistakeInEngine(problem: SettingProblem): string {
  const place = ['engine', problem.path].filter((part) => part !== '').join('.')
  if (problem.type === 'unreadable') return `${place}: ${problem.why}`
  return `${place}: unknown setting${problem.hint === undefined ? '' : `; ${problem.hint}`}`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/** The keys that the schema has here. */
function knownAt(path: readonly PropertyKey[]): string {
  let schema: z.core.$ZodType | undefined = settingsSchema
  for (const key of path) {
    const inner = unwrapped(schema)
    schema = inner instanceof z.ZodObject ? inner.shape[String(key)] : undefined
  }
  const found = unwrapped(schema)
  return found instanceof z.ZodObject
    ? Object.keys(found.shape)
        .filter((key) => key !== '$schema')
        .join(', ')
    : 'none'
}

function unwrapped(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  return schema instanceof z.ZodOptional ? schema.unwrap() : schema
}

/** `second` overrides single settings of `first`, also inside groups. Lists are joined. */
function merged(first: Settings, second: Settings): Settings {
  const lists = ['allow', 'deny'] as const
  const joined = Object.fromEntries(
    lists.map((name) => [name, [...new Set([...first.permissions[name], ...second.permissions[name]])]]),
  )
  const events = Object.keys({ ...first.hooks, ...second.hooks }) as (keyof HookSettings)[]
  return {
    ...first,
    ...second,
    permissions: { ...first.permissions, ...second.permissions, ...joined },
    env: { ...first.env, ...second.env },
    hooks: Object.fromEntries(
      events.map((event) => [event, [...(first.hooks[event] ?? []), ...(second.hooks[event] ?? [])]]),
    ),
    ...(first.retry || second.retry ? { retry: { ...first.retry, ...second.retry } } : {}),
    mcpServers: { ...first.mcpServers, ...second.mcpServers },
    engine: mergeSettings(first.engine, second.engine),
  }
}

/** Settings that an untrusted folder may still decide: stricter permissions, context management, retries, the bell. */
function restricted({ permissions, engine, retry, sandbox, bell }: Settings): Settings {
  const { deny, mode } = permissions
  const isStricter = mode === 'plan'
  return {
    ...noSettings,
    permissions: { ...noSettings.permissions, deny, ...(isStricter ? { mode } : {}) },
    engine,
    ...(retry ? { retry } : {}),
    ...(bell === undefined ? {} : { bell }),
    ...(sandbox === 'required' ? { sandbox } : {}),
  }
}

/** Settings that a trusted folder may decide without another question. `wishesOf` has the others. */
function harmless(project: Settings, person: Settings): Settings {
  const { thinking, checkpoints, permissions } = project
  const free = restricted(project)
  const asks = permissions.mode === 'ask' && person.permissions.mode !== 'plan'
  return {
    ...free,
    ...(thinking === undefined ? {} : { thinking }),
    ...(checkpoints === true ? { checkpoints } : {}),
    permissions: { ...free.permissions, ...(asks ? { mode: 'ask' } : {}) },
  }
}
