// Level 2 against the simulator: the compactions of Claude Code and Codex as they are on the wire.
import Anthropic from '@anthropic-ai/sdk'
import { type Script, type ScriptRequest, summarizer } from '@everlong/simulator'
import { textOf } from 'everlong/internal'
import OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { type Setup, type SetupOptions, setUp, spoken } from '../testing/setup.ts'
import { compactionIn } from './compaction-request.ts'

let setup: Setup | undefined
afterEach(async () => {
  await setup?.close()
  setup = undefined
})

const model = 'claude-opus-5'
const prompt = `CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.

Your task is to create a detailed summary of the conversation so far. Wrap it in <analysis> and <summary> tags.`
const rule = 'From now on never touch the file schema.sql.'
const codexPrompt = 'You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary for another LLM.'

/** Writes summaries for whoever asks for one, and counts otherwise. */
function forgetful(requests: ScriptRequest[]): Script {
  const summary = summarizer()
  let count = 0
  return (request, context) => {
    requests.push(request)
    const last = textOf(request.messages.at(-1)?.content)
    if (/TEXT ONLY|CONTEXT CHECKPOINT/.test(last))
      return { content: [{ type: 'text', text: '<summary>by the client</summary>' }] }
    if (/summary/i.test(last)) return summary(request, context)
    return {
      content: [{ type: 'text', text: `Answer ${++count}. ${'The total is in cents and stays so. '.repeat(60)}` }],
    }
  }
}

async function started(options: SetupOptions = {}) {
  const requests: ScriptRequest[] = []
  setup = await setUp({ script: forgetful(requests), config: { level: 'answer' }, ...options })
  return { ...setup, requests }
}

const mark = { cache_control: { type: 'ephemeral' as const } }
const system = [{ type: 'text' as const, text: 'You are careful. '.repeat(400), ...mark }]
const tools = [{ name: 'Bash', description: 'runs a command', input_schema: { type: 'object' as const } }]
const defaultHeaders = { 'x-claude-code-session-id': 'cc-1' }

/** A client that talks and compacts like Claude Code: the newest message has the mark for the cache. */
function claudeCode(url: string) {
  const clientAt = (baseURL: string) => new Anthropic({ apiKey: 'any', baseURL, defaultHeaders, maxRetries: 0 })
  let client = clientAt(url)
  let messages: Anthropic.MessageParam[] = []
  const marked = (text: string): Anthropic.MessageParam => ({
    role: 'user',
    content: [{ type: 'text', text, ...mark }],
  })
  const plain = (text: string): Anthropic.MessageParam => ({ role: 'user', content: [{ type: 'text', text }] })
  const send = (last: string) =>
    client.messages
      .stream({ model, max_tokens: 2_000, system, tools, messages: [...messages, marked(last)] })
      .finalMessage()
  return {
    moveTo: (other: string) => {
      client = clientAt(other)
    },
    say: async (text: string) => {
      const answer = await send(text)
      messages = [...messages, plain(text), { role: 'assistant', content: answer.content }]
      return answer
    },
    compact: async (asked = prompt) => {
      const answer = await send(asked)
      const summary = /<summary>([\s\S]*?)<\/summary>/.exec(textOf(answer.content as never))?.[1] ?? ''
      messages = [
        plain(`This session is being continued from a previous conversation that ran out of context.\n\n${summary}`),
      ]
      return { answer, summary }
    },
  }
}

async function talked(url: string, turns = 6) {
  const client = claudeCode(url)
  await client.say(`Read the reports. ${rule}`)
  for (let turn = 1; turn < turns; turn++) await client.say(`Go on with step ${turn}.`)
  return client
}

