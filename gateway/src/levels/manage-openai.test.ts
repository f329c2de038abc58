// Level 3 for chat completions and the Responses API, with the official client: a loop that would have died of its history.
import { join } from 'node:path'
import { type Script, type ScriptRequest, summarizer, text, toolUse } from '@everlong/simulator'
import { blocksOf, isToolResult, type JsonObject, objectAt, textOf } from 'everlong/internal'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { Report } from '../books/report.ts'
import { sessionsIn } from '../testing/setup.ts'
import { raw, started, upstream } from '../testing/started.ts'

const model = 'gpt-5'
const window = 20_000
const turns = 18
const rule = 'From now on never touch the file schema.sql.'
const asksForSummary = (one: ScriptRequest) =>
  textOf(one.messages.at(-1)?.content).includes('Somebody who has never seen')

function works(requests: ScriptRequest[]): Script {
  const summary = summarizer()
  return (request, context) => {
    requests.push(request)
    if (asksForSummary(request)) return summary(request, context)
    if (blocksOf(request.messages.at(-1)?.content).some(isToolResult)) return text('That is done.')
    return toolUse('Bash', { command: 'npm test' })
  }
}

const output = (at: number) =>
  Array.from({ length: 150 }, (_, line) => `${at}.${line} everything as expected here`).join('\n')
const said = (at: number) => (at === 0 ? `Fix the tests. ${rule}` : `Step ${at}.`)

/** The credential of the first turn is another one than that of all others. */
const keyOf = (at: number) => ({ authorization: `Bearer ${at === 0 ? 'first' : 'later'}` })

type Loop = (url: string) => (at: number) => Promise<void>

const chat: Loop = (url) => {
  const client = new OpenAI({
    apiKey: 'any',
    baseURL: `${url}/v1`,
    maxRetries: 0,
    defaultHeaders: { 'x-everlong-session': 'work' },
  })
  const tools = [{ type: 'function' as const, function: { name: 'Bash', parameters: { type: 'object' } } }]
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'Be brief.' }]
  const send = async (at: number) => {
    const body = { model, tools, messages, max_tokens: 1_000 }
    const answer = (await client.chat.completions.create(body, { headers: keyOf(at) })).choices[0]!.message
    messages.push(answer)
    return answer
  }
  return async (at) => {
    messages.push({ role: 'user', content: said(at) })
    const call = (await send(at)).tool_calls?.[0]
    messages.push({ role: 'tool', tool_call_id: call?.id ?? '', content: output(at) })
    await send(at)
  }
}

const responses: Loop = (url) => {
  const client = new OpenAI({ apiKey: 'any', baseURL: `${url}/v1`, maxRetries: 0 })
  const tools = [{ type: 'function' as const, name: 'Bash', parameters: { type: 'object' }, strict: false }]
  const input: OpenAI.Responses.ResponseInputItem[] = []
  const send = async (at: number) => {
    const body = { model, tools, input, stream: true as const, store: false, prompt_cache_key: 'work' }
    const stream = await client.responses.create({ ...body, instructions: 'Be brief.' }, { headers: keyOf(at) })
    let items: readonly OpenAI.Responses.ResponseOutputItem[] = []
    for await (const event of stream) if (event.type === 'response.completed') items = event.response.output
    input.push(...(items as OpenAI.Responses.ResponseInputItem[]))
    return items
  }
  return async (at) => {
    input.push({ role: 'user', content: said(at) })
    const call = (await send(at)).find((item) => item.type === 'function_call')
    input.push({ type: 'function_call_output', call_id: call?.call_id ?? '', output: output(at) })
    await send(at)
  }
}

describe.each([
  ['chat completions', chat],
  ['the Responses API', responses],
] as const)('%s', (_, loop) => {
  const setUp = async () => {
    const requests: ScriptRequest[] = []
    const simulator = { windows: { [model]: window } }
    return { ...(await started({ script: works(requests), config: { level: 'manage' }, simulator })), requests }
  }

  test('the client alone would have died of it', async () => {
    const turn = loop((await setUp()).server.url)
    await expect(
      (async () => {
        for (let at = 0; at < turns; at++) await turn(at)
      })(),
    ).rejects.toThrow(/context (window|length)/)
  })

  test('the loop continues, with the same bytes again but for a few changes, and the books agree with the upstream', async () => {
    const { url, requests, gateway, sessions, server } = await setUp()
    const turn = loop(url)
    for (let at = 0; at < turns; at++) await turn(at)
    const all = requests
      .filter((one) => !asksForSummary(one))
      .map(({ messages }) => messages.map((one) => JSON.stringify(one)))
    const breaks = all.slice(1).filter((now, at) => !all[at]?.every((one, index) => now[index] === one))
    expect(all).toHaveLength(2 * turns)
    expect(breaks.length).toBeGreaterThan(0)
    expect(breaks.length).toBeLessThan(all.length / 4)
    expect(all.at(-1)?.join('')).toContain(rule)
    // The originals are in the transcript, whole.
    expect(JSON.stringify((await sessions()).get('work'))).toContain('3.149 everything as expected here')
    await gateway.settled()
    const report = (await (await fetch(`${url}/everlong/report`)).json()) as Report
    expect(report.removed.tokens).toBeGreaterThan(10_000)
    expect(report.own.requests).toBe(requests.filter(asksForSummary).length)
    expect(report.requests).toBe(all.length)
    // Summaries are asked for with the newest credential, not with the one that began the conversation.
    const organizations = server.simulator.log.entries.map(({ organization }) => organization)
    expect(organizations.filter((one) => one === 'first')).toHaveLength(2)
    expect(organizations.filter((one) => one === 'later').length).toBeGreaterThan(2 * (turns - 1))
  })
})

