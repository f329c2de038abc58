// Puts together what a session needs besides its conversation: the ladder, session memory, collapse, restoring, clean-ups.

import { type CompactMechanismOptions, compactMechanism } from './core/ladder/compact-mechanism.ts'
import { defaultLadder } from './core/ladder/ladder.ts'
import { memoryMechanism } from './core/ladder/memory-mechanism.ts'
import { defined, type JsonObject } from './core/message/json.ts'
import type { ViewMessage } from './core/message/message.ts'
import type { FileStore } from './core/ports/files.ts'
import type { Guard } from './core/ports/guarded.ts'
import { guardedFiles, guardedRestore } from './core/ports/guarded-ports.ts'
import type { Restore } from './core/ports/restore.ts'
import { type CleanUp, createCleanUps } from './core/session/callbacks.ts'
import { Collapser } from './core/session/collapser.ts'
import type { Conversation } from './core/session/conversation.ts'
import { type Memory, MemoryKeeper, memoryState } from './core/session/memory-keeper.ts'
import type { OpenedSession, Platform } from './core/session/platform.ts'
import { guardedState, type HostState, Restoring } from './core/session/restoring.ts'
import { type EngineSettings, memoryChoices } from './core/session/settings.ts'

export type PartsInput = Pick<OpenedSession, 'id' | 'store' | 'entries' | 'notes'> & {
  readonly platform: Platform
  readonly isSubagent: boolean
  /** The workspace folder, according to the host; never taken from a transcript. */
  readonly cwd: string
  readonly settings: EngineSettings
  readonly restore?: Restore | undefined
  readonly files?: FileStore | undefined
  readonly host?: HostState | undefined
  readonly guard: Guard
  /** Clean-ups of all sessions of an engine. */
  readonly shared: Set<CleanUp>
}

export function sessionParts(input: PartsInput) {
  const { settings, store, entries, cwd, guard } = input
  const named = settings.reductions?.toolKinds
  const { files, see } = input.platform.files({
    given: input.files && guardedFiles(input.files, guard),
    entries,
    cwd,
    named,
    permitted: (path) => restoring.permitted(path),
  })
  const restoring: Restoring = new Restoring({
    files,
    ofTurnOnly: settings.economy === 'thrifty',
    host: input.host && guardedState(input.host, guard),
    root: cwd,
    named,
    entries: store.entries,
  })
  const memory = memoryFor(input)
  const { keep, summary, recall, isAutonomous } = settings
  const options: CompactMechanismOptions = { keep, ...defined({ settings: summary, recall, isAutonomous }) }
  const collapser = settings.collapse ? new Collapser() : undefined
  return {
    watch: (record: JsonObject, message: ViewMessage | undefined, how: { readonly isLive: boolean }) => {
      restoring.add(record, message)
      if (message) see(message, record, how)
    },
    onRewind: restoring.readAgain,
    ladder: defaultLadder([compactMechanism(options)], {
      memory: memoryMechanism(memory, options),
      collapse: collapser?.mechanism,
      isNative: settings.reductions?.native !== undefined,
    }),
    /** Takes the conversation that `watch` listens to. */
    restoreFor: (conversation: Conversation): Restore =>
      input.restore ? guardedRestore(input.restore, guard) : (request) => restoring.restore(request, conversation),
    background: [...('store' in memory ? [memory] : []), ...(collapser ? [collapser] : [])],
    memoryState: () => memoryState(memory),
    cleanUps: createCleanUps(input.shared, {
      isSubagent: input.isSubagent,
      onProblem: (problem) => guard.report('clean-up', problem),
    }),
    files,
  }
}

function memoryFor({ notes, entries, settings, isSubagent }: PartsInput): Memory {
  if (isSubagent) return { why: 'turned-off', detail: 'Sub-agents keep no notes.' }
  if (!notes) {
    return { why: 'in-memory', detail: 'The session is only in memory, and notes are a file next to the transcript.' }
  }
  return new MemoryKeeper({ store: notes, choices: memoryChoices(settings), isResumed: entries.length > 0 })
}
