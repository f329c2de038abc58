// A tool that starts a sub-agent: a separate conversation with its own window and state. Its last answer is the result. If it
// runs in the background, the conversation continues and gets a message when it has ended.

import { textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { z } from 'zod'
import type { LoopEvent } from './events.ts'
import { query } from './loop.ts'
import { reasonOf } from './reason-of.ts'
import { subjectOf } from './render/calls.ts'
import { type AnyTool, defineTool, type ToolContext, type ToolOutput } from './tool.ts'
import type { Tasks } from './tools/tasks.ts'

/** A kind of sub-agent that the model can choose. */
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
      if (!tasks || !given.run_in_background) return inForeground(run, context, tasks)
      const running = start(run, () => undefined)
      return inBackground(run, { running, context, tasks, how: 'Started in' })
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

/** Until it ends, or the person sends it to the background. */
async function inForeground(run: Run, context: ToolContext, tasks: Tasks | undefined): Promise<ToolOutput> {
  const { signal, emit, toolUseId } = context
  let isWatched = true
  const running = start(run, (event) => {
    if (isWatched) emit({ type: 'subagent', toolUseId, event })
  })
  signal.addEventListener('abort', running.stop)
  if (signal.aborted) running.stop()
  const moved = Promise.withResolvers<'moved'>()
  const takeBack = tasks?.offer(() => moved.resolve('moved'))
  try {
    const ended = await Promise.race([running.report, moved.promise])
    const { description } = run.given
    if (ended !== 'moved' || !tasks) {
      const report = await running.report
      return { ...report, details: { agentId: run.sub.agentId, description } }
    }
    isWatched = false
    return inBackground(run, { running, context, tasks, how: 'The user sent it to' })
  } finally {
    takeBack?.()
    signal.removeEventListener('abort', running.stop)
  }
}

type Running = {
  readonly report: Promise<ToolOutput>
  readonly stop: () => void
  /** One line for each call so far, the newest last. */
  readonly calls: () => readonly string[]
}

function start(run: Run, tell: (event: LoopEvent) => void): Running {
  const stop = new AbortController()
  let calls: readonly string[] = []
  const report = reportOf(run, stop.signal, (event) => {
    if (event.type === 'tool-started') calls = [...calls, `${event.name} ${subjectOf(event, '')}`].slice(-maxCalls)
    tell(event)
  })
  return { report, stop: () => stop.abort(), calls: () => calls }
}

const maxCalls = 200

type Background = {
  readonly running: Running
  readonly context: ToolContext
  readonly tasks: Tasks
  readonly how: 'Started in' | 'The user sent it to'
}

function inBackground({ sub, given }: Run, { running, context, tasks, how }: Background): ToolOutput {
  const { description } = given
  const id = sub.agentId ?? sub.id
  let report = ''
  let output = ''
  const ended = running.report.then(
    ({ content, isError }) => {
      report = textOf(content)
      output = report
      return isError ? 'ended early' : 'finished'
    },
    (error: unknown) => {
      report = reasonOf(error)
      output = report
      return 'failed'
    },
  )
  const take = () => {
    const taken = output
    output = ''
    return taken
  }
  const stop = async () => {
    running.stop()
    await ended
  }
  const recent = () => [...running.calls(), ...(report === '' ? [] : report.split('\n'))]
  tasks.start({ id, title: description, take, recent, stop, ended }, context.session)
  const content = `${how} the background as ${id}. You are told when it has ended; TaskOutput returns its report, TaskStop ends it.`
  return { content, details: { agentId: id, description, isAsync: true } }
}

/** Runs the sub-agent to its end, and always closes its session. */
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
      if (event.type === 'answer') tell(spentBy(sub))
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

function spentBy(sub: Session): LoopEvent {
  const costs = Object.values(sub.spent())
    .filter(({ requests }) => requests > 0)
    .map(({ cost }) => cost)
  const isPriced = costs.every((cost) => cost !== undefined)
  const { tokens } = sub.explain().size
  return { type: 'spent', tokens, ...(isPriced ? { cost: costs.reduce((sum, cost) => sum + cost, 0) } : {}) }
}
