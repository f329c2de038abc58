// What a session of the engine is equipped with besides its conversation: notes, collapse, restoring, clean-up, hooks.
// It puts them together and keeps nothing itself.

import { type CompactRungOptions, compactRung } from './core/ladder/compact-rung.ts'
import type { Ladder } from './core/ladder/ladder.ts'
import { defaultLadder } from './core/ladder/ladder.ts'
import { memoryRung } from './core/ladder/memory-rung.ts'
import type { FileStore } from './core/ports/files.ts'
import type { Guard } from './core/ports/guarded.ts'
import { guardedFiles, guardedRestore } from './core/ports/guarded-ports.ts'
import type { Store } from './core/ports/store.ts'
import { type CleanUp, type CleanUps, createCleanUps } from './core/session/callbacks.ts'
import { Collapser } from './core/session/collapser.ts'
import type { Conversation, ConversationInput } from './core/session/conversation.ts'
import { type Memory, MemoryKeeper, memoryState } from './core/session/memory-keeper.ts'
import { createRestoring, guardedState, type HostState, type Restoring } from './core/session/restoring.ts'
import type { BackgroundWorker, MemoryState } from './core/session/runtime.ts'
import { type EngineSettings, memoryChoices } from './core/session/settings.ts'
import type { Entry } from './core/transcript/format/entry.ts'
import { sessionFiles } from './node/session/session-files.ts'
import { openMemory } from './node/session/session-memory.ts'

export type PartsInput = {
  readonly id: string
  readonly store: Store
  /** What was there when it was opened. */
  readonly entries: readonly Entry[]
  readonly isSubagent: boolean
  /** The workspace, as the host says; never what a transcript says. */
  readonly cwd: string
  readonly settings: EngineSettings
  readonly compaction?: CompactRungOptions | undefined
  readonly files?: FileStore | undefined
  readonly host?: HostState | undefined
  readonly guard: Guard
  /** Clean-up that belongs to all sessions of an engine. */
  readonly shared: Set<CleanUp>
}

export type SessionParts = {
  readonly watch: NonNullable<ConversationInput['watch']>
  /** To be called once, with the conversation that `watch` was given to. */
  readonly ladderFor: (conversation: Conversation) => Ladder
  readonly background: readonly BackgroundWorker[]
  readonly memoryState: () => MemoryState
  readonly cleanUps: CleanUps
  readonly files: FileStore
}

export function sessionParts(input: PartsInput): SessionParts {
  const { settings, compaction = {}, store, entries, cwd, guard } = input
  const named = settings.reductions?.toolKinds
  const { files, see } = sessionFiles({
    given: input.files && guardedFiles(input.files, guard),
    entries,
    cwd,
    named,
    permitted: (path) => restoring.permitted(path),
  })
  const restoring: Restoring = createRestoring({
    files,
    ofTurnOnly: settings.economy === 'thrifty',
    host: input.host && guardedState(input.host, guard),
    root: cwd,
    named,
    entries: store.entries,
  })
  const memory = memoryFor(input)
  const collapser = settings.mode === 'collapse' ? new Collapser() : undefined
  const cleanUps = createCleanUps(input.shared, {
    isSubagent: input.isSubagent,
    onProblem: (problem) => guard.report('clean-up', problem),
  })
  if ('store' in memory) {
    cleanUps.register({
      name: 'session memory',
      scope: 'conversation',
      clear: ({ tokens }) => memory.compacted(tokens),
    })
  }
  if (collapser) cleanUps.register({ name: 'collapse', scope: 'conversation', clear: collapser.clear })
  return {
    watch: (record, message, how) => {
      restoring.add(record, message)
      if (message) see(message, record, how)
    },
    ladderFor: (conversation) => {
      const options: CompactRungOptions = {
        restore: (request) => restoring.restore(request, conversation),
        ...compaction,
        ...(compaction.restore ? { restore: guardedRestore(compaction.restore, guard) } : {}),
      }
      return defaultLadder([compactRung(options)], {
        memory: memoryRung(memory, options),
        collapse: collapser?.mechanism,
        isNative: settings.reductions?.native !== undefined,
      })
    },
    background: [...('store' in memory ? [memory] : []), ...(collapser ? [collapser] : [])],
    memoryState: () => memoryState(memory),
    cleanUps,
    files,
  }
}

function memoryFor({ store, entries, settings, isSubagent }: PartsInput): Memory {
  if (isSubagent) return { why: 'turned-off', detail: 'Sub-agents keep no notes.' }
  if (store.path === undefined) {
    return { why: 'in-memory', detail: 'The session lies in memory only, and notes are a file beside it.' }
  }
  const choices = memoryChoices(settings)
  return new MemoryKeeper({ store: openMemory(store.path), choices, isResumed: entries.length > 0 })
}
