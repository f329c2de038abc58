// A tool that starts a sub-agent: a separate conversation with its own window and state. Its last answer is the result. In
// the background, the conversation continues and gets a message when it has ended.

import { textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { z } from 'zod'
import type { LoopEvent } from './events.ts'
import { query } from './loop.ts'
import { reasonOf } from './reason-of.ts'
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from './tool.ts'
import type { Tasks } from './tools/tasks.ts'

/** A kind of sub-agent, for the model to choose from. */
export type SubagentType = {
  readonly name: string
  /** When to use it. */
  readonly description: string
  readonly system?: string
  readonly tools: readonly AnyTool[]
}

export type SubagentToolOptions = {
  readonly name?: string
  readonly description?: string
  readonly system?: string
  /** The sub-agent's tools. Include this tool itself only if sub-agents may start sub-agents. */
  readonly tools: readonly AnyTool[]
  /** Further kinds of sub-agents. */
  readonly types?: readonly SubagentType[]
  /** Lets sub-agents run in the background. */
  readonly tasks?: Tasks
  readonly maxTurns?: number
}

const task = {
  description: z.string().describe('The task in a few words.'),
  prompt: z.string().describe('The whole task: the sub-agent sees nothing else.'),
}

export function subagentTool(options: SubagentToolOptions): AnyTool {
  const { types = [], tasks } = options
  const subagent_type = z
    .string()
    .optional()
    .describe(`A kind of sub-agent: ${types.map(({ name }) => name).join(', ')}.`)
  const run_in_background = z.boolean().optional().describe('Go on at once. You are told when it has ended.')
  const input = z.object({
    ...task,
    ...(types.length > 0 ? { subagent_type } : {}),
    ...(tasks ? { run_in_background } : {}),
  }) as z.ZodType<Input>
  const listed = types.map(({ name, description }) => `\n- ${name}: ${description}`).join('')
  return defineTool({
    name: options.name ?? 'Agent',
    description: `${options.description ?? 'Gives a task to a sub-agent and returns its report.'}${listed}`,
    input,
    isParallel: true,
    run: async (given, context) => {
      const type = types.find(({ name }) => name === given.subagent_type)
      if (given.subagent_type !== undefined && !type) {
        const known = types.map(({ name }) => name).join(', ')
        return { content: `There is no kind of sub-agent ${given.subagent_type}. Known: ${known}.`, isError: true }
      }
      const { system = options.system, tools } = type ?? options
      const sub = await context.session.subagent(system === undefined ? {} : { system })
      const run = { sub, tools, given, maxTurns: options.maxTurns ?? 200 }
      return tasks && given.run_in_background ? inBackground(run, context, tasks) : inForeground(run, context)
    },
  })
}

type Input = {
  readonly description: string
  readonly prompt: string
  readonly subagent_type?: string
  readonly run_in_background?: boolean
}

type Run = {
  readonly sub: Session
  readonly tools: readonly AnyTool[]
  readonly given: Input
  readonly maxTurns: number
}

async function inForeground(run: Run, { signal, emit, toolUseId }: ToolContext): Promise<ToolOutput> {
  const report = await reportOf(run, signal, (event) => emit({ type: 'subagent', toolUseId, event }))
  return { ...report, details: { agentId: run.sub.agentId, description: run.given.description } }
}

function inBackground(run: Run, { session }: ToolContext, tasks: Tasks): ToolOutput {
  const { sub, given } = run
  const { description } = given
  const id = sub.agentId ?? sub.id
  const stop = new AbortController()
  let output = ''
  const ended = reportOf(run, stop.signal, () => undefined).then(
    ({ content, isError }) => {
      output = textOf(content)
      return isError ? 'ended early' : 'finished'
    },
    (error: unknown) => {
      output = reasonOf(error)
      return 'failed'
    },
  )
  const take = () => {
    const taken = output
    output = ''
    return taken
  }
  const stopNow = async () => {
    stop.abort()
    await ended
  }
  tasks.start({ id, title: description, take, stop: stopNow, ended }, session)
  const content = `Started in the background as ${id}. You are told when it has ended; TaskOutput returns its report, TaskStop ends it.`
  return { content, details: { agentId: id, description, isAsync: true } }
}

/** Runs the sub-agent to its end, and closes its session whatever happens. */
async function reportOf(
  { sub, tools, given, maxTurns }: Run,
  signal: AbortSignal,
  tell: (event: LoopEvent) => void,
): Promise<ToolOutput> {
  try {
    sub.add({ role: 'user', content: given.prompt })
    let why = 'finished'
    for await (const event of query({ session: sub, tools, signal, maxTurns })) {
      tell(event)
      if (event.type === 'stopped') why = event.why
    }
    const last = sub.messages().findLast(({ role }) => role === 'assistant')
    const report = textOf(last?.content).trim()
    if (why === 'finished' && report !== '') return { content: report }
    return { content: `The sub-agent stopped (${why}). ${report}`.trim(), isError: why !== 'finished' }
  } finally {
    await sub.close()
  }
}
