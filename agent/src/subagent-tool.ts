// A tool that starts a sub-agent: a separate conversation with its own window and state. Its last answer is the result.
import { textOf } from 'everlong/transcript'
import { z } from 'zod'
import { query } from './loop.ts'
import { type AnyTool, defineTool } from './tool.ts'

export type SubagentToolOptions = {
  readonly name?: string
  readonly description?: string
  readonly system?: string
  /** The sub-agent's tools. Include this tool itself only if sub-agents may start sub-agents. */
  readonly tools: readonly AnyTool[]
  readonly maxTurns?: number
}

const input = z.object({
  description: z.string().describe('The task in a few words.'),
  prompt: z.string().describe('The whole task: the sub-agent sees nothing else.'),
})

export function subagentTool(options: SubagentToolOptions): AnyTool {
  const { system, tools, maxTurns = 200 } = options
  return defineTool({
    name: options.name ?? 'Agent',
    description: options.description ?? 'Gives a task to a sub-agent and returns its report.',
    input,
    isReadOnly: false,
    run: async ({ prompt }, { session, signal, emit, toolUseId }) => {
      const sub = await session.subagent(system === undefined ? {} : { system })
      try {
        sub.add({ role: 'user', content: prompt })
        let why = 'finished'
        for await (const event of query({ session: sub, tools, signal, maxTurns })) {
          emit({ type: 'subagent', toolUseId, event })
          if (event.type === 'stopped') why = event.why
        }
        const last = sub.messages().findLast(({ role }) => role === 'assistant')
        const report = textOf(last?.content).trim()
        if (why === 'finished' && report !== '') return report
        return { content: `The sub-agent stopped (${why}). ${report}`.trim(), isError: why !== 'finished' }
      } finally {
        await sub.close()
      }
    },
  })
}
