// The tools of a coding agent, ready for the loop: they share a workspace, permissions and background tasks.
import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineSession } from 'everlong/node'
import type { PermissionMode, Person } from '../app.ts'
import { openWorkspace } from '../files/paths.ts'
import { createPermissions } from '../permissions/permissions.ts'
import { parseRules } from '../permissions/rule.ts'
import { commandEnvironment, createRedactor, type Environment, type Secrets } from '../permissions/secrets.ts'
import type { AnyTool } from '../tool.ts'
import { bashTool } from './bash/bash.ts'
import type { RunningProcess } from './bash/process.ts'
import { editTool } from './edit.ts'
import { type Kit, outputFolderOf } from './kit.ts'
import { readTool } from './read.ts'
import { createReadFiles, type ReadFiles } from './read-files.ts'
import { globTool } from './search/glob-tool.ts'
import { grepTool } from './search/grep.ts'
import { findRipgrep } from './search/search.ts'
import { createTasks, type TaskInfo, taskTools } from './tasks.ts'
import { writeTool } from './write.ts'

export type ToolsOptions = {
  /** The workspace's folder. */
  readonly workspace: string
  readonly person: Person
  /** The mode as it is now; plan mode changes it. */
  readonly mode: { readonly get: () => PermissionMode; readonly set: (mode: PermissionMode) => void }
  /** Rules of the settings. Wrong ones are reported by `parseRules`; here they are errors. */
  readonly permissions?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] }
  /** Default: this process's own. */
  readonly environment?: Environment
  /** Secrets of the settings, by a name that may be shown. */
  readonly secrets?: Secrets
  /** Background tasks have changed. */
  readonly onTasks?: () => void
  /** Tells the model of a session that one of its tasks has ended. Default: adds it to the conversation. */
  readonly tell?: (notification: string, session: EngineSession) => void
}

export type AgentTools = {
  readonly tools: readonly AnyTool[]
  readonly tasks: () => readonly TaskInfo[]
  /** Ends background tasks and every process that a tool started. */
  readonly close: () => Promise<void>
}

/** Throws an Error that lists every rule that cannot be read. */
export async function createTools(options: ToolsOptions): Promise<AgentTools> {
  const { environment = process.env } = options
  const running = new Set<RunningProcess>()
  const { tell = addNotification } = options
  const tasks = createTasks({ onChange: () => options.onTasks?.(), tell })
  const own = await createKit(options, environment)
  const ripgrep = findRipgrep(environment.PATH)
  const killAll = () => {
    for (const child of running) child.kill()
  }
  process.once('exit', killAll)
  const { kit } = own
  const files = [readTool(kit), writeTool(kit), editTool(kit)]
  const tools = [
    ...files,
    bashTool(kit, { tasks, running }),
    grepTool(kit, { ripgrep }),
    globTool(kit),
    ...taskTools(tasks),
  ]
  return {
    tools,
    tasks: tasks.list,
    close: async () => {
      await tasks.stopAll()
      await Promise.all([...running].map((child) => child.stop()))
      process.removeListener('exit', killAll)
      own.close()
    },
  }
}

async function createKit(options: ToolsOptions, environment: Environment) {
  const { rules, problems } = parseRules(options.permissions ?? {})
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const workspace = await openWorkspace(options.workspace)
  const readFiles = new WeakMap<EngineSession, ReadFiles>()
  const outputFolders = new Set<string>()
  let temporary: string | undefined
  const fallback = () => {
    temporary ??= mkdtempSync(join(tmpdir(), 'everlong-output-'))
    return temporary
  }
  const outputFolder = (session: EngineSession) => {
    const folder = session.path === undefined ? fallback() : outputFolderOf(session.path)
    outputFolders.add(folder)
    return folder
  }
  const kit: Kit = {
    workspace,
    permissions: createPermissions({
      person: options.person,
      mode: options.mode.get,
      rules,
      root: workspace.realRoot,
      ownFolders: (session) => [outputFolder(session), ...outputFolders].flatMap(realFolder),
    }),
    redactor: createRedactor(environment, options.secrets),
    environment: commandEnvironment(environment),
    readFiles: (session) => {
      const files = readFiles.get(session) ?? createReadFiles(session)
      readFiles.set(session, files)
      return files
    },
    outputFolder,
  }
  const close = () => {
    if (temporary !== undefined) rmSync(temporary, { recursive: true, force: true })
  }
  return { kit, close }
}

function addNotification(content: string, session: EngineSession): void {
  session.add({ role: 'user', origin: 'meta', content })
}

/** Behind all links, if it is there. */
function realFolder(folder: string): readonly string[] {
  return existsSync(folder) ? [realpathSync(folder)] : []
}
