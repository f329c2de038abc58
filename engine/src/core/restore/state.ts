// What a host knows about its session besides the conversation: the state that a compaction must not lose. Data only.

import type { Todo } from '../ledger/facts.ts'

/** Of a slash command the name begins with a slash. */
export type Skill = {
  readonly name: string
  readonly path?: string
  readonly text: string
  /** It was invoked recently, and is probably still being executed. */
  readonly isRunning?: boolean
}

export type BackgroundAgent = {
  readonly id: string
  readonly type: string
  readonly description: string
  readonly state: 'running' | 'finished-unreported'
}

export type SessionState = {
  readonly todos: readonly Todo[]
  readonly plan?: {
    readonly path?: string
    readonly text?: string
    readonly isOn: boolean
    /** How many times the user has spoken since it last changed. */
    readonly requestsSince?: number
  }
  /** Invoked in this session, latest first. */
  readonly skills: readonly Skill[]
  readonly agents: readonly BackgroundAgent[]
  /** Deferred tools as they were announced. */
  readonly deferredTools: readonly string[]
  readonly mcpInstructions: readonly {
    readonly name: string
    readonly text: string
    /** One of its tools was called in this session. */
    readonly isUsed?: boolean
  }[]
  /** Paths of rule files: AGENTS.md, CLAUDE.md and the like of touched folders. Read again from the store. */
  readonly memoryFiles: readonly string[]
  /** Whatever else the host offers: an editor's selection, open files. */
  readonly host: readonly { readonly title: string; readonly text: string; readonly budget: number }[]
  /** Pinned messages that the compaction takes out of the view. */
  readonly pinned: readonly { readonly uuid: string; readonly text: string }[]
}

export const emptyState: SessionState = {
  todos: [],
  skills: [],
  agents: [],
  deferredTools: [],
  mcpInstructions: [],
  memoryFiles: [],
  host: [],
  pinned: [],
}
