// Runs the tool calls of one answer: adjacent parallel ones at the same time, all others one after another. Every call gets a
// result, even for an unknown tool, an invalid input, an exception or an abort.

import type { Block } from 'everlong'
import { stringAt, type ToolUseBlock } from 'everlong/internal'
import type { Session } from 'everlong/node'
import type { LoopEvent } from './events.ts'
import { reasonOf } from './reason-of.ts'
import type { AnyTool, ToolOutput } from './tool.ts'

export type RunInput = {
  readonly session: Session
  readonly tools: readonly AnyTool[]
  readonly calls: readonly ToolUseBlock[]
  readonly signal: AbortSignal
  readonly emit: (event: LoopEvent) => void
}

export type ToolRun = { readonly block: Block; readonly details?: unknown }

export const interrupted = 'Interrupted before it finished.'
/** Time for a tool that ends by itself after an abort. */
const maxEndingMs = 5_000

/** Results in the order of the calls. */
export async function runTools(input: RunInput): Promise<readonly ToolRun[]> {
  const results: ToolRun[] = []
  for (const group of groupsOf(input)) {
    results.push(...(await Promise.all(group.map((call) => runOne(input, call)))))
  }
  return results
}

function groupsOf({ calls, tools }: RunInput): readonly (readonly ToolUseBlock[])[] {
  const groups: ToolUseBlock[][] = []
  const isParallel = ({ name }: ToolUseBlock) => tools.find((tool) => tool.name === name)?.isParallel === true
  for (const call of calls) {
    const last = groups.at(-1)
    if (last?.every(isParallel) && isParallel(call)) last.push(call)
    else groups.push([call])
  }
  return groups
}

async function runOne(input: RunInput, call: ToolUseBlock): Promise<ToolRun> {
  const { emit } = input
  emit({ type: 'tool-started', toolUseId: call.id, name: call.name, input: call.input })
  const output = await outputOf(input, call)
  const { content, isError = false, details } = output
  const diff = stringAt(details, 'diff')
  const change = diff === undefined ? {} : { diff }
  emit({ type: 'tool-finished', toolUseId: call.id, name: call.name, content, isError, ...change })
  const block = { type: 'tool_result', tool_use_id: call.id, content, ...(isError ? { is_error: true } : {}) }
  return { block, ...(details === undefined ? {} : { details }) }
}

async function outputOf(input: RunInput, call: ToolUseBlock): Promise<ToolOutput> {
  const { session, tools, signal, emit } = input
  const tool = tools.find(({ name }) => name === call.name)
  if (!tool) return failed(`Unknown tool ${call.name}. Available tools: ${tools.map(({ name }) => name).join(', ')}.`)
  if (signal.aborted) return failed(interrupted)
  const { promise: aborted, resolve } = Promise.withResolvers<ToolOutput>()
  let timer: NodeJS.Timeout | undefined
  const giveUp = () => resolve(failed(interrupted))
  const stop = () => {
    if (tool.endsOnAbort) timer = setTimeout(giveUp, maxEndingMs)
    else giveUp()
  }
  signal.addEventListener('abort', stop)
  try {
    const run = tool.call(call.input, { session, signal, toolUseId: call.id, emit })
    return await Promise.race([run, aborted])
  } catch (error) {
    // The model sees the error and may try something else.
    return failed(signal.aborted ? interrupted : reasonOf(error))
  } finally {
    // The signal lives as long as the session and must not collect listeners.
    signal.removeEventListener('abort', stop)
    clearTimeout(timer)
  }
}

function failed(content: string): ToolOutput {
  return { content, isError: true }
}
