// Messages between the terminal and the agent, which runs in its own thread. Only small, plain data.
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
  /** Its subject, such as a path or a command. */
  readonly subject: string
  /** Shortened JSON. */
  readonly input: string
  /** The id of the call that runs the sub-agent that makes this one. */
  readonly parent?: string
  /** Its change as a unified diff. */
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
  /** Measured by the terminal, without the time in which it waited for the person. Only of a second or more. */
  readonly tookMs?: number
}

export type GaugeReading = Fullness & {
  /** Number of turns until the next compaction, if the context keeps growing at this rate. */
  readonly turnsLeft?: number
}

/** Events for the terminal. */
export type UiEvent =
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  /** The attempt that was streaming failed, so its text does not count. */
  | { readonly type: 'restarted' }
  | { readonly type: 'retry-over' }
  | { readonly type: 'retrying'; readonly attempt: number; readonly waitMs: number; readonly why: string }
  /** The whole text of an answer that is complete. */
  | { readonly type: 'answer'; readonly text: string }
  | { readonly type: 'call-started'; readonly call: Call }
  | { readonly type: 'call-finished'; readonly call: FinishedCall }
  /** The newest output lines of a running call, and their total number. */
  | { readonly type: 'call-output'; readonly id: string; readonly lines: readonly string[]; readonly total: number }
  /** The size of a sub-agent's conversation, and its cost so far. */
  | { readonly type: 'call-spent'; readonly id: string; readonly tokens: number; readonly cost?: number }
  | { readonly type: 'notice' | 'trouble'; readonly text: string }
  | { readonly type: 'engine'; readonly event: EngineEvent }
  | { readonly type: 'prompt'; readonly prompt: Prompt; readonly isQueued: boolean }
  /** Includes its one-line form. */
  | { readonly type: 'receipt'; readonly receipt: Receipt; readonly line: string }
  | { readonly type: 'stopped'; readonly why: StopReason }
  /** The agent is done, and what it cost if prices are known, with its sub-agents. */
  | { readonly type: 'done'; readonly tookMs: number; readonly cost?: number }
  | { readonly type: 'state'; readonly state: AgentState }
  | { readonly type: 'gauge'; readonly gauge: GaugeReading }
  /** The list of steps, if something other than a call changed it. */
  | { readonly type: 'todos'; readonly todos: readonly Todo[] }
  /** The output of the person's status line command. */
  | { readonly type: 'status-line'; readonly text: string }
  /** The agent switched to another session. */
  | { readonly type: 'session'; readonly title: string; readonly past: readonly UiEvent[] }

export type Ask =
  | { readonly type: 'permission'; readonly request: PermissionRequest }
  | { readonly type: 'questions'; readonly questions: readonly Question[] }

export type AskAnswer = PermissionAnswer | readonly (readonly string[])[] | undefined

export type CommandInfo = { readonly name: string; readonly usage?: string; readonly description: string }

/** The reason why there is no agent, and advice for the person. */
export type SetupScreen = {
  readonly title: string
  readonly steps: readonly { readonly title: string; readonly commands: readonly string[] }[]
}

/** Facts that are known when the agent is ready. */
export type Hello = {
  readonly state: AgentState
  readonly commands: readonly CommandInfo[]
  readonly gauge?: GaugeReading
  /** Shown first: earlier messages of a resumed session. */
  readonly past: readonly UiEvent[]
  readonly notices: readonly string[]
  /** Whether the bell rings when a question waits. Default: true. */
  readonly bell?: boolean
  /** Path of the log with the output of libraries. */
  readonly logFile?: string
}

export type OriginalMessage = { readonly role: string; readonly text: string; readonly isCut: boolean }

/** Functions that the terminal may call, by name. All return promises, because the agent is in another thread. */
export type Calls = {
  readonly submit: (prompt: Prompt) => void
  readonly interrupt: () => readonly Prompt[]
  readonly takeQueued: () => readonly Prompt[]
  readonly setMode: (mode: PermissionMode) => void
  readonly moveToBackground: () => number
  readonly command: (line: string) => CommandResult
  /** The messages that a compaction summarized. */
  readonly original: (receipt: string) => readonly OriginalMessage[]
  /** Files of the workspace whose path matches, best matches first. */
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
