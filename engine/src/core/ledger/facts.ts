// What the ledger knows about a conversation, as plain data that JSON can carry. Times are counted in messages since the
// ledger began, because the ledger has no clock.

/** A range of lines, both ends included. */
export type Lines = readonly [from: number, to: number]

export type FileAct = 'searched' | 'read' | 'edited' | 'written' | 'created' | 'deleted'

export type FileFact = {
  readonly path: string
  readonly reads: number
  /** Edits and writes. */
  readonly changes: number
  /** The session created this file. */
  readonly created: boolean
  /** What was done last. */
  readonly act: FileAct
  readonly last: number
  /** When it was last changed; -1 for never. */
  readonly changedLast: number
  /** Last seen, newest last. */
  readonly seen: readonly Lines[]
  /** Where the last changes are, newest last. */
  readonly changed: readonly Lines[]
  /** How many lines it had when last seen whole. */
  readonly lines?: number
}

/** What a command is for. The first four verify the work. */
export type Purpose = 'test' | 'lint' | 'types' | 'build' | 'git' | 'other'

/** Unfinished: running in the background, cut off, or still running when last seen. Its outcome is unknown. */
export type CommandEnd = 'well' | 'badly' | 'unfinished'

export type CommandFact = {
  /** The complete command. */
  readonly text: string
  readonly purpose: Purpose
  readonly last: number
  /** Of the latest run, in milliseconds since 1970. */
  readonly time?: number
  /** Of the latest run, where an exit code was reported. */
  readonly exit?: number
  readonly ended: CommandEnd
  /** The most informative line of the latest output. */
  readonly outcome: string
}

export type ErrorFact = {
  /** What failed: a command, or a tool with its path. */
  readonly what: string
  readonly line: string
  readonly last: number
  /** What the agent said right after it. */
  readonly cause?: string
  /** The same thing succeeded later; these files were changed in between. */
  readonly fixedBy?: readonly string[]
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

/** Something the agent said, something it did, what it looked up, or what it read because the user pointed at it. */
export type Step = { readonly type: 'said' | 'did' | 'saw' | 'read'; readonly text: string }

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

export type TodoStatus = 'pending' | 'in-progress' | 'done'
export type Todo = { readonly id: string; readonly text: string; readonly status: TodoStatus }

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
  readonly rules: readonly Rule[]
  /** How many rules were dropped for newer ones; they are in the transcript only. */
  readonly olderRules?: number
  readonly files: readonly FileFact[]
  readonly commands: readonly CommandFact[]
  readonly errors: readonly ErrorFact[]
  readonly todos: readonly Todo[]
  readonly commits: readonly Commit[]
  readonly repository: RepositoryFact
}

export const noRepository: RepositoryFact = {
  staged: [],
  unstaged: [],
  untracked: [],
  statusLast: -1,
  touchedLast: -1,
  pushedLast: -1,
  gitLast: -1,
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
  repository: noRepository,
}
