// Puts together what a session needs besides its conversation: the ladder, session memory, collapse, restoring, clean-ups.

import { type CompactRungOptions, compactRung } from './core/ladder/compact-rung.ts'
import { defaultLadder } from './core/ladder/ladder.ts'
import { memoryRung } from './core/ladder/memory-rung.ts'
import type { JsonObject } from './core/message/json.ts'
import type { ViewMessage } from './core/message/message.ts'
import type { FileStore } from './core/ports/files.ts'
import type { Guard } from './core/ports/guarded.ts'
import { guardedFiles, guardedRestore } from './core/ports/guarded-ports.ts'
import type { Restore } from './core/ports/restore.ts'
import type { Store } from './core/ports/store.ts'
import { type CleanUp, createCleanUps } from './core/session/callbacks.ts'
import { Collapser } from './core/session/collapser.ts'
import type { Conversation } from './core/session/conversation.ts'
import { type Memory, MemoryKeeper, memoryState } from './core/session/memory-keeper.ts'
import { guardedState, type HostState, Restoring } from './core/session/restoring.ts'
import { type EngineSettings, memoryChoices } from './core/session/settings.ts'
import type { Entry } from './core/transcript/format/entry.ts'
import { sessionFiles } from './node/session/session-files.ts'
import { openMemory } from './node/session/session-memory.ts'

export type PartsInput = {
  readonly id: string
  readonly store: Store
  /** What was there when the session was opened. */
  readonly entries: readonly Entry[]
  readonly isSubagent: boolean
  /** The workspace folder, according to the host; never taken from a transcript. */
  readonly cwd: string
  readonly settings: EngineSettings
  readonly compaction?: CompactRungOptions | undefined
  readonly files?: FileStore | undefined
  readonly host?: HostState | undefined
  readonly guard: Guard
  /** Clean-ups of all sessions of an engine. */
  readonly shared: Set<CleanUp>
}

export function sessionParts(input: PartsInput) {
  const { settings, store, entries, cwd, guard } = input
  const { restore: own, ...options } = input.compaction ?? {}
  const named = settings.reductions?.toolKinds
  const { files, see } = sessionFiles({
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
  const collapser = settings.mode === 'collapse' ? new Collapser() : undefined
  return {
    watch: (record: JsonObject, message: ViewMessage | undefined, how: { readonly isLive: boolean }) => {
      restoring.add(record, message)
      if (message) see(message, record, how)
    },
    ladder: defaultLadder([compactRung(options)], {
      memory: memoryRung(memory, options),
      collapse: collapser?.mechanism,
      isNative: settings.reductions?.native !== undefined,
    }),
    /** Takes the conversation that `watch` listens to. */
    restoreFor: (conversation: Conversation): Restore =>
      own ? guardedRestore(own, guard) : (request) => restoring.restore(request, conversation),
    background: [...('store' in memory ? [memory] : []), ...(collapser ? [collapser] : [])],
    memoryState: () => memoryState(memory),
    cleanUps: createCleanUps(input.shared, {
      isSubagent: input.isSubagent,
      onProblem: (problem) => guard.report('clean-up', problem),
    }),
    files,
  }
}

function memoryFor({ store, entries, settings, isSubagent }: PartsInput): Memory {
  if (isSubagent) return { why: 'turned-off', detail: 'Sub-agents keep no notes.' }
  if (store.path === undefined) {
    return { why: 'in-memory', detail: 'The session is only in memory, and notes are a file next to the transcript.' }
  }
  const choices = memoryChoices(settings)
  return new MemoryKeeper({ store: openMemory(store.path), choices, isResumed: entries.length > 0 })
}
