// A long conversation through the real Claude Agent SDK against the simulator: unmanaged, with the SDK's own compaction, or with
// Everlong. The SDK starts a process of Claude Code. One process takes many messages (streaming input); Everlong's compaction
// takes effect in the next process.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { asksForSummary, type Script, startServer, summarizer, text } from '@everlong/simulator'
import { anthropic } from 'everlong/anthropic'
import { type ClaudeAgent, everlong } from 'everlong/claude-agent-sdk'
import { jsonlSessions } from 'everlong/node'
import type { Figures } from './figures.ts'

const root = join(import.meta.dirname, '../../..')
/** The folder in which `npm run test:agents` installs agents and `npm run bench -- adapters` installs the SDK. */
export const agentsFolder = join(root, '.everlong/agents')
const folders = [agentsFolder, join(root, 'bench/apart/agent-sdk')]

export const model = 'claude-sonnet-4-6'
export const window = 100_000

export const rules = [
  'Never touch migration.sql, whatever anybody asks.',
  'Always answer in one sentence.',
  'Do not add a dependency without asking me.',
]
export const facts = Array.from({ length: 5 }, (_, at) => `service ${at} listens on port ${41_000 + 37 * at}`)

type UserMessage = {
  readonly type: 'user'
  readonly message: { readonly role: 'user'; readonly content: string }
  readonly parent_tool_use_id: null
  readonly session_id: string
}
type Message = { readonly type: string; readonly session_id?: string; readonly result?: string }
export type Query = (input: {
  readonly prompt: string | AsyncIterable<UserMessage>
  readonly options: object
}) => AsyncIterable<Message>

/** The SDK's file, if it is installed. */
export function installedSdk(): string | undefined {
  return folders
    .map((folder) => join(folder, 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs'))
    .find((file) => existsSync(file))
}

export async function loadQuery(file: string): Promise<Query> {
  return ((await import(pathToFileURL(file).href)) as { readonly query: Query }).query
}

/** About 9,000 tokens, with facts to remember from time to time. */
export function promptAt(turn: number): string {
  const lines = Array.from(
    { length: 800 },
    (_, at) => `  step${at}: handler${(turn * 31 + at * 7) % 97}("${turn}-${at}")`,
  )
  const rule = turn % 4 === 1 ? (rules[(turn - 1) / 4] ?? '') : ''
  const fact = turn % 3 === 2 && facts[(turn - 2) / 3] ? `For your information: ${facts[(turn - 2) / 3]}.` : ''
  return [`Look at listing ${turn}. ${rule} ${fact}`, ...lines].join('\n')
}

export function optionsFor(folder: string, more: Readonly<Record<string, string>>) {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'project')]
  for (const path of [home, cwd]) mkdirSync(path, { recursive: true })
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude'), ANTHROPIC_API_KEY: 'none' },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1', ENABLE_TOOL_SEARCH: 'false', ...more },
  }
  return { cwd, model, env, permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true }
}

export type Answer = { readonly answer: string; readonly sessionId?: string }

/** One message, one process. An error of the SDK becomes the answer. */
export async function ask(query: Query, prompt: string, options: object): Promise<Answer> {
  let found: Answer = { answer: '' }
  try {
    for await (const { type, result = '', session_id: sessionId = '' } of query({ prompt, options })) {
      if (type === 'result') found = { answer: result, sessionId }
    }
    return found
  } catch (error) {
    return { ...found, answer: String(error) }
  }
}

type Process = { readonly ask: (prompt: string) => Promise<Answer>; readonly end: () => Promise<void> }

