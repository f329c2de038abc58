// The agent as the terminal, headless mode and other hosts see it: its calls, its events, and its questions.
import type { Session } from 'everlong/node'
import type { LoopEvent } from './events.ts'
import type { OwnCommand } from './own/own-commands.ts'
import type { Receipt } from './receipt.ts'

/**
 * ask: asks before every change. accept-edits: does not ask before edits in the workspace. plan: changes nothing. allow: never
 * asks.
 */
export type PermissionMode = 'ask' | 'accept-edits' | 'plan' | 'allow'

export type PermissionRequest = {
  readonly toolUseId: string
  readonly tool: string
  /** One line, such as `Edit src/main.ts` or `Run npm test`. */
  readonly title: string
  /** The whole command, the change as a unified diff, or a plan. */
  readonly detail?: { readonly type: 'diff' | 'text' | 'markdown'; readonly text: string }
  /** The reason for the question, if it is not obvious: `outside the workspace`. */
  readonly reason?: string
  /** The rules that "always allow" would add, such as `Bash(npm test:*)`. Without them there is no such answer. */
  readonly rules?: readonly string[]
  /** Where the rules can be stored besides the session. */
  readonly places?: readonly KeptPlace[]
  /** Whether all edits in the workspace can be accepted from now on. */
  readonly offersEdits?: boolean
  /** Labels for yes and no, if yes does not mean "once". A no then asks for no reason. */
  readonly answers?: { readonly yes: string; readonly no: string }
}

/** In this project, or in all projects of this person. */
export type KeptPlace = 'project' | 'user'

export type PermissionAnswer =
  | { readonly type: 'allow' }
  /** Allows this call and everything that the request's rules cover, until the session ends or permanently. */
  | { readonly type: 'always'; readonly place?: KeptPlace }
  /** Allows this, and turns the mode `accept-edits` on. */
  | { readonly type: 'accept-edits' }
  | Denial

export type Denial = {
  readonly type: 'deny'
  readonly reason?: string
  /** There is no person to ask. */
  readonly isUnattended?: boolean
}

export type Question = {
  readonly question: string
  readonly options: readonly { readonly label: string; readonly description?: string }[]
  readonly isMultiple: boolean
}

/** What the agent asks a person. Headless hosts deny and decline. */
export type Person = {
  readonly askPermission: (request: PermissionRequest, signal: AbortSignal) => Promise<PermissionAnswer>
  /** The chosen labels or typed answers, one list for each question; undefined when the person does not answer. */
  readonly askQuestions: (
    questions: readonly Question[],
    signal: AbortSignal,
  ) => Promise<readonly (readonly string[])[] | undefined>
}

export type Prompt = {
  readonly text: string
  readonly images?: readonly { readonly mediaType: string; readonly base64: string }[]
  /** The slash command that became this prompt, as it was typed. */
  readonly command?: string
  /** The part of the text in which `@path` attaches a file: not what a program printed. Default: all of it. */
  readonly mentions?: string
}

export type AgentEvent =
  | LoopEvent
  /**
   * A prompt was accepted. A queued one waits for the next request of the running turn, and is emitted again with
   * `isQueued: false` when it joins the conversation.
   */
  | { readonly type: 'prompt'; readonly prompt: Prompt; readonly isQueued: boolean }
  /** The provider is overloaded or unreachable. The request of a turn, a sub-agent or a compaction is repeated after the wait. */
  | { readonly type: 'retrying'; readonly attempt: number; readonly waitMs: number; readonly why: string }
  /** The provider answers again, or the request was given up. */
  | { readonly type: 'retry-over' }
  /** A compaction is done, automatic or by hand. */
  | { readonly type: 'receipt'; readonly receipt: Receipt }
  /** The mode, the model, the queue, the todos, the background tasks or the session changed. */
  | { readonly type: 'state'; readonly state: AgentState }

export type AgentState = {
  /** True while a turn runs. */
  readonly isBusy: boolean
  /** Another after `/clear`, `/resume` and `/fork`. */
  readonly sessionId: string
  /** The name that the person gave. */
  readonly title?: string
  /** The label of the session: its title, or its first words. Undefined before anything was said. */
  readonly name?: string
  readonly mode: PermissionMode
  readonly model: string
  readonly queued: readonly Prompt[]
  readonly tasks: readonly { readonly id: string; readonly title: string; readonly isRunning: boolean }[]
}

export type Agent = {
  /** Another object after `/clear` and `/resume`. */
  readonly session: () => Session
  readonly state: () => AgentState
  readonly on: (listener: (event: AgentEvent) => void) => () => void
  /** Runs the prompt, or queues it while a turn runs. Resolves when no turn runs and the queue is empty. */
  readonly submit: (prompt: Prompt) => Promise<void>
  /** Stops the running turn, its tool calls and compaction. Returns the queued prompts. */
  readonly interrupt: () => readonly Prompt[]
  /** Returns the queued prompts for editing. The turn continues. */
  readonly takeQueued: () => readonly Prompt[]
  readonly setMode: (mode: PermissionMode) => void
  /** Moves running commands and sub-agents to the background. Returns their number. */
  readonly moveToBackground: () => number
  /** Slash commands of the person and the project, and skills. */
  readonly ownCommands: () => readonly OwnCommand[]
  /**
   * Runs a slash command, such as `/compact keep the schema`, or a shell command after a `!`, whose output joins the
   * conversation. Progress and output are events of a tool called `!`.
   */
  readonly command: (line: string, signal?: AbortSignal) => Promise<CommandResult>
  /** Saves, stops background tasks and servers, and releases the session. */
  readonly close: () => Promise<void>
}

export type CommandResult =
  | { readonly type: 'text'; readonly text: string }
  /** The host shows these and runs the chosen command. */
  | { readonly type: 'choose'; readonly title: string; readonly choices: readonly Choice[] }
  /** The command expands to a prompt, which the host submits. */
  | { readonly type: 'submit'; readonly prompt: Prompt }
  /** With a text for the input, to be edited and sent again. */
  | { readonly type: 'edit'; readonly text: string; readonly input: string }
  | { readonly type: 'quit' }
  | { readonly type: 'error'; readonly text: string }

export type Choice = { readonly label: string; readonly detail?: string; readonly command: string }
