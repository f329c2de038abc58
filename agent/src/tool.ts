// A tool as the loop knows it: a schema, what it does, and two words about it. Nothing here runs one.
import type { EngineSession } from 'everlong/node'
import type { JsonObject } from 'everlong/transcript'
import { z } from 'zod'
import type { LoopEvent } from './events.ts'

export type ToolOutput = {
  readonly content: string | readonly JsonObject[]
  readonly isError?: boolean
  /** What the tool knows besides what the model sees: exit codes, line ranges. Goes into the transcript. */
  readonly details?: unknown
}

export type ToolContext = {
  /** The conversation that called it. */
  readonly session: EngineSession
  readonly signal: AbortSignal
  readonly toolUseId: string
  /** Tells the host something while the tool is at work. */
  readonly tell: (event: LoopEvent) => void
}

export type Tool<Input = unknown> = {
  readonly name: string
  readonly description: string
  readonly input: z.ZodType<Input>
  readonly run: (input: Input, context: ToolContext) => Promise<ToolOutput | string> | ToolOutput | string
  /** It only reads: it may run beside others that only read. */
  readonly isReadOnly?: boolean
  /** Its result can be had again, so an old one may be cleared. */
  readonly isReproducible?: boolean
}

/** A tool of any input, as lists of tools hold it. */
export type AnyTool = Omit<Tool, 'input' | 'run'> & {
  readonly definition: JsonObject
  /** An input that is not what the tool takes is an error result that says why. */
  readonly call: (input: unknown, context: ToolContext) => Promise<ToolOutput>
}

export function defineTool<Input>(tool: Tool<Input>): AnyTool {
  const { name, description, input, run, isReadOnly, isReproducible } = tool
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' }) as JsonObject
  return {
    name,
    description,
    ...(isReadOnly === undefined ? {} : { isReadOnly }),
    ...(isReproducible === undefined ? {} : { isReproducible }),
    definition: { name, description, input_schema: schema },
    call: async (given, context) => {
      const read = input.safeParse(given)
      if (!read.success) return { content: `The input is not right: ${z.prettifyError(read.error)}`, isError: true }
      const output = await run(read.data, context)
      return typeof output === 'string' ? { content: output } : output
    },
  }
}

/** What goes with every request. */
export function definitionsOf(tools: readonly AnyTool[]): readonly JsonObject[] {
  return tools.map(({ definition }) => definition)
}

/** The names of those whose results can be had again. */
export function reproducibleIn(tools: readonly AnyTool[]): readonly string[] {
  return tools.flatMap(({ name, isReproducible }) => (isReproducible ? [name] : []))
}