test.each([
  ['chat completions', chat],
  ['the Responses API, streamed', responses],
] as const)(
  'the engine gets the usage that the API reported, so that its sizes are no estimates: %s',
  async (_, loop) => {
    const { url, folder, gateway, sessions } = await started({ script: works([]), config: { level: 'manage' } })
    const turn = loop(url)
    for (let at = 0; at < 3; at++) await turn(at)
    const passed = usagesIn((await sessions()).get('work'))
    await gateway.close()
    const known = usagesIn((await sessionsIn(join(folder, 'managed', 'default'))).get('work'))
    expect(passed).toHaveLength(6)
    expect(passed.every((usage) => Number(usage?.input_tokens) > 0)).toBe(true)
    // The last answer is not in the history of a request yet.
    expect(known).toMatchObject(passed.slice(0, -1) as never)
  },
)

const usagesIn = (records: readonly JsonObject[] = []) =>
  records.flatMap((record) => {
    const message = objectAt(record, 'message')
    return message?.role === 'assistant' ? [objectAt(message, 'usage')] : []
  })

test('a client that broke off an answer, or whose request was refused, does not keep the next one waiting', async () => {
  let at = 0
  const { url } = await upstream(() => {
    at++
    if (at === 1)
      return { status: 500, headers: ['content-type', 'application/json'], body: '{"error":{"message":"x"}}' }
    return {
      headers: ['content-type', 'text/event-stream'],
      body: at === 2 ? 'data: {"id":"broken' : 'data: [DONE]\n\n',
    }
  })
  const gateway = await started({ config: { level: 'manage', upstreams: { simulator: { url } } } })
  const body = JSON.stringify({
    model,
    stream: true,
    messages: [{ role: 'user', content: 'x' }],
    prompt_cache_key: 'work',
  })
  const headers = ['host', 'x', 'authorization', 'Bearer k']
  const statuses: number[] = []
  for (let turn = 0; turn < 3; turn++)
    statuses.push((await raw(`${gateway.url}/v1/chat/completions`, { headers, body })).status)
  expect(statuses).toEqual([500, 200, 200])
})

test.each([
  ['/v1/chat/completions', `{ "model": "${model}", "messages": [ {"role":"user","content":"\\u0048ello."} ] }`],
  ['/v1/responses', `{ "model": "${model}", "input": [ {"role":"user","content":"\\u0048ello."} ] }`],
  ['/v1/responses', `{ "model": "${model}", "input": "\\u0048ello." }`],
  [
    '/v1/responses',
    `{ "model": "${model}", "previous_response_id": "r1", "input": [ {"role":"user","content":"x"} ] }`,
  ],
])('a request that needs nothing passes byte for byte: %s %s', async (path, body) => {
  const { got, url } = await upstream(() => ({ body: '{}' }))
  const gateway = await started({ config: { level: 'manage', upstreams: { simulator: { url } } } })
  await raw(`${gateway.url}${path}`, { headers: ['host', 'x', 'authorization', 'Bearer k'], body })
  expect(got.map((one) => one.body.toString())).toEqual([body])
})

test('an upstream’s refusal reaches the client as it is', async () => {
  const error = {
    error: { message: 'No such model.', type: 'invalid_request_error', param: 'model', code: 'model_not_found' },
  }
  const { got, url } = await upstream(() => ({
    status: 404,
    headers: ['content-type', 'application/json'],
    body: JSON.stringify(error),
  }))
  const gateway = await started({ config: { level: 'manage', upstreams: { simulator: { url } } } })
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'x' }] })
  const told = await raw(`${gateway.url}/v1/chat/completions`, {
    headers: ['host', 'x', 'authorization', 'Bearer k'],
    body,
  })
  expect([told.status, JSON.parse(told.body.toString()), got.length]).toEqual([404, error, 1])
})
