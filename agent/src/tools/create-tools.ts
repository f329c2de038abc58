// The tools of a coding agent, ready for the loop: they share a workspace, permissions and background tasks.
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Session, SessionOptions } from 'everlong/node'
import type { Person } from '../app.ts'
import { openWorkspace } from '../files/paths.ts'
import type { McpServer } from '../mcp/connection.ts'
import { mcpTools } from '../mcp/mcp-tools.ts'
import { serverName, serverNameRule } from '../mcp/server-name.ts'
import { createServer, type Server } from '../mcp/servers.ts'
import { findOwnAgents } from '../own/own-agents.ts'
import { createPermissions, type Mode, type PermissionOptions } from '../permissions/permissions.ts'
import { formatRule, parseRules, type RuleSet } from '../permissions/rule.ts'
import { commandEnvironment, createRedactor, type Environment, type Secrets } from '../permissions/secrets.ts'
import type { SandboxStatus } from '../sandbox/modes.ts'
import { createSandbox, type SandboxOptions } from '../sandbox/sandbox.ts'
import { homeOf } from '../sessions/places.ts'
import { skillTool } from '../skills/skill-tool.ts'
import { findSkills, type Skill } from '../skills/skills.ts'
import type { SubagentType } from '../subagent-tool.ts'
import type { AnyTool } from '../tool.ts'
import { askUserTool } from './ask-user.ts'
import { bashTool, personCommand } from './bash/bash.ts'
import type { RunningProcess } from './bash/process.ts'
import { ownCompactTool } from './compact.ts'
import { editTool } from './edit.ts'
import { type Kit, outputFolderOf } from './kit.ts'
import { planTools } from './plan.ts'
import { readTool } from './read.ts'
import { createReadFiles, type ReadFiles } from './read-files.ts'
import { createRecall } from './recall.ts'

import { globTool } from './search/glob-tool.ts'
import { grepTool } from './search/grep.ts'
import { findRipgrep } from './search/search.ts'
import { taskTool } from './task.ts'
import { createTasks, type Tasks, taskTools } from './tasks.ts'
import { todoTool } from './todo.ts'
import { webFetchTool } from './web/web-fetch.ts'
import { writeTool } from './write.ts'

export type ToolsOptions = {
  /** The workspace's folder. */
  readonly workspace: string
  readonly person: Person
  /** The current mode; plan mode changes it. */
  readonly mode: Mode
  /** Rules of the settings. `parseRules` reports invalid ones; here they are errors. */
  readonly permissions?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }
  /** Stores rules for later sessions. */
  readonly keepRules?: PermissionOptions['keepRules']
  /** Default: this process's environment. */
  readonly environment?: Environment
  /** Secrets of the settings, by a name that may be shown. */
  readonly secrets?: Secrets
  /** The sandbox for commands. Default: none. */
  readonly sandbox?: Pick<SandboxOptions, 'mode' | 'onUnavailable'> & { readonly agentHome?: string }
  /** MCP servers by name. They start on demand. */
  readonly mcpServers?: Readonly<Record<string, McpServer>>
  /** Folders with skills, the most important first. Those that are not there are left out. */
  readonly skillFolders?: readonly string[]
  /** Folders with kinds of sub-agents, the most important first. */
  readonly agentFolders?: readonly string[]
  /** For sub-agents. Default: a short one of our own. */
  readonly subagentSystem?: string
  /** Background tasks have changed. */
  readonly onTasks?: () => void
  /** Hears one line for the person when a background task has ended by itself. */
  readonly onTaskEnded?: (line: string) => void
  /** Tells the model of a session that one of its tasks has ended. Default: adds it to the conversation. */
  readonly tell?: (notification: string, session: Session) => void
}

export type AgentTools = {
  readonly tools: readonly AnyTool[]
  readonly sandbox: () => SandboxStatus
  /** The current rules in their written form. */
  readonly rules: () => { readonly allow: readonly string[]; readonly deny: readonly string[] }
  readonly tasks: Tasks
  /** Runs a command that the person typed. */
  readonly runForPerson: ReturnType<typeof personCommand>
  /** State that a compaction must not lose and the conversation does not show. Pass it to the session as `state`. */
  readonly state: NonNullable<SessionOptions['state']>
  /** Replaces the secrets that these tools replace: give it to the engine, so that it restores files the same way. */
  readonly redact: (text: string) => string
  /** Skills and agents that cannot be used, and why. */
  readonly problems: readonly string[]
  readonly skills: readonly Skill[]
  readonly servers: readonly Server[]
  /** Kinds of sub-agents that the person or the project has defined. */
  readonly agents: readonly SubagentType[]
  /** The tools may work there as in the workspace, until the session ends. Returns the real folder. */
  readonly addFolder: (folder: string) => Promise<string>
  /** Ends background tasks and every process that a tool started. */
  readonly close: () => Promise<void>
}

