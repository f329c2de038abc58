// The facts a ledger holds, as plain data that JSON can carry. Times are counted in messages since the ledger began:
// the ledger knows no clock. Nothing here is read by a model; rendering is render.ts.

/** A stretch of lines, both ends included. */
export type Lines = readonly [from: number, to: number]

export type FileAct = 'searched' | 'read' | 'edited' | 'written' | 'created' | 'deleted'

export type FileFact = {
  readonly path: string
  readonly reads: number
  /** Edits and writes. */
  readonly changes: number
  /** The session made this file. */
  readonly created: boolean
  /** What was done last. */
  readonly act: FileAct
  readonly last: number
  /** When it was last changed; -1 for never. */
  readonly changedLast: number
  /** Last seen, newest last. */
  readonly seen: readonly Lines[]
  /** Where the last changes lie, newest last. */
  readonly changed: readonly Lines[]
  /** How many lines it had when last seen whole. */
  readonly lines?: number
}

/** What a command is for. The first four verify the work. */
export type Purpose = 'test' | 'lint' | 'types' | 'build' | 'git' | 'other'

/** Unfinished: put in the background, cut off, or still running when last seen. Nothing is known of its outcome. */
export type CommandEnd = 'well' | 'badly' | 'unfinished'

export type CommandFact = {
  readonly text: string
  readonly purpose: Purpose
  readonly runs: number
  readonly last: number
  /** Of the latest run, where an exit code was reported. */
  readonly exit?: number
  readonly ended: CommandEnd
  /** The line of the latest output that says most. */
  readonly outcome: string
  /** Names of failed tests in the latest output. */
  readonly failures: readonly string[]
}

export type ErrorFact = {
  /** What failed: a command, or a tool with its path. */
  readonly what: string
  readonly line: string
  readonly times: number
  readonly last: number
  /** Files changed between the error and the success of the same thing; undefined while it has not succeeded since. */
  readonly fix?: readonly string[]
}

export type UrlFact = {
  readonly url: string
  readonly times: number
  readonly last: number
  /** Named by the human or the assistant; seen in the output of a tool. */
  readonly how: 'fetched' | 'failed' | 'named' | 'seen'
}

export type Speaker = 'human' | 'assistant'

/** A sentence word for word, with the entry it stands in. */
export type Saying = {
  readonly text: string
  readonly by: Speaker
  readonly last: number
  readonly uuid?: string
}

/** A message that a person typed, word for word, so that it outlives the compactions after the next. */
export type Typed = {
  readonly text: string
  readonly last: number
  readonly uuid?: string
  /** Too long to be carried: the middle is not there. */
  readonly isCut?: boolean
  /** It holds a rule or a decision, or says where something is: it stays longer than what only asks for the next thing. */
  readonly tells?: true
}

export type TodoStatus = 'pending' | 'in-progress' | 'done'
export type Todo = { readonly id: string; readonly text: string; readonly status: TodoStatus }

export type Commit = { readonly hash: string; readonly title: string; readonly last: number }

/** How a branch stands to the one it follows: commits not pushed, not pulled. */
export type Tracking = {
  readonly branch?: string
  readonly upstream?: string
  readonly ahead?: number
  readonly behind?: number
}

/** The repository as outputs last showed it. */
export type RepositoryFact = {
  readonly branch?: string
  readonly tracking?: Tracking
  readonly staged: readonly string[]
  readonly unstaged: readonly string[]
  readonly untracked: readonly string[]
  /** When the lists above were seen; -1 for never. */
  readonly statusLast: number
  /** When a file was last changed or committed, which makes the lists old. */
  readonly touchedLast: number
  /** When commits were last pushed: those made before are not here alone. */
  readonly pushedLast: number
}

/** Where a name belongs: under which heading a reader would look for it. */
export type Home =
  | { readonly type: 'file'; readonly name: string }
  | { readonly type: 'command'; readonly name: string }
  | { readonly type: 'talk'; readonly name: Speaker | 'summary' | 'context' | 'agent' }

/** A word that cannot be guessed: an identifier, a path, a hash, a number, a version, a reference. */
export type NameFact = {
  readonly name: string
  /** How many texts it stood in. */
  readonly times: number
  /** How many of these the assistant wrote itself. */
  readonly written: number
  readonly last: number
  /** When the assistant wrote it last; -1 for never. */
  readonly writtenLast: number
  readonly asked: boolean
  readonly inError: boolean
  readonly home: Home
  /** How good the home is; of two homes the better, then the later one stays. */
  readonly homeRank: number
}

export type Ledger = {
  /** How many messages it has seen: the time of the next one. */
  readonly messages: number
  readonly root?: string
  readonly files: readonly FileFact[]
  readonly commands: readonly CommandFact[]
  readonly errors: readonly ErrorFact[]
  readonly urls: readonly UrlFact[]
  readonly typed: readonly Typed[]
  readonly constraints: readonly Saying[]
  /** How many rules gave way to newer ones: they stand in the transcript only. */
  readonly olderConstraints?: number
  readonly decisions: readonly Saying[]
  readonly todos: readonly Todo[]
  readonly commits: readonly Commit[]
  readonly repository: RepositoryFact
  readonly names: readonly NameFact[]
}

export const noRepository: RepositoryFact = {
  staged: [],
  unstaged: [],
  untracked: [],
  statusLast: -1,
  touchedLast: -1,
  pushedLast: -1,
}

export const emptyLedger: Ledger = {
  messages: 0,
  files: [],
  commands: [],
  errors: [],
  urls: [],
  typed: [],
  constraints: [],
  decisions: [],
  todos: [],
  commits: [],
  repository: noRepository,
  names: [],
}
