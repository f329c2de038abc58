// Task: gives a task to a sub-agent, which works in its own conversation.
import { toolsWithHooks } from '../hooks.ts'
import { type SubagentType, subagentTool } from '../subagent-tool.ts'
import type { AnyTool } from '../tool.ts'
import type { Tasks } from './tasks.ts'

export type TaskOptions = {
  /** Tools that only read. */
  readonly looking: readonly AnyTool[]
  readonly all: readonly AnyTool[]
  readonly tasks: Tasks
  readonly system: string | undefined
  /** Custom kinds of sub-agents. */
  readonly own?: readonly SubagentType[]
}

const defaultSystem =
  'You are a sub-agent of a coding agent. Do the task that you are given, completely and nothing else. Your last message is your report to the agent that gave it: state what you found or did, with paths and line numbers, and what you could not do.'

/** Sub-agents cannot start sub-agents. Hooks run for their calls as well. */
export function taskTool({ looking, all, tasks, system = defaultSystem, own = [] }: TaskOptions): AnyTool {
  return subagentTool({
    name: 'Task',
    description:
      'Gives a task to a sub-agent with a context of its own, and returns its report. Use it for searches and for work that would fill your own context. It sees nothing of this conversation. Kinds:',
    system,
    tools: toolsWithHooks(all),
    types: [
      { name: 'general', description: 'All tools. The default.', system, tools: toolsWithHooks(all) },
      ...own.map((type) => ({ ...type, tools: toolsWithHooks(type.tools) })),
      { name: 'explore', description: 'Only reads and searches.', system, tools: toolsWithHooks(looking) },
    ],
    tasks,
  })
}
