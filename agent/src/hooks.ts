// Hooks around tools and questions: PreToolUse may refuse a call or change it, PostToolUse may add to its result, and
// Notification reports that the agent waits for the person.

import { objectAt, stringAt } from 'everlong/internal'
import type { Session } from 'everlong/node'
import type { Person } from './app.ts'
import type { AnyTool, ToolOutput } from './tool.ts'

export function toolsWithHooks(tools: readonly AnyTool[]): readonly AnyTool[] {
  return tools.map((tool) => ({
    ...tool,
    call: async (given, context) => {
      const { session, signal, toolUseId } = context
      const { name, input, wrapped } = namedCall(tool.name, given)
      const before = await session.runHooks({ event: 'PreToolUse', tool: name, input, toolUseId }, { signal })
      if (before.veto !== undefined) return { content: `A hook refused this call: ${before.veto}`, isError: true }
      const ran = before.input ?? input
      const output = await tool.call(wrapped(ran), context)
      const call = { tool: name, input: ran, toolUseId, output: output.content }
      const after = await session.runHooks({ event: 'PostToolUse', ...call }, { signal })
      return withContext(output, [...before.context, ...after.context])
    },
  }))
}

/** Hooks see a server's tool under its own name and input. */
function namedCall(tool: string, given: unknown) {
  const name = tool === 'McpCall' ? stringAt(given, 'tool') : undefined
  if (name === undefined) return { name: tool, input: given, wrapped: (input: unknown) => input }
  return {
    name,
    input: objectAt(given, 'arguments') ?? {},
    wrapped: (input: unknown) => ({ tool: name, arguments: input }),
  }
}

function withContext(output: ToolOutput, context: readonly string[]): ToolOutput {
  if (context.length === 0) return output
  const added = context.map((text) => `[From a hook] ${text}`).join('\n')
  const { content } = output
  return {
    ...output,
    content: typeof content === 'string' ? `${content}\n${added}` : [...content, { type: 'text', text: added }],
  }
}

/** The same person. Hooks are informed of every question. */
export function personWithHooks(person: Person, session: () => Session): Person {
  const notify = (message: string, signal: AbortSignal) =>
    session().runHooks({ event: 'Notification', details: { message } }, { signal })
  return {
    askPermission: async (request, signal) => {
      const { tool, title, reason = '' } = request
      const details = { tool_name: tool, title, reason }
      await session().runHooks({ event: 'PermissionRequest', details }, { signal })
      await notify(`Everlong needs your permission: ${title}`, signal)
      return person.askPermission(request, signal)
    },
    askQuestions: async (questions, signal) => {
      await notify('Everlong has a question', signal)
      return person.askQuestions(questions, signal)
    },
  }
}
