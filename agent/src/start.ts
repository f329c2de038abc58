// From the command line to a running agent: settings, trust, model, session, tools. Every problem is returned as a value for the
// host to show.

import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Environment } from 'everlong'
import type { Agent, PermissionMode, Person } from './app.ts'
import { type AgentOptions, createAgent } from './create-agent.ts'
import { isWithin } from './files/paths.ts'
import { chooseModel, configuredModel, type ModelChoice, type ModelSetup } from './models/choose.ts'
import type { ChosenModel, DemoModel } from './models/chosen.ts'
import { continuedModel, continuedNotices } from './models/continued.ts'
import { findOwnCommands, type OwnCommand } from './own/own-commands.ts'
import { misspelledServers, parseRules } from './permissions/rule.ts'
import { reasonOf } from './reason-of.ts'
import { type SandboxMode, sandboxModes, unavailableNotice } from './sandbox/modes.ts'
import type { SessionChoice } from './session-host.ts'
import { homeOf, sessionsFolder } from './sessions/places.ts'
import { findSession, listSessions, type SessionSummary } from './sessions/sessions.ts'
import { keepRules } from './settings/keep-rules.ts'
import { type LoadedSettings, loadSettings, projectFolders, settingsFiles } from './settings/load.ts'
import type { Settings } from './settings/settings.ts'
import { isTrusted, trustedIn, trustFolder } from './settings/trust.ts'
import { commandWish, type Wish } from './settings/wishes.ts'
import type { ToolSetup } from './tool-set.ts'
import { type AgentTools, createTools } from './tools/create-tools.ts'

/** A new session, the newest one of the project, or one by its id or name. The last two also as a copy. */
export type SessionWish =
  | { readonly type: 'new' }
  | { readonly type: 'continue'; readonly isCopy?: boolean }
  | { readonly type: 'resume'; readonly id: string; readonly isCopy?: boolean }

export type StartOptions = {
  readonly folder: string
  readonly env: Environment
  readonly person: Person
  /** From the command line. Overrides the settings. */
  readonly model?: string | undefined
  readonly mode?: PermissionMode | undefined
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
  readonly sandbox?: SandboxMode | undefined
  readonly session?: SessionWish
  readonly maxTurns?: number | undefined
  readonly isHeadless?: boolean
  /** Trust the folder without a question. */
  readonly isTrusting?: boolean
  /** For the model called `demo`. Without it, that name is refused. */
  readonly demo?: DemoModel
  /** Replaces the model that `model` names. */
  readonly chosen?: ChosenModel
}

export type Started =
  | {
      readonly type: 'started'
      readonly agent: Agent
      /** Information for the person, such as ignored settings. */
      readonly notices: readonly string[]
      readonly settings: Settings
    }
  | { readonly type: 'no-model'; readonly setup: ModelSetup }
  /** One line per problem. */
  | { readonly type: 'refused'; readonly why: readonly string[] }