/** Throws an Error that lists every invalid rule. */
export async function createTools(options: ToolsOptions): Promise<AgentTools> {
  const { environment = process.env, person, mode, tell = addNotification, onTaskEnded } = options
  const running = new Set<RunningProcess>()
  const tasks = createTasks({ onChange: () => options.onTasks?.(), notifyModel: tell, onTaskEnded })
  const { skills, problems } = findSkills(options.skillFolders ?? [])
  const wrongName = Object.keys(options.mcpServers ?? {}).find((name) => !serverName.test(name))
  if (wrongName !== undefined)
    throw new Error(`The name of the MCP server ${JSON.stringify(wrongName)}: ${serverNameRule}.`)
  const own = await createKit(options, { environment, readable: skills.map(({ folder }) => folder) })
  const { kit, permitted } = own
  const servers = Object.entries(options.mcpServers ?? {}).map(([name, server]) =>
    createServer(name, server, { cwd: kit.workspace.realRoot }),
  )
  const mcp = servers.length === 0 ? undefined : mcpTools(kit, servers)
  const recall = createRecall()
  const compact = ownCompactTool()
  const skill = skillTool(kit, skills)
  const ripgrep = findRipgrep(environment.PATH)
  const looking = permitted([readTool(kit), grepTool(kit, { ripgrep }), globTool(kit), webFetchTool(kit)])
  const sandbox = createSandbox({
    mode: 'off',
    agentHome: homeOf(environment),
    ...options.sandbox,
    root: kit.workspace.realRoot,
    added: kit.workspace.added,
    environment: kit.environment,
    permissions: kit.permissions,
  })
  const bash = bashTool(kit, { tasks, running, sandbox })
  const working = permitted([writeTool(kit), editTool(kit), bash, ...taskTools(tasks), todoTool()])
  const more = permitted([...(skill ? [skill] : []), ...(mcp?.tools ?? [])])
  const forSubagents = [...looking, ...working, ...permitted([compact]), ...more]
  const agents = findOwnAgents(options.agentFolders ?? [], forSubagents)
  const subagents = taskTool({ looking, all: forSubagents, tasks, system: options.subagentSystem, own: agents.found })
  const others = permitted([subagents, recall.tool, compact, askUserTool(person), ...planTools(person, mode)])
  const killAll = () => {
    for (const child of running) child.kill()
  }
  process.once('exit', killAll)
  return {
    tools: [...looking, ...working, ...others, ...more],
    tasks,
    sandbox: sandbox.status,
    rules: () => writtenRules(kit.permissions.rules()),
    runForPerson: personCommand(kit, { tasks, running, sandbox }),
    problems: [
      ...problems.map((each) => `Skill not used: ${each}`),
      ...agents.problems.map((each) => `Agent not used: ${each}`),
    ],
    skills,
    servers,
    agents: agents.found,
    addFolder: kit.workspace.add,
    redact: kit.redactor.text,
    state: () => serverState(servers, mcp?.found() ?? []),
    close: async () => {
      await tasks.stopAll()
      await Promise.all([...running].map((child) => child.stop()))
      await sandbox.close()
      await Promise.all(servers.map((server) => server.close()))
      await recall.close()
      process.removeListener('exit', killAll)
      own.close()
    },
  }
}

function writtenRules({ allow, deny }: RuleSet): ReturnType<AgentTools['rules']> {
  return { allow: allow.map(formatRule), deny: deny.map(formatRule) }
}

/** Empty lists are omitted, because they would hide what the conversation shows. */
function serverState(servers: readonly Server[], found: readonly string[]) {
  const mcpInstructions = servers.flatMap((server) => {
    const text = server.instructions()
    return text === undefined ? [] : [{ name: server.name, text, isUsed: true }]
  })
  return {
    ...(mcpInstructions.length > 0 ? { mcpInstructions } : {}),
    ...(found.length > 0 ? { deferredTools: found } : {}),
  }
}

type Extra = { readonly environment: Environment; readonly readable: readonly string[] }

async function createKit(options: ToolsOptions, { environment, readable }: Extra) {
  const { rules, problems } = parseRules(options.permissions ?? {})
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const workspace = await openWorkspace(options.workspace)
  const readFiles = new WeakMap<Session, ReadFiles>()
  const outputFolders = new Set<string>()
  let temporary: string | undefined
  const fallback = () => {
    temporary ??= mkdtempSync(join(tmpdir(), 'everlong-output-'))
    return temporary
  }
  const outputFolder = (session: Session) => {
    const folder = session.path === undefined ? fallback() : outputFolderOf(session.path)
    outputFolders.add(folder)
    return folder
  }
  const ownFolders = (session: Session) => [outputFolder(session), ...outputFolders, ...readable].flatMap(realFolder)
  const kit: Kit = {
    workspace,
    permissions: createPermissions({
      person: options.person,
      mode: options.mode,
      rules,
      root: workspace.realRoot,
      ownFolders,
      ...(options.keepRules ? { keepRules: options.keepRules } : {}),
    }),
    redactor: createRedactor(environment, options.secrets),
    environment: commandEnvironment(environment),
    readFiles: (session) => {
      const files = readFiles.get(session) ?? createReadFiles(session)
      readFiles.set(session, files)
      return files
    },
    ownFolders,
    outputFolder,
  }
  const close = () => {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true })
  }
  /** Without tools that a rule denies completely, which the model need not see. */
  const permitted = (tools: readonly AnyTool[]) =>
    tools.filter(({ name }) => !rules.deny.some(({ type, tool }) => type === 'any' && tool === name))
  return { kit, close, permitted }
}

function addNotification(content: string, session: Session): void {
  session.add({ role: 'user', origin: 'meta', content })
}

/** With all links resolved; empty if the folder does not exist. */
function realFolder(folder: string): readonly string[] {
  return existsSync(folder) ? [realpathSync(folder)] : []
}