describe('a compaction of Claude Code', () => {
  test('is still known as ours after a restart before the next request', async () => {
    const first = await started()
    const client = await talked(first.url)
    await client.compact()
    await first.gateway.close()
    const again = await setUp({ script: forgetful([]), config: { level: 'answer' }, folder: first.folder })
    client.moveTo(again.url)
    await client.say('What now?')
    const records = (await again.sessions()).get('cc-1') ?? []
    expect(records.filter(({ subtype }) => subtype === 'compact_boundary')).toMatchObject([
      { compactMetadata: { trigger: 'auto' }, everlong: { gateway: { compactedBy: 'everlong' } } },
    ])
    await again.close()
  })

  test('is two rows in the books: the answer of the gateway, which is free, and its own call', async () => {
    const { url, gateway, server } = await started()
    const client = await talked(url, 2)
    const before = server.simulator.meter.totals().cost
    await client.compact()
    await gateway.settled()
    const report = await (await fetch(`${url}/everlong/report`)).json()
    const spent = server.simulator.meter.totals().cost - before
    expect(spent).toBeGreaterThan(0)
    expect(report).toMatchObject({
      ...{ requests: 3, failed: 0, unpriced: 0, cost: expect.closeTo(before, 9), balance: expect.closeTo(0, 9) },
      own: { requests: 1, cost: expect.closeTo(spent, 9) },
      models: [{ requests: 3 }],
    })
  })

  test('is answered with the handover: the summary of the upstream model, the rules and the record', async () => {
    const { url, requests, sessions, gateway, lines } = await started()
    const client = await talked(url)
    requests.splice(0)
    const { answer, summary } = await client.compact()
    expect(requests).toHaveLength(1)
    expect(textOf(requests[0]?.messages.at(-1)?.content)).not.toContain('TEXT ONLY')
    expect(requests[0]?.tools.map(({ name }) => name)).toEqual(['Bash'])
    expect(summary).toContain(rule)
    expect(summary).not.toContain('by the client')
    expect(answer.usage.cache_read_input_tokens).toBeGreaterThan(answer.usage.input_tokens)
    await client.say('What now?')
    const records = (await sessions()).get('cc-1') ?? []
    const boundary = records.findIndex(({ subtype }) => subtype === 'compact_boundary')
    expect(records[boundary]).toMatchObject({ everlong: { gateway: { compactedBy: 'everlong' } } })
    expect(records[boundary + 1]).toMatchObject({ isCompactSummary: true })
    expect(spoken(records).some((line) => line.includes('TEXT ONLY'))).toBe(false)
    await gateway.settled()
    expect(lines.filter(({ level }) => level !== 'info')).toEqual([])
    const report = (await (await fetch(`${url}/everlong/report`)).json()) as {
      cost: number
      own: { requests: number; cost: number }
      balance: number
    }
    expect(report.own.requests).toBe(1)
    // The call is billed once: as the gateway's own.
    expect(report.cost + report.own.cost).toBeCloseTo(setup?.server.simulator.meter.totals().cost ?? 0, 9)
    // The client alone would have paid for a summary, too.
    expect(report.balance).toBe(0)
  })

  test('writes to the cache what the client alone does, within one percent, on levels 1 and 2', async () => {
    const written: number[] = []
    for (const level of ['none', 'observe', 'answer']) {
      const { url, server } = await started({ config: { level: level === 'none' ? 'observe' : level } })
      const client = await talked(level === 'none' ? server.url : url, 20)
      await client.compact()
      const samplings = server.simulator.log.entries.flatMap((entry) => entry.samplings)
      written.push(samplings.reduce((sum, { write5m, write1h }) => sum + write5m + write1h, 0))
      await setup?.close()
      setup = undefined
    }
    const [alone = 0, observed = 0, answered = 0] = written
    expect(alone).toBeGreaterThan(1_000)
    expect(observed).toBe(alone)
    expect(Math.abs(answered / alone - 1)).toBeLessThan(0.01)
  })

  test('with words of the user passes them on', async () => {
    const { url, requests } = await started()
    const client = await talked(url)
    requests.splice(0)
    await client.compact(
      `${prompt}\n\nAdditional Instructions:\nKeep the schema decisions.\n\nREMINDER: Do NOT call any tools.`,
    )
    expect(textOf(requests[0]?.messages.at(-1)?.content)).toContain('Keep the schema decisions.')
    expect(textOf(requests[0]?.messages.at(-1)?.content)).not.toContain('REMINDER: Do NOT')
  })

  test('passes on as it came when the gateway cannot write a summary', async () => {
    const requests: ScriptRequest[] = []
    const script = forgetful(requests)
    const { url, lines } = await started({
      script: (request, context) => {
        const last = textOf(request.messages.at(-1)?.content)
        const isOurs = /summary/i.test(last) && !last.includes('TEXT ONLY')
        return isOurs ? { content: [], stop_reason: 'refusal' } : script(request, context)
      },
    })
    const client = await talked(url)
    const { summary } = await client.compact()
    expect(summary).toBe('by the client')
    expect(lines.filter(({ event }) => event === 'no-handover')).toHaveLength(1)
  })

  test('is kept alive with pings while the summary is written, also where it then passes on as it came', async () => {
    for (const isRefused of [false, true]) {
      const script = forgetful([])
      const { url } = await started({
        config: { level: 'answer', limits: { pingMs: 30 } },
        simulator: { latency: { first: 200 } },
        script: (request, context) => {
          const last = textOf(request.messages.at(-1)?.content)
          const isOurs = /summary/i.test(last) && !last.includes('TEXT ONLY')
          return isOurs && isRefused ? { content: [], stop_reason: 'refusal' } : script(request, context)
        },
      })
      const client = new Anthropic({ apiKey: 'any', baseURL: url, maxRetries: 0, defaultHeaders })
      const rounds = Array.from({ length: 6 }, (_, at) => [
        { role: 'user' as const, content: at === 0 ? `Read the reports. ${rule}` : `Go on with step ${at}.` },
        { role: 'assistant' as const, content: `Answer ${at}. ${'The total is in cents and stays so. '.repeat(60)}` },
      ])
      const messages = [...rounds.flat(), { role: 'user' as const, content: prompt }]
      const answer = await client.messages.create({ model, max_tokens: 2_000, stream: true, messages }).asResponse()
      const text = await answer.text()
      expect(text.startsWith('event: ping\n')).toBe(true)
      expect(text.match(/event: message_start/g)).toHaveLength(1)
      expect(text.includes('by the client')).toBe(isRefused)
      expect(text.trimEnd().endsWith('"message_stop"}')).toBe(true)
      await setup?.close()
      setup = undefined
    }
  })

  test('that is quoted earlier in the conversation is no compaction', async () => {
    const { url, requests } = await started()
    const client = claudeCode(url)
    await client.say(`Explain this prompt to me: ${prompt}`)
    await client.say(prompt.replace('CRITICAL', 'What does CRITICAL'))
    expect(requests).toHaveLength(2)
    expect(requests.map(({ messages }) => textOf(messages.at(-1)?.content).includes('TEXT ONLY'))).toEqual([true, true])
  })
})

