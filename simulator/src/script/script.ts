// The seam between the simulated API and the model behind it: a script gets a valid request and returns an answer.
// It knows nothing of HTTP, caches, signatures or limits; the server sees to those.
import type { Block, Message } from 'everlong'

export type ToolDefinition = {
  readonly name: string
  readonly description?: string
  readonly input_schema?: unknown
}

/** A request that passed validation, after context management was applied: what the model would see. */
export type ScriptRequest = {
  readonly model: string
  readonly maxTokens: number
  /** The system prompt as plain text. */
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDefinition[]
}

export type Answer = {
  /** Blocks in order. The server gives tool uses an id and thinking blocks a signature where they have none. */
  readonly content: readonly Block[]
  /** Left out: `tool_use` when the content has a tool use, else `end_turn`. */
  readonly stopReason?: string
  /** Repeat the last text block until the output limit ends it. */
  readonly endless?: boolean
}

export type ScriptContext = {
  /** How many requests this script has answered before this one. */
  readonly turn: number
  /** Numbers in [0, 1), the same for the same seed. */
  readonly random: () => number
  readonly countTokens: (text: string) => number
}

export type Script = (request: ScriptRequest, context: ScriptContext) => Answer | Promise<Answer>
