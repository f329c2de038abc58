// The price of a week of ten people through the gateway, on level 1 and on level 3, with the simulator's prompt cache and a clock that
// is turned by their pauses. Their client sends everything each time and compacts by itself when its window is nearly full.
import { join } from 'node:path'
import { checkConfig, type Report, startGateway } from '@everlong/gateway'
import { type Script, startServer, summarizer, text, toolUse, turnableClock } from '@everlong/simulator'
import { blocksOf, isToolResult, textOf } from 'everlong/internal'
import { pauseAfter } from '../cost/calendar.ts'
import { randomFrom } from '../random.ts'

export type Week = {
  readonly level: 'observe' | 'manage'
  readonly requests: number
  /** The simulator's bill with everything included. */
  readonly price: number
  readonly report: Pick<Report, 'cost' | 'own' | 'removed' | 'balance'>
  /** Number of compactions by the clients themselves. */
  readonly compactions: number
}

export const people = 10
export const tasksInWeek = 30
const roundsPerTask = 6
const model = 'claude-sonnet-4-6'
const window = 200_000
/** Where a client with this window compacts by itself. */
const threshold = 0.835 * window

export async function measureWeeks(folder: string): Promise<readonly Week[]> {
  const weeks: Week[] = []
  for (const level of ['observe', 'manage'] as const) {
    const done: Week[] = []
    for (let person = 0; person < people; person++)
      done.push(await weekOf(level, person, join(folder, `${level}-${person}`)))
    weeks.push(done.reduce(joined))
  }
  return weeks
}

function joined(a: Week, b: Week): Week {
  const sum = (of: (week: Week) => number) => of(a) + of(b)
  return {
    ...{ level: a.level, requests: sum((one) => one.requests), price: sum((one) => one.price) },
    compactions: sum((one) => one.compactions),
    report: {
      cost: sum(({ report }) => report.cost),
      own: { requests: sum(({ report }) => report.own.requests), cost: sum(({ report }) => report.own.cost) },
      removed: { tokens: sum(({ report }) => report.removed.tokens), saved: sum(({ report }) => report.removed.saved) },
      balance: sum(({ report }) => report.balance),
    },
  }
}

const ownSummary = 'Summarize the conversation so that the work can be continued.'

/** Works for six rounds on each task, and writes summaries for whoever asks. */
const works: Script = (request, context) => {
  const last = request.messages.at(-1)
  const said = textOf(last?.content)
  if (said.includes(ownSummary) || said.includes('Somebody who has never seen')) return summarizer()(request, context)
  const begun = request.messages.findLastIndex(
    (one) => one.role === 'user' && !blocksOf(one.content).some(isToolResult),
  )
  const rounds = (request.messages.length - 1 - begun) / 2
  return rounds < roundsPerTask ? toolUse('Bash', { command: 'npm test' }) : text('That is done, and the tests pass.')
}

type Message = { readonly role: 'user' | 'assistant'; readonly content: unknown }

async function weekOf(level: Week['level'], person: number, data: string): Promise<Week> {
  const clock = turnableClock(Date.UTC(2026, 10, 16, 9))
  const server = await startServer({ script: works, port: 0, clock, windows: { [model]: window } } as never)
  const upstreams = { simulated: { url: server.url } }
  const defaultUpstreams = { messages: 'simulated', openai: 'simulated' }
  const config = checkConfig({ listen: { port: 0 }, data, level, upstreams, defaultUpstreams }, 'the benchmark')
  const gateway = await startGateway(config, { write: () => undefined, now: () => clock.now() })
  const random = randomFrom(100 + person)
  const client = createClient(gateway.url)
  for (let task = 0; task < tasksInWeek; task++) {
    await client.say(`Task ${task}: make the tests of module ${Math.floor(1_000 * random.next())} pass.`)
    for (let round = 0; round < roundsPerTask; round++) {
      clock.turn(10_000)
      // Between 300 and 6,000 tokens, as results of tools have.
      const lines = Math.round(30 + 570 * random.next() ** 2)
      await client.result(Array.from({ length: lines }, (_, at) => `${task}.${round}.${at} as expected`).join('\n'))
    }
    clock.turn(pauseAfter({ tasks: task + 1, elapsed: clock.now() - Date.UTC(2026, 10, 16, 9) }, random))
  }
  await gateway.settled()
  const { cost, own, removed, balance } = (await (await fetch(`${gateway.url}/everlong/report`)).json()) as Report
  const { requests, cost: price } = server.simulator.meter.totals()
  await gateway.close()
  await server.close()
  return { level, requests, price, compactions: client.compactions(), report: { cost, own, removed, balance } }
}

function createClient(url: string) {
  let messages: Message[] = []
  let compactions = 0
  const headers = {
    ...{ 'content-type': 'application/json', 'x-api-key': 'bench', 'anthropic-version': '2023-06-01' },
    ...{ 'x-everlong-session': 'week' },
  }
  const tools = [{ name: 'Bash', description: 'Runs a command.', input_schema: { type: 'object' } }]
  const system = 'You are a careful engineer. '.repeat(300)
  const post = async (sent: readonly Message[]) => {
    const body = { model, max_tokens: 4_000, system, tools, messages: sent, cache_control: { type: 'ephemeral' } }
    const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`status ${response.status}: ${await response.text()}`)
    return (await response.json()) as {
      content: readonly { type: string; id?: string }[]
      usage: Record<string, number>
    }
  }
  const send = async (content: unknown): Promise<void> => {
    messages.push({ role: 'user', content })
    const { content: answer, usage } = await post(messages)
    messages.push({ role: 'assistant', content: answer })
    const { input_tokens = 0, cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = usage
    const isTurnOver = !answer.some(({ type }) => type === 'tool_use')
    if (isTurnOver && input_tokens + cache_read_input_tokens + cache_creation_input_tokens > threshold) {
      const { content: summary } = await post([...messages, { role: 'user', content: ownSummary }])
      messages = [
        { role: 'user', content: textOf(summary as never) },
        { role: 'assistant', content: 'I continue from there.' },
      ]
      compactions++
    }
  }
  return {
    compactions: () => compactions,
    say: (text: string) => send(text),
    result: (output: string) => {
      const calls = messages.at(-1)?.content as readonly { type: string; id?: string }[]
      const id = calls.find(({ type }) => type === 'tool_use')?.id
      return send([{ type: 'tool_result', tool_use_id: id, content: output }])
    },
  }
}
