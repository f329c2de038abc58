// Level 3 against the simulator: a client that sends everything each time and would have died of it.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { type Script, type ScriptRequest, summarizer, text, toolUse } from '@everlong/simulator'
import { countTokens } from 'everlong'
import { blocksOf, costOf, isToolResult, textOf } from 'everlong/internal'
import { afterEach, expect, test } from 'vitest'
import type { Report } from '../books/report.ts'
import { type Setup, type SetupOptions, setUp } from '../testing/setup.ts'

let setup: Setup | undefined
afterEach(async () => {
  await setup?.close()
  setup = undefined
})

const model = 'claude-sonnet-4-6'
const window = 20_000
const turns = 18
const rule = 'From now on never touch the file schema.sql.'
const tools = [{ name: 'Bash', description: 'runs a command', input_schema: { type: 'object' as const } }]

/** Runs a command in every turn, and writes summaries for whoever asks. */
function works(requests: ScriptRequest[]): Script {
  const summary = summarizer()
  return (request, context) => {
    requests.push(request)
    const last = blocksOf(request.messages.at(-1)?.content)
    if (last.some(isToolResult)) return text('That is done.')
    if (textOf(last).includes('Somebody who has never seen')) return summary(request, context)
    return toolUse('Bash', { command: 'npm test' })
  }
}

async function started(options: SetupOptions = {}) {
  const requests: ScriptRequest[] = []
  const simulator = { windows: { [model]: window } }
  setup = await setUp({ script: works(requests), config: { level: 'manage' }, simulator, ...options })
  return { ...setup, requests }
}

/** A loop that never forgets: its history only grows. */
function loop(url: string, headers: Readonly<Record<string, string>> = { 'x-everlong-session': 'work' }) {
  const client = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0, defaultHeaders: headers })
  const messages: Anthropic.MessageParam[] = []
  const send = async () => {
    const answer = await client.messages.create({
      model,
      max_tokens: 1_000,
      tools,
      messages,
      cache_control: { type: 'ephemeral' },
    })
    messages.push({ role: 'assistant', content: answer.content })
    return answer
  }
  return {
    messages,
    turn: async (at: number) => {
      messages.push({ role: 'user', content: at === 0 ? `Fix the tests. ${rule}` : `Step ${at}.` })
      const { content } = await send()
      const call = content.find((block) => block.type === 'tool_use')
      const output = Array.from({ length: 150 }, (_, line) => `${at}.${line} everything as expected here`).join('\n')
      messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: output }] })
      return send()
    },
  }
}

const digest = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex')

/** Digests of each message, without cache marks. */
const digests = ({ messages }: ScriptRequest) =>
  messages.map(({ role, content }) => digest([role, blocksOf(content).map(({ cache_control: _, ...block }) => block)]))

test('the client alone would have died of it', async () => {
  const { server } = await started()
  const { turn } = loop(server.url)
  await expect(
    (async () => {
      for (let at = 0; at < turns; at++) await turn(at)
    })(),
  ).rejects.toMatchObject({ status: 400 })
})

test('a loop whose history is larger than the window continues: the same bytes again, but for a few changes that the books know', async () => {
  const { url, requests, gateway, sessions } = await started()
  const { turn } = loop(url)
  for (let at = 0; at < turns; at++) await turn(at)
  const sent = requests.filter(
    ({ messages }) => !textOf(messages.at(-1)?.content).includes('Somebody who has never seen'),
  )
  const all = sent.map(digests)
  const breaks = all.slice(1).filter((now, at) => !all[at]?.every((one, index) => now[index] === one))
  expect(breaks.length).toBeGreaterThan(0)
  expect(breaks.length).toBeLessThan(sent.length / 5)
  expect(JSON.stringify(sent.at(-1)?.messages)).toContain(rule)
  // The originals are in the transcript, whole.
  const records = (await sessions()).get('work') ?? []
  expect(records).toHaveLength(4 * turns)
  expect(JSON.stringify(records)).toContain('3.149 everything as expected here')
  await gateway.settled()
  const report = (await (await fetch(`${url}/everlong/report`)).json()) as Report
  expect(report.removed.tokens).toBeGreaterThan(10_000)
  expect(report.balance).toBeCloseTo(report.removed.saved - report.own.cost, 9)
  // Omitted tokens would have been read from the cache each time, and tokens after our changes were written.
  const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
  const asRead = costOf({ ...none, cacheRead: report.removed.tokens }, model) ?? 0
  expect([report.removed.saved > 0, report.removed.saved < asRead]).toEqual([true, true])
})

