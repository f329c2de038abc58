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

/** A command that verifies the work (test, lint, types, build), does something to it as a whole (commit, push, deploy), or still runs. */
export type CommandFact = {
  /** The complete command. */
  readonly text: string
  readonly last: number
  /** Of the latest run, in milliseconds since 1970. */
  readonly time?: number
  /** Of the latest run, where an exit code was reported. */
  readonly exit?: number
  readonly ended: CommandEnd
  /** It was started, and not seen to end. */
  readonly isRunning?: true
  /** It took too long, so the client let it run on in the background. It was meant to end. */
  readonly isLate?: true
  /** The most informative line of the latest output. */
  readonly outcome: string
  readonly actions?: readonly Action[]
  /** The action that failed; undefined where nobody can say which command of a script did. */
  readonly failed?: Action
  /** An earlier run went well. */
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
  /** What another agent asked of this one: it binds like a request, but no user said it. */
  | 'task'

/**
 * Something the agent said, its latest words, something it did, what it looked up, what it read because the user pointed at it, or the name
 * of another file that it read.
 */
export type Step = { readonly type: 'said' | 'reported' | 'did' | 'saw' | 'read' | 'opened'; readonly text: string }

/** What the user said, and what the agent reported before the user spoke again. */
export type Exchange = {
  readonly kind: WordKind
  /** The user's own words; pasted blocks are folded. */
  readonly text: string
  /** What it is about: the question answered, the call rejected, the plan approved. */
  readonly about?: string
  /** The agent's last words before the user's next message. */
  readonly report?: string
  /** What the agent said and did on the way, oldest first; only of recent exchanges, and never stored. */
  readonly steps?: readonly Step[]
  /** The last thing that the agent changed, or else ran; in place of the steps. */
  readonly done?: string
  readonly last: number
  readonly uuid?: string
  /** It contains a rule or is a statement that stays true, so it is kept longer than a request that was dealt with. */
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

/** The repository as outputs last showed it. Times are -1 for never. */
export type RepositoryFact = {
  readonly branch?: string
  readonly staged: readonly string[]
  readonly unstaged: readonly string[]
  readonly untracked: readonly string[]
  /** When the lists above were shown. */
  readonly statusLast: number
  /** When something last happened that may have changed them: an edit, or a command that is not known to only read. */
  readonly touchedLast: number
  readonly pushedLast: number
  /** When a git command that is not known to only read last went well: it may have committed, however quietly. */
  readonly gitLast: number
}

export type Ledger = {
  /** How many messages it has read: the time of the next one. */
  readonly messages: number
  readonly root?: string
  readonly exchanges: readonly Exchange[]
  /** The agent's last turn ended with a report: no call and no interruption came after its last words. */
  readonly isAnswered?: true
  readonly rules: readonly Rule[]
  /** How many rules were dropped for newer ones; they are in the transcript only. */
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
