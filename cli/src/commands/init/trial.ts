// One simulated conversation in the user's project, through its own SDK and Everlong: no key, no network. The program runs
// from standard input, so nothing is written.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { asksForSummary, route, startServer, summarizer, text } from '@everlong/simulator'
import { isInstalled } from './project.ts'

export type Trial =
  | {
      readonly type: 'done'
      /** The SDK that was used; undefined if only the library was. */
      readonly sdk: string | undefined
      readonly turns: number
      readonly compactions: number
      /** Requests that the simulated server refused. */
      readonly refused: number
      /** Whether the user's rule of the first turn was in the last request. */
      readonly keptRule: boolean
    }
  | { readonly type: 'failed'; readonly why: string }

type Program = { readonly sdk?: string; readonly needs: readonly string[]; readonly code: string }

const turns = 24
const window = 16_000
const rule = 'Never drop the table orders_2019.'

/** The conversation, which all programs share. `ask` depends on the SDK. */
const conversation = `
const { url, turns, rule, window } = JSON.parse(process.env.EVERLONG_TRIAL)
let compactions = 0
const options = {
  settings: { contextWindow: window },
  onEvent: (event) => { if (event.type === 'compaction-finished') compactions++ },
}
const textOf = (turn) => (turn === 1 ? rule + ' ' : '') + 'Report of day ' + turn + '. ' +
  Array.from({ length: 90 }, (_, at) => 'Order ' + (turn * 1000 + at) + ' was shipped.').join(' ')
const converse = async (ask) => {
  for (let turn = 1; turn <= turns; turn++) await ask(textOf(turn))
  console.log(JSON.stringify({ compactions }))
  process.exit(0)
}`

const programs: readonly Program[] = [
  {
    sdk: 'anthropic',
    needs: ['@anthropic-ai/sdk'],
    code: `
import Anthropic from '@anthropic-ai/sdk'
import { everlong } from 'everlong/anthropic'
${conversation}
const client = new Anthropic({ apiKey: 'none', baseURL: url, middleware: [everlong(options).middleware] })
const messages = []
await converse(async (content) => {
  messages.push({ role: 'user', content })
  const answer = await client.messages.create({ model: 'claude-sonnet-4-6', max_tokens: 1000, messages })
  messages.push({ role: 'assistant', content: answer.content })
})`,
  },
  aiSdk({ provider: '@ai-sdk/anthropic', create: 'createAnthropic', model: "provider('claude-sonnet-4-6')" }),
  aiSdk({ provider: '@ai-sdk/openai', create: 'createOpenAI', model: "provider.chat('gpt-5')" }),
  langchain({
    provider: '@langchain/anthropic',
    model: "new ChatAnthropic({ model: 'claude-sonnet-4-6', apiKey: 'none', anthropicApiUrl: url })",
  }),
  langchain({
    provider: '@langchain/openai',
    model: "new ChatOpenAI({ model: 'gpt-5', apiKey: 'none', configuration: { baseURL: url + '/v1' } })",
  }),
  {
    needs: [],
    code: `
import { offline } from 'everlong'
import { createEngine } from 'everlong/node'
${conversation}
const session = await createEngine({ ...options, model: offline() }).start({ model: 'claude-sonnet-4-6', maxTokens: 1000 })
await converse(async (content) => {
  session.add({ role: 'user', content })
  const request = await session.prepare()
  if (request.type === 'blocked') throw new Error(request.why)
  const headers = { 'content-type': 'application/json', 'x-api-key': 'none', 'anthropic-version': '2023-06-01' }
  const answer = await fetch(url + '/v1/messages', { method: 'POST', headers, body: JSON.stringify(request.body) })
  session.record(await answer.json())
})`,
  },
]

function aiSdk({ provider, create, model }: { provider: string; create: string; model: string }): Program {
  return {
    sdk: 'ai-sdk',
    needs: ['ai', provider],
    code: `
import { ${create} } from '${provider}'
import { generateText, wrapLanguageModel } from 'ai'
import { everlong } from 'everlong/ai-sdk'
${conversation}
const provider = ${create}({ apiKey: 'none', baseURL: url + '/v1' })
const model = wrapLanguageModel({ model: ${model}, middleware: everlong(options).middleware })
const messages = []
await converse(async (content) => {
  messages.push({ role: 'user', content })
  const answer = await generateText({ model, messages })
  messages.push({ role: 'assistant', content: answer.text })
})`,
  }
}

function langchain({ provider, model }: { provider: string; model: string }): Program {
  const chat = model.slice('new '.length, model.indexOf('('))
  return {
    sdk: 'langchain',
    needs: ['langchain', provider],
    code: `
import { ${chat} } from '${provider}'
import { everlong } from 'everlong/langchain'
import { createAgent } from 'langchain'
${conversation}
const agent = createAgent({ model: ${model}, tools: [], middleware: [everlong(options).middleware] })
let messages = []
await converse(async (content) => {
  ;({ messages } = await agent.invoke({ messages: [...messages, { role: 'user', content }] }))
})`,
  }
}

/** Uses the first SDK of the project with a provider, otherwise only the library. */
export async function tryIn(folder: string, sdkNames: readonly string[]): Promise<Trial> {
  const program = programs.find(
    ({ sdk, needs }) =>
      (sdk === undefined || sdkNames.includes(sdk)) && needs.every((name) => isInstalled(folder, name)),
  )
  if (!program) return { type: 'failed', why: 'no program fits' }
  let last = ''
  const script = route([{ when: asksForSummary, script: summarizer() }], ({ messages }) => {
    last = JSON.stringify(messages)
    return text('Noted.')
  })
  const server = await startServer({ script, windows: { 'claude-sonnet-4-6': window, 'gpt-5': window } })
  try {
    const ran = await run(program.code, { folder, url: server.url })
    if (ran.exitCode !== 0) return { type: 'failed', why: reasonIn(ran.stderr) }
    const { compactions } = JSON.parse(ran.stdout.trim().split('\n').at(-1) ?? '{}') as { compactions: number }
    const refused = server.simulator.log.entries.filter(({ status }) => status >= 400).length
    return { type: 'done', sdk: program.sdk, turns, compactions, refused, keptRule: last.includes(rule) }
  } finally {
    await server.close()
  }
}

async function run(code: string, { folder, url }: { folder: string; url: string }) {
  const child = spawn(process.execPath, ['--input-type=module', '-'], {
    cwd: folder,
    env: { ...process.env, EVERLONG_TRIAL: JSON.stringify({ url, turns, rule, window }) },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: 60_000,
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    stdout += piece
  })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    stderr += piece
  })
  child.stdin.end(code)
  const [exitCode] = await once(child, 'close')
  return { exitCode: exitCode ?? 1, stdout, stderr }
}

/** `Error: …` of a stack trace, else the last line. */
function reasonIn(stderr: string): string {
  const lines = stderr.trim().split('\n')
  return lines.find((line) => /^\w*Error\b.*:/.test(line)) ?? lines.at(-1) ?? 'it ended without a word'
}
