// TodoWrite: the agent's list of steps. The engine reads it from the conversation and restores it after a compaction.
import { z } from 'zod'
import { type AnyTool, defineTool } from '../tool.ts'

const input = z.object({
  todos: z
    .array(
      z.object({
        content: z.string().min(1).max(500).describe('What is to do: "Run the tests".'),
        status: z.enum(['pending', 'in_progress', 'completed']),
        activeForm: z.string().max(500).optional().describe('The same while it is done: "Running the tests".'),
      }),
    )
    .max(100)
    .describe('The whole list. It replaces the one before.'),
})

export function todoTool(): AnyTool {
  return defineTool({
    name: 'TodoWrite',
    description:
      'Keeps the list of steps for a task with several of them. Send the whole list each time; have one step in progress, and mark a step completed as soon as it is.',
    input,
    run: ({ todos }) => {
      const done = todos.filter(({ status }) => status === 'completed').length
      const active = todos.filter(({ status }) => status === 'in_progress')
      const now = active.length === 0 ? '' : ` Now: ${active.map(({ content }) => content).join('; ')}.`
      return `The list is saved: ${done} of ${todos.length} done.${now}`
    },
  })
}