/** One process for many messages. */
function startProcess(query: Query, options: object): Process {
  const waiting: UserMessage[] = []
  let wake: (() => void) | undefined
  let isOver = false
  async function* input() {
    for (;;) {
      for (let next = waiting.shift(); next; next = waiting.shift()) yield next
      if (isOver) return
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  const output = query({ prompt: input(), options })[Symbol.asyncIterator]()
  const answered = async (): Promise<Answer> => {
    for (let next = await output.next(); !next.done; next = await output.next()) {
      const { type, result = '', session_id: sessionId = '' } = next.value
      if (type === 'result') return { answer: result, sessionId }
    }
    return { answer: 'The process ended.' }
  }
  return {
    ask: async (content) => {
      waiting.push({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' })
      wake?.()
      return answered().catch((error: unknown) => ({ answer: String(error) }))
    },
    end: async () => {
      isOver = true
      wake?.()
      await answered().catch(() => undefined)
    },
  }
}

export type How = {
  readonly query: Query
  /** For the home, the project and the sessions of this conversation. */
  readonly folder: string
  readonly turns: number
  readonly env?: Readonly<Record<string, string>>
  readonly isManaged?: boolean
  /** A process per turn, or one until Everlong compacts. */
  readonly processes: 'one-per-turn' | 'few'
}

export type Conversed = Figures & {
  readonly error?: string
  readonly requests: number
  readonly largestPrompt: number
  readonly summaries: number
  /** Number of compactions in the turn right after another one, because the first did not get far enough below the threshold. */
  readonly repeated: number
}

/** Stops at the first turn without an answer. */
export async function converse(how: How): Promise<Conversed> {
  const { folder, turns, env = {}, isManaged = false } = how
  const seen = createSight()
  const server = await startServer({ script: seen.script, windows: { [model]: window }, logEntries: 10_000 })
  const agent = everlong({
    model: anthropic({ model, apiKey: 'none', baseURL: server.url }),
    store: jsonlSessions({ folder: join(folder, 'sessions') }),
    settings: { contextWindow: window },
  })
  const managing = isManaged ? { sessionStore: agent.sessionStore, hooks: agent.hooks } : {}
  const options = { ...optionsFor(folder, { ...env, ANTHROPIC_BASE_URL: server.url }), ...managing }
  const talk = how.processes === 'few' ? inFewProcesses(how, agent, options) : inOneEach(how, agent, options)
  let turn = 1
  let error: string | undefined
  for (; turn <= turns && error === undefined; turn++) {
    const { answer } = await talk.ask(promptAt(turn))
    seen.endTurn()
    if (!answer.includes(`Listing ${turn} is`)) error = answer
  }
  await talk.end()
  const { entries } = server.simulator.log
  const { cost, input, read, write5m, write1h } = server.simulator.meter.totals()
  const prompts = entries.flatMap(({ samplings }) =>
    samplings.map((one) => one.input + one.read + one.write5m + one.write1h),
  )
  await server.close()
  return {
    turns: error === undefined ? turns : turn - 2,
    ...(error === undefined ? {} : { error }),
    requests: entries.length,
    refused: entries.filter(({ status }) => status === 400 || status === 413).map(({ outcome }) => outcome),
    promptTokens: input + read + write5m + write1h,
    largestPrompt: Math.max(0, ...prompts),
    cost,
    ...seen.report(),
  }
}

function inOneEach({ query, isManaged = false }: How, agent: ClaudeAgent, options: object): Process {
  let resume: string | undefined
  return {
    ask: async (prompt) => {
      if (isManaged) await agent.prepare(resume)
      const found = await ask(query, prompt, { ...options, ...(resume ? { resume } : {}) })
      resume = found.sessionId ?? resume
      return found
    },
    end: async () => undefined,
  }
}

/** Like a server: when a compaction is due, the process ends, and the next one resumes the compacted session. */
function inFewProcesses({ query, isManaged = false }: How, agent: ClaudeAgent, options: object): Process {
  let resume: string | undefined
  let process: Process | undefined
  const end = async () => {
    await process?.end()
    process = undefined
  }
  return {
    end,
    ask: async (prompt) => {
      if (isManaged && resume && (await isCompactionDue(agent, resume))) {
        await end()
        await agent.prepare(resume)
      }
      process ??= startProcess(query, { ...options, ...(resume ? { resume } : {}) })
      const found = await process.ask(prompt)
      resume = found.sessionId ?? resume
      return found
    },
  }
}

async function isCompactionDue(agent: ClaudeAgent, sessionId: string): Promise<boolean> {
  const session = await agent.session(sessionId)
  const { isAboveThreshold } = session.explain()
  await session.close()
  return isAboveThreshold
}

/** The model and what it saw: rules and facts in the last request that was not for a summary. */
function createSight() {
  let summaries = 0
  let shown = ''
  let [before, repeated] = [0, 0]
  let wasCompacted = false
  const script: Script = (request, context) => {
    const words = JSON.stringify(request.messages.at(-1))
    if (asksForSummary(request)) {
      summaries++
      return summarizer()(request, context)
    }
    shown = JSON.stringify(request.messages)
    return text(`Listing ${[...words.matchAll(/Look at listing (\d+)/g)].at(-1)?.[1]} is a list of handlers.`)
  }
  return {
    script,
    endTurn: () => {
      const isCompacted = summaries > before
      if (isCompacted && wasCompacted) repeated++
      wasCompacted = isCompacted
      before = summaries
    },
    report: () => ({
      summaries,
      repeated,
      rules: rules.filter((rule) => shown.includes(rule)).length,
      facts: facts.filter((fact) => shown.includes(fact)).length,
    }),
  }
}