export async function startAgent(options: StartOptions): Promise<Started> {
  const folder = resolve(options.folder)
  if (!isFolder(folder)) return refused(`${folder} is not a folder.`)
  const wrong = wrongRules(options)
  if (wrong.length > 0) return refused(...wrong)
  const home = homeOf(options.env)
  const loaded = await settingsFor({ home, folder, env: options.env }, options)
  if (loaded.problems.length > 0) return refused(...loaded.problems)
  const settings = withRules(loaded.settings, options)
  const env = { ...options.env, ...settings.env }
  const session = sessionFor(options.session, sessionsFolder(home, folder))
  if (typeof session === 'string') return refused(session)
  const { demo } = options
  const { model, notices: ofModel } = await modelFor(options, { settings, env, folder, session })
  if (model.type === 'none') return { type: 'no-model', setup: model.setup }
  if (model.type === 'refused') return refused(model.why)
  const { person, mode, maxTurns, isHeadless = false } = options
  let problems: readonly string[] = []
  const ownPlaces = (kind: string) => [join(folder, '.everlong', kind), join(folder, '.claude', kind), join(home, kind)]
  const commands = () => findOwnCommands(ownPlaces('commands'))
  const setup: AgentOptions = {
    ...{ folder, home, settings, model, person, env, session, isHeadless },
    ...(mode === undefined ? {} : { mode }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(demo ? { demo } : {}),
    isModelFixed: options.model !== undefined || options.chosen !== undefined,
    ownCommands: () => commands().found.map((command) => withCheckedFile(command, { home, folder })),
    keepsFiles: settings.checkpoints ?? true,
    createTools: async (given) => {
      const tools = await toolsFor(given, {
        folder,
        home,
        settings,
        env,
        ownPlaces,
        sandbox: sandboxFor(options, settings),
      })
      problems = tools.problems
      return tools
    },
  }
  try {
    const agent = await createAgent(setup)
    const withheld = loaded.withheld.length === 0 ? [] : [withheldNotice(loaded.withheld)]
    const { rules } = parseRules(settings.permissions)
    const misspelled = misspelledServers(rules.deny, Object.keys(settings.mcpServers))
    const servers = loaded.notices.map((each) => `MCP server not used: ${each}`)
    const wrong = commands().problems.map((each) => `Command not used: ${each}`)
    return {
      type: 'started',
      agent,
      settings,
      notices: [...ofModel, ...withheld, ...misspelled, ...servers, ...problems, ...wrong],
    }
  } catch (error) {
    await model.close?.()
    return refused(reasonOf(error))
  }
}

function refused(...why: readonly string[]): Started {
  return { type: 'refused', why }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}

type Places = { readonly home: string; readonly folder: string; readonly env: Environment }

/** Asks whether the folder is trusted if its settings want more than an untrusted folder may, and again if they want something new. */
async function settingsFor(places: Places, { person, isTrusting = false }: StartOptions): Promise<LoadedSettings> {
  const loaded = loadSettings(places)
  if (loaded.withheld.length === 0 || loaded.problems.length > 0) return loaded
  if (!isTrusting) {
    const isKnown = isTrusted(places)
    const request = {
      toolUseId: '',
      tool: 'Settings',
      title: `Trust the ${isKnown ? 'new ' : ''}settings of ${places.folder}`,
      reason: isKnown
        ? 'they are new since you trusted this folder, and run commands or widen permissions'
        : 'they run commands or widen permissions',
      detail: { type: 'text', text: listed(loaded.withheld).join('\n') } as const,
      answers: isKnown
        ? { yes: 'Trust these settings as well', no: 'Do not trust them, and work without them' }
        : { yes: 'Trust this folder from now on', no: 'Do not trust it, and work without these settings' },
    }
    const answer = await person.askPermission(request, new AbortController().signal)
    if (answer.type === 'deny') return loaded
  }
  // Trusts only what was shown, even if the files have changed meanwhile.
  trustFolder(places, loaded.withheld)
  return loadSettings(places)
}

type ModelPlaces = {
  readonly settings: Settings
  readonly env: Environment
  readonly folder: string
  readonly session: SessionChoice
}

/** From the command line, otherwise from the continued session, otherwise from the settings. */
async function modelFor(
  { chosen, model: named, demo }: StartOptions,
  { settings, env, folder, session }: ModelPlaces,
): Promise<{ readonly model: ModelChoice; readonly notices: readonly string[] }> {
  if (chosen) return { model: chosen, notices: [] }
  const world = { env, folder, demo, retryMinutes: settings.retry?.minutes }
  const isContinued = named === undefined && session.type !== 'new'
  const last = isContinued ? await continuedModel(session.path, world) : ({ type: 'none' } as const)
  const model = last.type === 'model' ? last : await chooseModel(named ?? settings.model, world)
  if (model.type !== 'model') return { model, notices: [] }
  return { model, notices: continuedNotices(last, model.words, configuredModel(settings.model, env)) }
}

/** A file of the project may have changed after the person agreed to it. */
function withCheckedFile(command: OwnCommand, places: { readonly home: string; readonly folder: string }): OwnCommand {
  const { name, shell } = command
  const wish = commandWish(command)
  const isOfProject = projectFolders(places).some((path) => shell && isWithin(path, shell.path))
  if (!wish || !isOfProject || trustedIn(places)?.has(wish.digest)) return command
  return {
    ...command,
    refusal: `/${name} runs commands, and you have not trusted this folder with them: ${shell?.path}. Start the agent again to be asked, or with --trust.`,
  }
}

function listed(wishes: readonly Wish[]): readonly string[] {
  return wishes.map(({ text }) => text)
}

function withheldNotice(withheld: readonly Wish[]): string {
  return `Not used, because this folder is not trusted: ${listed(withheld).join('; ')}. Start with --trust to use them.`
}

function wrongRules({ allow = [], deny = [] }: StartOptions): readonly string[] {
  return parseRules({ allow, deny }).problems.map((problem) => problem.replace(/^permissions\.(\w+)\[\d+\]/, '--$1'))
}

function withRules(settings: Settings, { allow = [], deny = [] }: StartOptions): Settings {
  const { permissions } = settings
  return {
    ...settings,
    permissions: { ...permissions, allow: [...permissions.allow, ...allow], deny: [...permissions.deny, ...deny] },
  }
}

/** Returns a string with the reason if there is none. */
function sessionFor(wish: SessionWish = { type: 'new' }, sessions: string): SessionChoice | string {
  if (wish.type === 'new') return wish
  const found = wish.type === 'continue' ? newestSession(sessions) : findSession(sessions, wish.id)
  if (typeof found === 'string') return found
  return { type: wish.isCopy ? 'fork' : 'open', path: found.path }
}

function newestSession(sessions: string): SessionSummary | string {
  return listSessions(sessions)[0] ?? 'There is no session to continue in this folder.'
}

/** Values in the settings that are only for MCP servers. */
function secretsIn({ mcpServers }: Settings): Readonly<Record<string, string>> {
  const isSecret = (name: string) => /key|token|secret|password|credential|auth/i.test(name)
  const found = Object.entries(mcpServers).flatMap(([server, settings]) => {
    const given = 'url' in settings ? settings.headers : settings.env
    return Object.entries(given ?? {}).flatMap(([name, value]) =>
      isSecret(name) ? [[`${server}.${name}`, value.replace(/^Bearer\s+/i, '')] as const] : [],
    )
  })
  return Object.fromEntries(found)
}

/** The settings decide, then the environment. A project's variables do not count. */
function sandboxFor({ sandbox, env }: StartOptions, settings: Settings): SandboxMode {
  const byEnvironment = sandboxModes.find((name) => name === env.EVERLONG_SANDBOX)
  return sandbox ?? settings.sandbox ?? byEnvironment ?? 'on'
}

type ToolPlaces = Places & {
  readonly settings: Settings
  readonly sandbox: SandboxMode
  readonly ownPlaces: (kind: string) => readonly string[]
}

async function toolsFor(setup: ToolSetup, places: ToolPlaces): Promise<AgentTools> {
  const { folder, home, settings, env, ownPlaces, sandbox } = places
  const { allow, deny } = settings.permissions
  const tools: AgentTools = await createTools({
    workspace: folder,
    person: setup.person,
    mode: { get: setup.mode, set: setup.setMode },
    permissions: { allow, deny },
    keepRules: (rules, place) =>
      setup.notify(ruleNotice(rules, settingsFiles({ home, folder })[place === 'user' ? 'user' : 'own'])),
    environment: env,
    sandbox: {
      mode: sandbox,
      agentHome: home,
      onUnavailable: (why) => setup.notify(unavailableNotice(why, sandbox)),
    },
    secrets: secretsIn(settings),
    mcpServers: settings.mcpServers,
    skillFolders: ownPlaces('skills'),
    agentFolders: ownPlaces('agents'),
    onTasks: () => setup.onTasks(tools.tasks.list()),
    onTaskEnded: setup.notify,
    tell: setup.sendNews,
  })
  return tools
}

/** One line for the person. A rule that cannot be stored still applies to this session. */
function ruleNotice(rules: readonly string[], file: string): string {
  try {
    keepRules(file, rules)
    return `Always allowed from now on: ${rules.join(', ')} (${file})`
  } catch (error) {
    return `Allowed for this session only: ${file} cannot be changed: ${reasonOf(error)}`
  }
}