test('after a restart the same rewrite is sent, not another one', async () => {
  const first = await started()
  const { turn, messages } = loop(first.url)
  for (let at = 0; at < turns; at++) await turn(at)
  const before = digests(first.requests.at(-1)!)
  await first.gateway.close()
  const requests: ScriptRequest[] = []
  const again = await setUp({
    ...{
      script: works(requests),
      config: { level: 'manage' },
      simulator: { windows: { [model]: window } },
      folder: first.folder,
    },
  })
  const client = new Anthropic({
    apiKey: 'any',
    baseURL: again.url,
    maxRetries: 0,
    defaultHeaders: { 'x-everlong-session': 'work' },
  })
  await client.messages.create({
    ...{ model, max_tokens: 1_000, tools, messages: [...messages, { role: 'user', content: 'Go on.' }] },
    cache_control: { type: 'ephemeral' },
  })
  expect(digests(requests.at(-1)!).slice(0, before.length)).toEqual(before)
  await again.close()
})

test('a request that needs nothing passes as it came, byte for byte', async () => {
  const got: string[] = []
  const server = createServer((incoming, outgoing) => {
    let body = ''
    incoming.on('data', (chunk) => {
      body += chunk
    })
    incoming.on('end', () => {
      got.push(body)
      outgoing.end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const upstream = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  const { url } = await started({ config: { level: 'manage', upstreams: { simulator: upstream } } })
  const body = `{ "model": "${model}", "max_tokens": 50.0, "messages": [ {"role":"user","content":"\\u0048ello."} ] }`
  const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01', 'x-everlong-session': 'raw' }
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', headers, body })
  expect([response.status, await response.text(), got]).toEqual([200, '{}', [body]])
  await new Promise((resolve) => server.close(resolve))
})

test('two callers in two conversations never share a credential', async () => {
  const { url, server } = await started()
  const one = loop(url, { 'x-everlong-session': 'one', 'x-api-key': 'key-one' })
  const two = loop(url, { 'x-everlong-session': 'two', 'x-api-key': 'key-two' })
  for (let at = 0; at < 12; at++) {
    await one.turn(at)
    await two.turn(at)
  }
  const organizations = Map.groupBy(server.simulator.log.entries, ({ organization }) => organization)
  expect([...organizations.keys()].toSorted()).toEqual(['key-one', 'key-two'])
  expect(organizations.get('key-one')?.length).toBe(organizations.get('key-two')?.length)
})

test('summaries are in the books as calls of the gateway, and everything together is what the upstream billed', async () => {
  const requests: ScriptRequest[] = []
  const page = 'The heron stood in the reeds and waited. '.repeat(150)
  const { url, server, gateway } = await started({
    script: (request, context) => {
      requests.push(request)
      const asked = textOf(request.messages.at(-1)?.content)
      return asked.includes('Somebody who has never seen') ? summarizer()(request, context) : text(page)
    },
  })
  const client = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = []
  for (let at = 0; at < 18; at++) {
    messages.push({ role: 'user', content: `Write page ${at}.` })
    const headers = { 'x-everlong-session': 'pages' }
    const { content } = await client.messages.create({ model, max_tokens: 4_000, messages }, { headers })
    messages.push({ role: 'assistant', content })
  }
  await gateway.settled()
  const report = (await (await fetch(`${url}/everlong/report`)).json()) as Report
  const summaries = requests.filter((one) =>
    textOf(one.messages.at(-1)?.content).includes('Somebody who has never seen'),
  )
  expect(summaries.length).toBeGreaterThan(0)
  expect(report.own.requests).toBe(summaries.length)
  expect(report.cost + report.own.cost).toBeCloseTo(server.simulator.meter.totals().cost, 9)
})

test.each([
  ['many', 30, 60],
  ['long', 300, 20],
  ['longer than half of the window', 500, 12],
])('a conversation of %s user messages continues, also if the model writes no summary', async (_, lines, count) => {
  const { url } = await started({ script: () => text('Noted.') })
  const client = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = []
  for (let at = 0; at < count; at++) {
    const said = Array.from({ length: lines }, (_, line) => `Line ${at}.${line} says that heron ${at + line} was seen.`)
    messages.push({ role: 'user', content: said.join(' ') })
    const { content } = await client.messages.create({ model, max_tokens: 1_000, messages })
    messages.push({ role: 'assistant', content })
  }
  expect(messages).toHaveLength(2 * count)
})

test('a summary has what the user said next to notes of the client, and no path of the gateway', async () => {
  const requests: ScriptRequest[] = []
  const script: Script = (request) => {
    requests.push(request)
    return text('Noted.')
  }
  const { url, folder } = await started({ script })
  const client = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = []
  const note = '<system-reminder>\n<total_tokens>1000 tokens left</total_tokens>\n</system-reminder>'
  for (let at = 0; at < 9; at++) {
    const said = `${at === 0 ? rule : ''} Report ${at}. ${'The total is in cents. '.repeat(500)}`
    messages.push({ role: 'user', content: [note, said].map((one) => ({ type: 'text', text: one })) })
    const { content } = await client.messages.create({ model, max_tokens: 1_000, messages })
    messages.push({ role: 'assistant', content })
  }
  const last = JSON.stringify(requests.at(-1)?.messages)
  expect(last).toContain('This conversation continues from an earlier one')
  expect(last).toContain(rule)
  expect(last).not.toContain(folder)
})

/** About half of the window of 60,000 tokens. */
const system = 'You are a careful engineer of reports. '.repeat(3_800)

/** Says something long in each turn. Returns what the upstream was asked for last. `lines` gets the log. */
async function reports(large: number, lines: string[]) {
  const requests: ScriptRequest[] = []
  const summary = summarizer()
  const script: Script = (request, context) => {
    requests.push(request)
    const isSummary = textOf(request.messages.at(-1)?.content).includes('Somebody who has never seen')
    return isSummary ? summary(request, context) : text('Noted.')
  }
  const simulator = { windows: { [model]: large } }
  const { url } = await started({ script, simulator, ports: { write: (line) => lines.push(line) } })
  const client = new Anthropic({
    apiKey: 'any',
    baseURL: url,
    maxRetries: 0,
    defaultHeaders: { 'x-everlong-session': 'work' },
  })
  const messages: Anthropic.MessageParam[] = []
  for (let at = 0; at < 8; at++) {
    const report = Array.from({ length: 900 }, (_, line) => `${at}.${line} as expected here`).join('\n')
    messages.push({ role: 'user', content: `${at === 0 ? rule : ''} Report ${at}: ${report}` })
    const { content } = await client.messages.create({ model, max_tokens: 1_000, system, messages })
    messages.push({ role: 'assistant', content })
  }
  return JSON.stringify(requests.at(-1)?.messages)
}

test('a system prompt that fills half of the window leaves the other half to the conversation', async () => {
  const large = 60_000
  const tokens = countTokens([{ role: 'user', content: system }])
  expect([tokens > 0.4 * large, tokens < 0.6 * large]).toEqual([true, true])
  const lines: string[] = []
  expect(await reports(large, lines)).toContain(rule)
  expect(lines.filter((line) => line.includes('not-compacted'))).toEqual([])
})

test('one that leaves no room is told in the log, with its size and without a word of it', async () => {
  const lines: string[] = []
  await expect(reports(38_000, lines)).rejects.toMatchObject({ status: 400 })
  const told = lines.filter((line) => line.includes('not-compacted'))
  expect(told.map((line) => JSON.parse(line))).toMatchObject([
    { level: 'warn', why: expect.stringMatching(/system prompt and the tools have about [\d,]+ tokens/) },
  ])
  expect(told.join('')).not.toMatch(/careful|as expected/)
})