describe('a compaction of Codex', () => {
  const metadata = (kind: string) => ({
    'x-codex-turn-metadata': JSON.stringify({ request_kind: kind, compaction: { trigger: 'manual' } }),
  })

  test.each([
    ['by its words', codexPrompt, {}],
    ['by its header, whatever its words', 'Sum it up.', metadata('compaction')],
  ])('is answered, recognized %s', async (_, asked, headers) => {
    const { url, sessions } = await started()
    const client = new OpenAI({
      apiKey: 'any',
      baseURL: `${url}/v1`,
      maxRetries: 0,
      defaultHeaders: { 'thread-id': 'codex-1' },
    })
    const shared = { model: 'gpt-5', store: false, instructions: 'Be brief.' }
    let input: object[] = []
    for (const text of [`Read the reports. ${rule}`, 'Go on.', 'And on.', 'More.']) {
      input = [...input, { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }]
      const { output } = await client.responses.create({ ...shared, input: input as never })
      input = [...input, ...output]
    }
    const last = { type: 'message', role: 'user', content: [{ type: 'input_text', text: asked }] }
    const stream = await client.responses.create(
      { ...shared, stream: true, input: [...input, last] as never },
      { headers },
    )
    const types: string[] = []
    let text = ''
    for await (const event of stream) {
      types.push(event.type)
      if (event.type === 'response.output_item.done' && event.item.type === 'message')
        text = textOf(event.item.content.map((part) => ({ ...part, type: 'text' })) as never)
    }
    expect(types.at(-1)).toBe('response.completed')
    expect(text).toContain(rule)
    expect(spoken((await sessions()).get('codex-1'))).toHaveLength(8)
  })
})

test('the level of a key goes before that of the gateway', async () => {
  const secret = 'k'.repeat(32)
  const { url } = await started({
    config: { level: 'answer', keys: [{ name: 'a', tenant: 't', level: 'observe', secrets: [secret] }] },
  })
  const client = new Anthropic({
    apiKey: 'any',
    baseURL: url,
    defaultHeaders: { ...defaultHeaders, 'x-everlong-key': secret },
  })
  const messages = [{ role: 'user' as const, content: prompt }]
  const answer = await client.messages.create({ model, max_tokens: 100, messages })
  expect(textOf(answer.content as never)).toBe('<summary>by the client</summary>')
})

test('only the last message is looked at', () => {
  const asked = { model, system: '', tools: [], isStreamed: true }
  const said = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })
  expect(compactionIn({ ...asked, messages: [said(prompt), said('Thanks.')] }, {})).toBe(undefined)
  expect(compactionIn({ ...asked, messages: [said('Hello.'), said(prompt)] }, {})).toMatchObject({
    client: 'claude-code',
    trigger: 'auto',
  })
  expect(compactionIn({ ...asked, messages: [{ ...said(prompt), role: 'assistant' }] }, {})).toBe(undefined)
})

test('the level of a key goes before that of the configuration', async () => {
  const secret = 'a'.repeat(32)
  const keys = [{ name: 'ann', tenant: 'acme', secrets: [secret], level: 'answer' }]
  const { url, requests } = await started({ config: { level: 'observe', keys } })
  const headers = { ...defaultHeaders, 'x-everlong-key': secret }
  const client = new Anthropic({ apiKey: 'any', baseURL: url, defaultHeaders: headers, maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: `Read the reports. ${rule}` },
    { role: 'assistant', content: 'They are read. '.repeat(200) },
    { role: 'user', content: prompt },
  ]
  const { content } = await client.messages.create({ model, max_tokens: 2_000, tools, messages })
  expect(textOf(content as never)).toContain('Written by Everlong.')
  expect(requests.filter((request) => textOf(request.messages.at(-1)?.content).includes('TEXT ONLY'))).toEqual([])
})
