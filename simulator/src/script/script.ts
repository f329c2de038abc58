// The interface between the simulated API and its model: a script gets a valid request and returns an answer. It is independent
// of HTTP, caches, signatures and limits, which the server handles.
import type { Block, Message } from 'everlong'

export type ToolDefinition = {
  readonly name: string
  readonly description?: string
  readonly input_schema?: unknown
}

/** A valid request after context management: what the model would see. */
export type ScriptRequest = {
  readonly model: string
  readonly maxTokens: number
  /** The system prompt as plain text. */
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly ToolDefinition[]
}

export type Answer = {
  /** Blocks in order. The server adds missing ids of tool uses and signatures of thinking blocks. */
  readonly content: readonly Block[]
  /** Default: `tool_use` if the content has a tool use, otherwise `end_turn`. */
  readonly stopReason?: string
  /** Repeats the last text block until the output limit ends it. */
  readonly endless?: boolean
}

export type ScriptContext = {
  /** Number of requests that this script has already answered. */
  readonly turn: number
  /** Numbers in [0, 1), the same for the same seed. */
  readonly random: () => number
  readonly countTokens: (text: string) => number
}

export type Script = (request: ScriptRequest, context: ScriptContext) => Answer | Promise<Answer>
