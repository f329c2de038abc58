// What goes between the terminal and the agent, which runs in a thread of its own: small, plain data only.
import type { EngineEvent } from 'everlong'
import type {
  AgentState,
  CommandResult,
  PermissionAnswer,
  PermissionMode,
  PermissionRequest,
  Prompt,
  Question,
} from '../../app.ts'
import type { StopReason } from '../../events.ts'
import type { Receipt } from '../../receipt.ts'
import type { Fullness } from '../../render/gauge.ts'
import type { Todo } from '../../render/todos.ts'

/** A tool call as it is shown. */
export type Call = {
  readonly id: string
  readonly name: string
  /** What it is about, such as a path or a command. */
  readonly subject: string
  /** As JSON, shortened. */
  readonly input: string
  /** The id of the call that runs the sub-agent that makes this one. */
  readonly parent?: string
  /** What it changes, as a unified diff. */
  readonly diff?: string
  /** The list of steps that it writes. */
  readonly todos?: readonly Todo[]
  /** A plan that it shows to the person, in Markdown. */
  readonly plan?: string
}

export type FinishedCall = Call & {
  /** One line: `12 lines`, `3 passed`, or the first line of an error. */
  readonly outcome: string
  /** Shortened. */
  readonly output: string
  readonly isError: boolean
}

export type GaugeReading = Fullness & {
  /** How many turns until the next compaction, if the context grows as it did. */
  readonly turnsLeft?: number
}

/** What the terminal hears. */
export type UiEvent =
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  /** The attempt that was streaming failed: what it has said so far does not count. */
  | { readonly type: 'restarted' }
  | { readonly type: 'retry-over' }
  | { readonly type: 'retrying'; readonly attempt: number; readonly waitMs: number; readonly why: string }
  /** The whole text of an answer that is complete. */
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'call-started'; readonly call: Call }
  | { readonly type: 'call-finished'; readonly call: FinishedCall }
  /** The newest lines of a running call, and how many there are. */
  | { readonly type: 'call-output'; readonly id: string; readonly lines: readonly string[]; readonly total: number }
  /** The size of a sub-agent's conversation, and what it has cost so far. */
  | { readonly type: 'call-spent'; readonly id: string; readonly tokens: number; readonly cost?: number }
  | { readonly type: 'notice' | 'trouble'; readonly text: string }
  | { readonly type: 'engine'; readonly event: EngineEvent }
  | { readonly type: 'prompt'; readonly prompt: Prompt; readonly isQueued: boolean }
  /** With its one line. */
  | { readonly type: 'receipt'; readonly receipt: Receipt; readonly line: string }
  | { readonly type: 'stopped'; readonly why: StopReason }
  | { readonly type: 'state'; readonly state: AgentState }
  | { readonly type: 'gauge'; readonly gauge: GaugeReading }
  /** The list of steps, when it changed otherwise than by a call. */
  | { readonly type: 'todos'; readonly todos: readonly Todo[] }
  /** What the person's own command printed. */
  | { readonly type: 'status-line'; readonly text: string }
  /** Works in another session from now on. */
  | { readonly type: 'session'; readonly title: string; readonly past: readonly UiEvent[] }

export type Ask =
  | { readonly type: 'permission'; readonly request: PermissionRequest }
  | { readonly type: 'questions'; readonly questions: readonly Question[] }

export type AskAnswer = PermissionAnswer | readonly (readonly string[])[] | undefined

export type CommandInfo = { readonly name: string; readonly usage?: string; readonly description: string }

/** Why there is no agent, and what the person can do about it. */
export type SetupScreen = {
  readonly title: string
  readonly steps: readonly { readonly title: string; readonly commands: readonly string[] }[]
}

/** What is known when the agent is there. */
export type Hello = {
  readonly state: AgentState
  readonly commands: readonly CommandInfo[]
  readonly gauge?: GaugeReading
  /** Shown first: what came before in a resumed session. */
  readonly past: readonly UiEvent[]
  readonly notices: readonly string[]
  /** Whether the bell rings when a question waits. Default: true. */
  readonly bell?: boolean
  /** Where output of libraries is logged. */
  readonly logFile?: string
}

export type OriginalMessage = { readonly role: string; readonly text: string; readonly isCut: boolean }

/** What the terminal may call, by name. Everything is a promise: the agent is in another thread. */
export type Calls = {
  readonly submit: (prompt: Prompt) => void
  readonly interrupt: () => readonly Prompt[]
  readonly takeQueued: () => readonly Prompt[]
  readonly setMode: (mode: PermissionMode) => void
  readonly moveToBackground: () => number
  readonly command: (line: string) => CommandResult
  /** The messages that a compaction summarized. */
  readonly original: (receipt: string) => readonly OriginalMessage[]
  /** Files of the workspace whose path matches, the best matches first. */
  readonly files: (typed: string) => readonly string[]
  readonly close: () => void
}

export type ToHost =
  | { readonly type: 'call'; readonly id: number; readonly name: keyof Calls; readonly args: readonly unknown[] }
  | { readonly type: 'abort'; readonly id: number }
  | { readonly type: 'answer'; readonly id: number; readonly answer: AskAnswer }

export type FromHost =
  | { readonly type: 'hello'; readonly hello: Hello }
  | { readonly type: 'no-agent'; readonly why: string; readonly setup?: SetupScreen }
  | { readonly type: 'event'; readonly event: UiEvent }
  | { readonly type: 'result'; readonly id: number; readonly value?: unknown; readonly error?: string }
  | { readonly type: 'ask'; readonly id: number; readonly ask: Ask }
  | { readonly type: 'withdrawn'; readonly id: number }
