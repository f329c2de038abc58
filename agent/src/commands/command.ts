// What a slash command is, and what it may use. A command returns a value; hosts show it.
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
  /** What the session is called, once something was said. */
  readonly name: () => string | undefined
  /** Where the sessions of this project are. */
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
  /** The rules that hold now: of the settings, and those that the person has added since. */
  readonly rules: () => { readonly allow: readonly string[]; readonly deny: readonly string[] }
  /** What the session has cost since it began. */
  readonly spending: () => Promise<readonly Spent[]>
  /** Works in another session from now on. */
  readonly open: (choice: SessionChoice) => Promise<void>
  readonly changeModel: (
    words: string,
  ) => Promise<Awaited<ReturnType<Session['useModel']>> | Exclude<ModelChoice, ChosenModel>>
  /** Shows what tools do. */
  readonly emit: (event: LoopEvent) => void
  readonly tellReceipts: (records: readonly JsonObject[]) => void
  /** Something that the state shows has changed. */
  readonly changed: () => void
}

export type SlashCommand = {
  readonly name: string
  readonly aliases?: readonly string[]
  /** As shown in help: `[instructions]`. */
  readonly arguments?: string
  readonly help: string
  /** It changes the conversation under a running turn, so it waits for its end. */
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
