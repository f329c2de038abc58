// What the ledger knows about a conversation, as plain data that JSON can carry. Times are counted in messages since the
// ledger began, because the ledger has no clock.
import type { Action } from '../tools/actions.ts'
import type { Todo } from '../tools/call.ts'
import type { CommandEnd } from '../tools/commands.ts'

export type { Todo } from '../tools/call.ts'
export type { CommandEnd } from '../tools/commands.ts'

/** A file that the session changed. */
export type FileFact = {
  readonly path: string
  /** When it was last changed. */
  readonly last: number
}

/**
 * A command that verifies the work (test, lint, types, build), acts on all of it (commit, push, deploy), or is still running.
 */
export type CommandFact = {
  /** The complete command. */
  readonly text: string
  readonly last: number
  /** Time of the latest run, in milliseconds since 1970. */
  readonly time?: number
  /** Exit code of the latest run, if one was reported. */
  readonly exit?: number
  readonly ended: CommandEnd
  /** It was started, and no output showed its end. */
  readonly isRunning?: true
  /** It exceeded its time limit, so the client moved it to the background. Unlike a server, it was expected to end. */
  readonly isLate?: true
  /** The most informative line of the latest output. */
  readonly outcome: string
  readonly actions?: readonly Action[]
  /** The action that failed. Undefined if it is unclear which command of a script failed. */
  readonly failed?: Action
  /** An earlier run succeeded. */
  readonly hasSucceeded?: true
}

export type ErrorFact = {
  /** What failed: a command, or a tool with its path. */
  readonly what: string
  readonly line: string
  readonly last: number
  /** What the agent said right after it. */
  readonly cause?: string
  /** The same thing succeeded later. */
  readonly isFixed: boolean
}

export type WordKind =
  | 'message'
  /** Typed while the agent was working. */
  | 'queued'
  /** A comment made while rejecting a tool call; without text, the bare rejection. */
  | 'rejection'
  /** The answer to a question that the agent asked through a tool. */
  | 'answer'
  /** A plan that the user approved. */
  | 'approval'
  /** A request from another agent. It binds like one from the user, but no user said it. */
  | 'task'

/**
 * One step of the agent. `said`: words on the way. `reported`: its latest words. `did`: an action. `saw`: the result of a
 * search. `read`: a text that the user pointed at. `opened`: the name of another file that it read.
 */
export type Step = { readonly type: 'said' | 'reported' | 'did' | 'saw' | 'read' | 'opened'; readonly text: string }

/** A message of the user, and the agent's report before the user's next message. */
export type Exchange = {
  readonly kind: WordKind
  /** The user's own words; pasted blocks are folded. */
  readonly text: string
  /** The subject: the answered question, the rejected call, the approved plan. */
  readonly about?: string
  /** The agent's last words before the user's next message. */
  readonly report?: string
  /** The agent's steps, oldest first. Only recent exchanges have them, and they are never stored. */
  readonly steps?: readonly Step[]
  /** The agent's last action, which replaces the steps: a change, otherwise a command, otherwise a file it read. */
  readonly done?: string
  readonly last: number
  readonly uuid?: string
  /** It contains a rule or a statement that stays true, so it is kept longer than a finished request. */
  readonly lasts?: true
}

/** A standing rule, verbatim, with the entry it comes from. */
export type Rule = {
  readonly text: string
  readonly by: 'human' | 'agent'
  readonly last: number
  readonly uuid?: string
}

export type Commit = { readonly hash: string; readonly title: string; readonly last: number }

/** The repository as outputs last showed it. A time of -1 means never. */
export type RepositoryFact = {
  readonly branch?: string
  readonly staged: readonly string[]
  readonly unstaged: readonly string[]
  readonly untracked: readonly string[]
  /** When the lists above were shown. */
  readonly statusLast: number
  /** When the lists may last have changed: at an edit, or at a command that may write. */
  readonly touchedLast: number
  readonly pushedLast: number
  /** When a git command that may write last succeeded. It may have committed without saying so. */
  readonly gitLast: number
}

export type Ledger = {
  /** Number of messages read so far. It is also the time of the next one. */
  readonly messages: number
  readonly root?: string
  readonly exchanges: readonly Exchange[]
  /** The agent's last turn ended with a report: no call and no interruption came after its last words. */
  readonly isAnswered?: true
  readonly rules: readonly Rule[]
  /** Number of rules that were dropped in favor of newer ones. They remain in the transcript. */
  readonly olderRules?: number
  readonly files: readonly FileFact[]
  readonly commands: readonly CommandFact[]
  readonly errors: readonly ErrorFact[]
  readonly todos: readonly Todo[]
  /** When the list last changed. */
  readonly todosLast?: number
  readonly commits: readonly Commit[]
  readonly repository: RepositoryFact
}

export const emptyLedger: Ledger = {
  messages: 0,
  exchanges: [],
  rules: [],
  files: [],
  commands: [],
  errors: [],
  todos: [],
  commits: [],
  repository: {
    staged: [],
    unstaged: [],
    untracked: [],
    statusLast: -1,
    touchedLast: -1,
    pushedLast: -1,
    gitLast: -1,
  },
}
