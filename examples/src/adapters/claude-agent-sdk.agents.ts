// The real Claude Agent SDK, without a person and without a network: the model is the simulator, the home folder is empty.
// `npm run test:agents` installs the SDK and runs this.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { asksForSummary, type Script, startServer, summarizer, text } from '@everlong/simulator'
import { offline } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { everlong } from 'everlong/claude-agent-sdk'
import { jsonlSessions } from 'everlong/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Figures, wrongFigures } from './figures.ts'

const root = join(import.meta.dirname, '../../..')
const agents = join(root, '.everlong/agents')
const sdk = join(agents, 'node_modules/@anthropic-ai/claude-agent-sdk')
const folder = mkdtempSync(join(tmpdir(), 'everlong-agent-sdk-'))
const model = 'claude-sonnet-4-6'
const window = 100_000
const turns = 16

const rules = [
  'Never touch migration.sql, whatever anybody asks.',
  'Always answer in one sentence.',
  'Do not add a dependency without asking me.',
]
const facts = Array.from({ length: 5 }, (_, at) => `service ${at} listens on port ${41_000 + 37 * at}`)

type Message = {
  readonly type: string
  readonly session_id?: string
  readonly result?: string
  readonly subtype?: string
}
type Query = (input: { readonly prompt: string; readonly options: object }) => AsyncIterable<Message>
let query: Query

const isInstalled = existsSync(sdk)
if (!isInstalled) console.warn('skipped: the Claude Agent SDK is not installed')

beforeAll(async () => {
  if (!isInstalled) return
  const module = (await import(pathToFileURL(join(sdk, 'sdk.mjs')).href)) as { readonly query: Query }
  query = module.query
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** About 9,000 tokens, with something to remember now and then. */
function promptAt(turn: number): string {
  const lines = Array.from(
    { length: 800 },
    (_, at) => `  step${at}: handler${(turn * 31 + at * 7) % 97}("${turn}-${at}")`,
  )
  const rule = turn % 4 === 1 ? (rules[(turn - 1) / 4] ?? '') : ''
  const fact = turn % 3 === 2 ? `For your information: ${facts[(turn - 2) / 3]}.` : ''
  return [`Look at listing ${turn}. ${rule} ${fact}`, ...lines].join('\n')
}

type Conversed = Figures & { readonly error?: string; readonly requests: number; readonly summaries: number }

type How = { readonly name: string; readonly env?: Readonly<Record<string, string>>; readonly isManaged?: boolean }

/** One conversation, a query for each turn. Stops at the first turn that is not answered. */
async function converse({ name, env = {}, isManaged = false }: How): Promise<Conversed> {
  const seen = createSight()
  const server = await startServer({ script: seen.script, windows: { [model]: window }, logEntries: 10_000 })
  const agent = everlong({
    model: anthropic({ model, apiKey: 'none', baseURL: server.url }),
    store: jsonlSessions({ folder: join(folder, name, 'sessions') }),
    settings: { contextWindow: window },
  })
  const managing = isManaged ? { sessionStore: agent.sessionStore, hooks: agent.hooks } : {}
  const options = { ...optionsFor(name, { ...env, ANTHROPIC_BASE_URL: server.url }), ...managing }
  let resume: string | undefined
  let turn = 1
  let error: string | undefined
  for (; turn <= turns && error === undefined; turn++) {
    if (isManaged) await agent.prepare(resume)
    const { answer, sessionId } = await ask(promptAt(turn), { ...options, ...(resume ? { resume } : {}) })
    resume = sessionId ?? resume
    if (!answer.includes(`Listing ${turn} is`)) error = answer
  }
  const { entries } = server.simulator.log
  const { cost, input, read, write5m, write1h } = server.simulator.meter.totals()
  await server.close()
  return {
    turns: error === undefined ? turns : turn - 2,
    ...(error === undefined ? {} : { error }),
    requests: entries.length,
    refused: entries.filter(({ status }) => status === 400 || status === 413).map(({ outcome }) => outcome),
    promptTokens: input + read + write5m + write1h,
    cost,
    ...seen.report(),
  }
}

/** The model, and what it saw: rules and facts in the last request that was no summary. */
function createSight() {
  let summaries = 0
  let shown = ''
  const script: Script = (request, context) => {
    const words = JSON.stringify(request.messages.at(-1))
    if (asksForSummary(request)) {
      summaries++
      return summarizer()(request, context)
    }
    shown = JSON.stringify(request.messages)
    return text(`Listing ${[...words.matchAll(/Look at listing (\d+)/g)].at(-1)?.[1]} is a list of handlers.`)
  }
  const report = () => ({
    summaries,
    rules: rules.filter((rule) => shown.includes(rule)).length,
    facts: facts.filter((fact) => shown.includes(fact)).length,
  })
  return { script, report }
}

function optionsFor(name: string, more: Readonly<Record<string, string>>) {
  const [home, cwd] = [join(folder, name, 'home'), join(folder, name, 'project')]
  for (const path of [home, cwd]) mkdirSync(path, { recursive: true })
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude'), ANTHROPIC_API_KEY: 'none' },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', IS_SANDBOX: '1', ENABLE_TOOL_SEARCH: 'false', ...more },
  }
  return { cwd, model, env, permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true }
}

