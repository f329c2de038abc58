// Hooks around tools and questions: PreToolUse may refuse a call, PostToolUse may add to its result, and Notification tells
// that the agent waits for the person.
import type { EngineSession } from 'everlong/node'
import type { Person } from './app.ts'
import type { AnyTool, ToolOutput } from './tool.ts'

export function toolsWithHooks(tools: readonly AnyTool[]): readonly AnyTool[] {
  return tools.map((tool) => ({
    ...tool,
    call: async (input, context) => {
      const { session, signal, toolUseId } = context
      const call = { tool: tool.name, input, toolUseId }
      const before = await session.runHooks({ event: 'PreToolUse', ...call }, { signal })
      if (before.veto !== undefined) return { content: `A hook refused this call: ${before.veto}`, isError: true }
      const output = await tool.call(input, context)
      const after = await session.runHooks({ event: 'PostToolUse', ...call, output: output.content }, { signal })
      return withContext(output, [...before.context, ...after.context])
    },
  }))
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

/** The same person; hooks hear of every question. */
export function personWithHooks(person: Person, session: () => EngineSession): Person {
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
