// Ports that a host has written itself, made safe to call: hooks, files, restoring, the workspace. Each answers in bounded time with
// something of the right shape; what went wrong is reported.
import { isObject, objectAt } from '../message/json.ts'
import type { FileRead, FileStore } from './files.ts'
import { describeValue, type Guard, guarded, hostTimeoutMs } from './guarded.ts'
import { type Hooks, noOutcome, readOutcome } from './hooks.ts'
import type { CompactionPorts } from './ports.ts'
import { nothingRestored, type Restoration, type Restore } from './restore.ts'
import type { NoWorkspaceState, Workspace, WorkspaceState } from './workspace.ts'

/** A hook that breaks has nothing to say; `problems` tells why. */
export function guardedHooks(hooks: Hooks, { wait }: Pick<CompactionPorts, 'wait'>): Hooks {
  return {
    run: async (call, { signal } = {}) => {
      const called = await guarded<unknown>(() => hooks.run(call, { signal }), {
        wait,
        timeoutMs: hostTimeoutMs,
        signal,
      })
      const broken = (why: string) => ({ ...noOutcome, problems: [`the hooks of ${call.event}: ${why}`] })
      if (called.type === 'aborted') return noOutcome
      if (called.type === 'broke') return broken(called.why)
      return readOutcome(called.value) ?? broken(`returned ${describeValue(called.value)}`)
    },
  }
}

const fileTimeoutMs = 10_000

/** While a read hangs no other is begun: a compaction that restores many files would wait for each of them. */
export function guardedFiles(files: FileStore, guard: Guard): FileStore {
  let hanging = 0
  const refused: FileRead = { type: 'refused', why: 'it could not be read' }
  return {
    read: async (path) => {
      if (hanging > 0) return { type: 'refused', why: 'an earlier read has not come back' }
      let state: 'running' | 'hanging' | 'over' = 'running'
      const reading = async (): Promise<unknown> => {
        try {
          return await files.read(path)
        } finally {
          if (state === 'hanging') hanging--
          state = 'over'
        }
      }
      const called = await guard.call('files', reading, { timeoutMs: fileTimeoutMs })
      if (state === 'running') {
        state = 'hanging'
        hanging++
      }
      if (called.type !== 'returned') return refused
      if (isFileRead(called.value)) return called.value
      guard.report('files', `read() returned ${describeValue(called.value)}`)
      return refused
    },
  }
}

function isFileRead(value: unknown): value is FileRead {
  if (!isObject(value)) return false
  if (value.type === 'text') return typeof value.text === 'string'
  return value.type === 'missing' || value.type === 'binary' || value.type === 'refused'
}

/** Restoring of the host's own. */
export function guardedRestore(restore: Restore, guard: Guard): Restore {
  return async (request) => {
    const called = await guard.call<unknown>('restore', () => restore(request))
    if (called.type !== 'returned') return nothingRestored
    if (isRestoration(called.value)) return called.value
    guard.report('restore', `returned ${describeValue(called.value)}`)
    return nothingRestored
  }
}

function isRestoration(value: unknown): value is Restoration {
  return isObject(value) && Array.isArray(value.pieces) && Array.isArray(value.notRestored)
}

export function guardedWorkspace(workspace: Workspace, guard: Guard): Workspace {
  return {
    state: async (query) => {
      const { signal } = query ?? {}
      const called = await guard.call<unknown>('workspace', () => workspace.state(query), { signal })
      if (called.type !== 'returned') return { type: 'unknown', why: 'the workspace could not be asked' }
      if (isWorkspaceState(called.value)) return called.value
      guard.report('workspace', `state() returned ${describeValue(called.value)}`)
      return { type: 'unknown', why: 'the workspace gave no answer that can be read' }
    },
  }
}

const workspaceLists = ['staged', 'unstaged', 'untracked', 'conflicts'] as const

function isWorkspaceState(value: unknown): value is WorkspaceState | NoWorkspaceState {
  if (!isObject(value)) return false
  if (value.type === 'unknown') return typeof value.why === 'string'
  return value.type === 'state' && workspaceLists.every((list) => Array.isArray(objectAt(value, list)?.items))
}
