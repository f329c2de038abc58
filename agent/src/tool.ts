// Defines the tools of the query loop.

import type { JsonObject } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { z } from 'zod'
import type { LoopEvent } from './events.ts'

export type ToolOutput = {
  readonly content: string | readonly JsonObject[]
  readonly isError?: boolean
  /** Stored in the transcript, not shown to the model: exit codes, line ranges. */
  readonly details?: unknown
}

export type ToolContext = {
  /** The session that called the tool. */
  readonly session: Session
  readonly signal: AbortSignal
  readonly toolUseId: string
  /** Sends an event to the host while the tool runs. */
  readonly emit: (event: LoopEvent) => void
}

export type Tool<Input = unknown> = {
  readonly name: string
  readonly description: string
  readonly input: z.ZodType<Input>
  readonly run: (input: Input, context: ToolContext) => Promise<ToolOutput | string> | ToolOutput | string
  /** May run at the same time as other parallel tools. */
  readonly isParallel?: boolean
  /** Old results may be cleared, because the call can be repeated. */
  readonly isReproducible?: boolean
  /** Returns its partial output soon after an abort. Other tools are not waited for. */
  readonly endsOnAbort?: boolean
}

/** A tool with its input type erased, for lists of tools. */
export type AnyTool = Omit<Tool, 'input' | 'run'> & {
  readonly definition: JsonObject
  /** An invalid input gives an error result that says why. */
  readonly call: (input: unknown, context: ToolContext) => Promise<ToolOutput>
}

export function defineTool<Input>(tool: Tool<Input>): AnyTool {
  const { name, description, input, run, isParallel, isReproducible, endsOnAbort } = tool
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' }) as JsonObject
  return {
    name,
    description,
    ...(isParallel === undefined ? {} : { isParallel }),
    ...(isReproducible === undefined ? {} : { isReproducible }),
    ...(endsOnAbort === undefined ? {} : { endsOnAbort }),
    definition: { name, description, input_schema: schema },
    call: async (given, context) => {
      const read = input.safeParse(given)
      if (!read.success) return { content: invalid(read.error, schema), isError: true }
      const output = await run(read.data, context)
      return typeof output === 'string' ? { content: output } : output
    },
  }
}

/** An unknown key is answered with the list of known ones. */
function invalid(error: z.ZodError, { properties }: JsonObject): string {
  const problem = `Invalid input: ${z.prettifyError(error)}`
  const isUnknownKey = error.issues.some(({ code, path }) => code === 'unrecognized_keys' && path.length === 0)
  return isUnknownKey ? `${problem}\nThe keys are: ${Object.keys(properties ?? {}).join(', ')}.` : problem
}

export function definitionsOf(tools: readonly AnyTool[]): readonly JsonObject[] {
  return tools.map(({ definition }) => definition)
}

/** Adds these tools to all further requests and to the size. */
export function offerTools(session: Session, tools: readonly AnyTool[]): void {
  if (tools.length > 0) session.configure({ tools: definitionsOf(tools), reproducible: reproducibleIn(tools) })
}

function reproducibleIn(tools: readonly AnyTool[]): readonly string[] {
  return tools.flatMap(({ name, isReproducible }) => (isReproducible ? [name] : []))
}
