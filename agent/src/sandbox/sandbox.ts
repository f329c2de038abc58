// The operating system's sandbox for commands: the resources of a command, who is asked about hosts, and whether the sandbox is
// available.
import type { PermissionResult, Permissions } from '../permissions/permissions.ts'
import type { Script } from '../permissions/script.ts'
import { sandboxEnvironment } from '../permissions/secrets.ts'
import type { ToolContext } from '../tool.ts'
import { foldersFor } from './folders.ts'
import { createGitStore, printsNoContents, runsGit } from './git-store.ts'
import { type Keeper, startKeeper } from './keeper-process.ts'
import type { SandboxMode, SandboxStatus } from './modes.ts'

export type SandboxOptions = {
  readonly mode: SandboxMode
  readonly root: string
  /** Folders added to the workspace so far, with all links resolved. */
  readonly added: () => readonly string[]
  readonly agentHome: string
  readonly environment: Readonly<Record<string, string>>
  readonly permissions: Permissions
  /** Called once, if it cannot be started. */
  readonly onUnavailable?: (why: string) => void
}

/** A command that is ready to run in the sandbox. */
export type Sheltered = {
  readonly program: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Call it once, when the command has ended or will not run. Returns the connections that were refused meanwhile. */
  readonly end: () => readonly Refusal[]
}

/** A refused connection. `why` is for the model, with the person's own words if there are any. */
export type Refusal = { readonly host: string; readonly why: string }

export type Shelter =
  | {
      readonly type: 'sandboxed'
      readonly sheltered: Sheltered
      /** The reason why the person must still be asked. */
      readonly doubt?: string
    }
  /** There is no sandbox for this command, so rules decide. */
  | { readonly type: 'none' }
  | { readonly type: 'refused'; readonly why: string }

export type ShelterRequest = {
  readonly command: string
  readonly script: Script
  readonly context: ToolContext
  /** Our own folders that the command may read. */
  readonly readable: readonly string[]
}

export type Sandbox = {
  readonly mode: SandboxMode
  readonly status: () => SandboxStatus
  readonly shelter: (request: ShelterRequest) => Promise<Shelter>
  readonly close: () => Promise<void>
}

type Run = {
  readonly request: ShelterRequest
  readonly hosts: Map<string, Promise<PermissionResult>>
  /** Reasons by host. */
  readonly refused: Map<string, string>
}

/** Programs that check for updates and send statistics would ask for the network, and git for the parent of a mounted folder. */
const quiet = {
  npm_config_update_notifier: 'false',
  NO_UPDATE_NOTIFIER: '1',
  PIP_DISABLE_PIP_VERSION_CHECK: '1',
  DO_NOT_TRACK: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  GIT_DISCOVERY_ACROSS_FILESYSTEM: '1',
}

const inGit = 'a file that a rule denies is in the history of git, which this command may print'

export function createSandbox(options: SandboxOptions): Sandbox {
  const { mode, root, agentHome, permissions, onUnavailable } = options
  const environment = { ...sandboxEnvironment(options.environment), ...quiet }
  const store = createGitStore(root)
  const runs = new Set<Run>()
  let keeper: Keeper | undefined
  let status: SandboxStatus = mode === 'off' ? { type: 'off' } : { type: 'not-started', mode }
  const onConnect = async (host: string, port: number | undefined) => {
    const run = [...runs].at(-1)
    if (run === undefined) return false
    const name = port === undefined ? host : `${host}:${port}`
    // A program opens many connections to one host, so each command asks about it once.
    const answer = [...runs].map(({ hosts }) => hosts.get(name)).find(Boolean) ?? askAbout(run, permissions, host, name)
    run.hosts.set(name, answer)
    const permitted = await answer
    if (permitted.type === 'denied') run.refused.set(name, permitted.message)
    return permitted.type === 'allowed'
  }
  const start = async (): Promise<Keeper | undefined> => {
    keeper ??= startKeeper({ environment: options.environment, onConnect })
    const why = await keeper.ready
    if (why === undefined) {
      if (status.type === 'not-started') status = { type: 'on', mode }
      return keeper
    }
    if (status.type === 'not-started') onUnavailable?.(why)
    status = { type: 'unavailable', mode, why }
    return undefined
  }
  const without = (why: string): Shelter =>
    mode === 'required'
      ? { type: 'refused', why: `It needs the sandbox, which is not there: ${why}` }
      : { type: 'none' }
  return {
    mode,
    status: () => status,
    shelter: async (request) => {
      if (mode === 'off') return { type: 'none' }
      const ready = await start()
      if (ready === undefined) return without(status.type === 'unavailable' ? status.why : 'it has not started')
      const rules = permissions.rules()
      const folders = foldersFor({ root, added: options.added(), agentHome, path: options.environment.PATH })
      const isInGit = await store.hasDenied(rules, folders.stores)
      const usesGit = runsGit(request.script)
      const policy = {
        root,
        folders: { ...folders, readable: [...folders.readable, ...request.readable] },
        rules,
        hidesGit: isInGit && !usesGit,
        usesGit,
      }
      const wrapped = await ready.wrap(request.command, policy)
      // Running it outside is a separate question.
      if (wrapped.type === 'not-wrapped') {
        return { type: 'refused', why: `The sandbox could not be set up for this command: ${wrapped.why}` }
      }
      const run: Run = { request, hosts: new Map(), refused: new Map() }
      runs.add(run)
      const end = () => {
        if (runs.delete(run)) ready.ended()
        return [...run.refused].map(([host, why]) => ({ host, why }))
      }
      const hasDenied = isInGit || wrapped.hasDenied
      const doubt = hasDenied && usesGit && !printsNoContents(request.script) ? { doubt: inGit } : {}
      return { type: 'sandboxed', sheltered: { program: wrapped.program, environment, end }, ...doubt }
    },
    close: async () => {
      await keeper?.close()
    },
  }
}

async function askAbout(run: Run, permissions: Permissions, host: string, name: string): Promise<PermissionResult> {
  const { session, signal, toolUseId } = run.request.context
  return permissions.check({
    access: { type: 'connect', host },
    tool: 'Bash',
    title: `Connect to ${name}`,
    detail: { type: 'text', text: run.request.command },
    toolUseId,
    // A background command outlives the turn that started it.
    signal: signal.aborted ? new AbortController().signal : signal,
    session,
  })
}