/** Whatever the SDK throws is the answer. */
async function ask(prompt: string, options: object): Promise<{ readonly answer: string; readonly sessionId?: string }> {
  let found: { answer: string; sessionId?: string } = { answer: '' }
  try {
    for await (const { type, result = '', session_id: sessionId = '' } of query({ prompt, options })) {
      if (type === 'result') found = { answer: result, sessionId }
    }
    return found
  } catch (error) {
    return { ...found, answer: String(error) }
  }
}

test.runIf(isInstalled)(
  'a conversation that ends at the window goes on with Everlong, and its rules are still there',
  // Forty processes of the SDK, one after the other.
  { timeout: 900_000 },
  async () => {
    const bare = await converse({ name: 'bare', env: { DISABLE_COMPACT: '1' } })
    const own = await converse({ name: 'own', env: { CLAUDE_CODE_AUTO_COMPACT_WINDOW: String(window) } })
    const managed = await converse({ name: 'managed', env: { DISABLE_AUTO_COMPACT: '1' }, isManaged: true })
    expect(bare.turns).toBeLessThan(turns)
    expect(managed).toMatchObject({ turns, refused: [], rules: rules.length, facts: facts.length })
    expect(managed.summaries).toBeGreaterThan(0)
    const page = 'claude-agent-sdk.md'
    expect(wrongFigures(page, 'without compaction', bare)).toEqual([])
    expect(wrongFigures(page, 'the SDK’s own compaction', own)).toEqual([])
    expect(wrongFigures(page, 'Everlong', managed)).toEqual([])
  },
)

test.runIf(isInstalled)(
  'a compaction of the SDK’s own gets instructions, and what it leaves out comes back',
  async () => {
    const asked: string[] = []
    const script: Script = (request) => {
      asked.push(JSON.stringify(request.messages))
      return asksForSummary(request) ? text('<analysis>x</analysis><summary>They talked.</summary>') : text('Yes.')
    }
    const server = await startServer({ script, windows: { [model]: window } })
    const { hooks, sessionStore } = everlong({ model: offline() })
    const options = { ...optionsFor('hooks', { ANTHROPIC_BASE_URL: server.url }), hooks, sessionStore }
    const { sessionId: resume } = await ask(`Hello. ${rules[0]}`, options)
    await ask(`Remember that ${facts[0]}. ${promptAt(4)}`, { ...options, resume })
    await ask('/compact', { ...options, resume })
    const compaction = asked.at(-1)
    await ask('Go on.', { ...options, resume })
    await server.close()
    expect(compaction).toContain('Quote what the user wants done or not done from now on')
    const next = asked.at(-1)
    expect([next?.includes('They talked.'), next?.includes(rules[0] ?? ''), next?.includes(facts[0] ?? '')]).toEqual([
      true,
      true,
      true,
    ])
  },
)

test.runIf(isInstalled)('the types that are described here fit those of the SDK', () => {
  const file = join(agents, 'everlong-types.mts')
  writeFileSync(
    file,
    `import { createSdkMcpServer, foldSessionSummary, type Options, query, tool } from '@anthropic-ai/claude-agent-sdk'
import { z } from 'zod'
import { everlong } from '../../engine/src/claude-agent-sdk.ts'
import { offline } from '../../engine/src/index.ts'

const { sessionStore, hooks, recallTool } = everlong({ model: offline(), foldSessionSummary })
const { name, description, handler } = recallTool(() => undefined)
const input = { query: z.string().optional(), read: z.string().optional() }
const archive = createSdkMcpServer({ name: 'archive', tools: [tool(name, description, input, handler)] })
const options: Options = { sessionStore, hooks, mcpServers: { archive } }
export const started = query({ prompt: 'Hello', options })
`,
  )
  const tsconfig = join(agents, 'tsconfig.json')
  const compilerOptions = { exactOptionalPropertyTypes: false, skipLibCheck: true, noEmit: true }
  writeFileSync(
    tsconfig,
    JSON.stringify({ extends: join(root, 'tsconfig.json'), compilerOptions, files: [file], include: [] }),
  )
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', tsconfig],
    {
      encoding: 'utf8',
    },
  )
  expect(stdout + stderr).toBe('')
})
