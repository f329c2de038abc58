// The type of a slash command, and what it may use. A command returns a value; hosts show it.
import type { Environment } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import type { Session } from 'everlong/node'
import type { CommandResult, PermissionMode } from '../app.ts'
import type { Checkpoints } from '../checkpoints/checkpoints.ts'
import type { LoopEvent } from '../events.ts'
import type { ModelChoice } from '../models/choose.ts'
import type { ChosenModel } from '../models/chosen.ts'
import type { OwnCommand } from '../own/own-commands.ts'
import { oneLine } from '../render/safe.ts'
import { cut } from '../render/width.ts'
import type { SandboxStatus } from '../sandbox/modes.ts'
import type { SessionChoice } from '../session-host.ts'
import type { Spent } from '../sessions/spending.ts'
import type { Settings } from '../settings/settings.ts'
import type { AnyTool } from '../tool.ts'
import type { ToolSet } from '../tool-set.ts'

export type CommandContext = {
  readonly signal: AbortSignal
  readonly session: () => Session
  readonly settings: Settings
  readonly folder: string
  readonly home: string
  /** The label of the session. Undefined until something was said. */
  readonly name: () => string | undefined
  /** The folder of this project's sessions. */
  readonly sessions: string
  readonly env: Environment
  readonly tools: readonly AnyTool[]
  readonly toolSet: ToolSet
  readonly checkpoints?: Checkpoints
  readonly ownCommands: () => readonly OwnCommand[]
  readonly mode: () => PermissionMode
  readonly setMode: (mode: PermissionMode) => void
  readonly model: () => ChosenModel
  readonly sandbox: () => SandboxStatus
  /** The current rules: from the settings, and those that the person has added. */
  readonly rules: () => { readonly allow: readonly string[]; readonly deny: readonly string[] }
  /** Cost of the session since it began. */
  readonly spending: () => Promise<readonly Spent[]>
  /** Switches to another session. */
  readonly open: (choice: SessionChoice) => Promise<void>
  readonly changeModel: (
    words: string,
  ) => Promise<Awaited<ReturnType<Session['useModel']>> | Exclude<ModelChoice, ChosenModel>>
  /** Shows the progress of tools. */
  readonly emit: (event: LoopEvent) => void
  readonly tellReceipts: (records: readonly JsonObject[]) => void
  /** Call it after a change that the state shows. */
  readonly changed: () => void
}

export type SlashCommand = {
  readonly name: string
  readonly aliases?: readonly string[]
  /** In the format of the help: `[instructions]`. */
  readonly arguments?: string
  readonly help: string
  /** It changes the conversation, so it waits for the end of a running turn. */
  readonly needsQuiet?: boolean
  readonly run: (words: string, context: CommandContext) => Promise<CommandResult> | CommandResult
}

export function text(...lines: readonly string[]): CommandResult {
  return { type: 'text', text: lines.join('\n') }
}

export function error(message: string): CommandResult {
  return { type: 'error', text: message }
}

/** One line of at most `most` columns, without control characters. */
export function clipped(words: string, most = 70): string {
  return cut(oneLine(words), most)
}
