import { expect, test } from 'vitest'
import { everlong } from '../../anthropic.ts'
import type { EngineEvent } from '../../core/ports/events.ts'
import { scripted } from '../../core/session/testing/world.ts'
import { offline } from '../../models/offline.ts'

const first = { role: 'user', content: 'Hello.' }
const second = [first, { role: 'assistant', content: 'Hi.' }, { role: 'user', content: 'Go on.' }]

test('a request waits for the usage of the streamed answer before it, which is known when the stream has ended', async () => {
  const events: EngineEvent[] = []
  const { middleware: own } = everlong({
    model: offline(),
    environment: {},
    onEvent: (event) => void events.push(event),
  })
  let end: (() => void) | undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  async function* stream() {
    yield { type: 'message_start', message: { usage: { input_tokens: 4_000, output_tokens: 1 } } }
    await ended
    yield { type: 'message_delta', usage: { output_tokens: 7, input_tokens: null } }
  }
  const request = (messages: readonly object[]) =>
    ({
      ...{ url: 'https://api.test/v1/messages', method: 'POST', headers: {} },
      body: JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 9, stream: true, messages }),
    }) as never
  const context = { parse: async () => stream(), logger: console } as never
  let sent = 0
  const next = async () => {
    sent++
    return new Response('')
  }
  await own(request([first]), next, context)
  const again = own(request(second), next, context)
  await new Promise((resolve) => setImmediate(resolve))
  expect(sent).toBe(1)
  end?.()
  await again
  const checked = events.filter((event) => event.type === 'threshold-checked').map(({ tokens }) => tokens)
  expect(checked.at(-1)).toBeGreaterThan(4_000)
})

const refused = (status: number, type: string, message: string) =>
  Response.json({ type: 'error', error: { type, message } }, { status })
const tooLong = (tokens: number) =>
  refused(400, 'invalid_request_error', `prompt is too long: ${tokens} tokens > 200000 maximum`)

test.each([
  ['is an answer', () => Response.json({ id: 'm' }), 1],
  ['is too long as well', () => tooLong(210_000), 0],
  ['is refused for another reason', () => refused(401, 'authentication_error', 'invalid x-api-key'), 1],
])('of a request that is sent again the right response is returned: the second one %s', async (_, again, expected) => {
  const { middleware } = everlong({ model: offline(), environment: {} })
  const messages = Array.from({ length: 20 }, (_, at) => [
    { role: 'user', content: `Question ${at}: ${'why is that so? '.repeat(100)}` },
    { role: 'assistant', content: `Answer ${at}: ${'because. '.repeat(100)}` },
  ]).flat()
  const sent: string[] = []
  const responses: Response[] = []
  const next = async ({ body }: { readonly body?: unknown }) => {
    sent.push(String(body))
    const response = responses.length === 0 ? tooLong(220_000) : again()
    responses.push(response)
    return response
  }
  const request = {
    ...{ url: 'https://api.test/v1/messages', method: 'POST', headers: {} },
    body: JSON.stringify({ model: 'claude-sonnet-4-6', max_tokens: 900, messages: [...messages, first] }),
  }
  const context = { parse: async (response: Response) => response.json(), logger: console } as never
  const returned = await middleware(request as never, next as never, context)
  expect(sent.map(({ length }) => length < (sent[0]?.length ?? 0) / 2)).toEqual([false, true])
  expect(responses.indexOf(returned as Response)).toBe(expected)
})

test('after the host has changed the model, summaries are asked of the model that it calls now', async () => {
  const asked: string[] = []
  const { middleware, session } = everlong({ environment: {}, sessionId: 'chat' })
  const message = (text: string) => ({
    ...{ id: 'm', type: 'message', role: 'assistant', model: 'x', stop_reason: 'end_turn' },
    ...{ content: [{ type: 'text', text }], usage: { input_tokens: 10, output_tokens: 5 } },
  })
  const next = async (request: { readonly body?: unknown }) => {
    const { model } = JSON.parse(String(request.body)) as { readonly model: string }
    asked.push(model)
    return Response.json(message('<summary>\n1. Primary request and intent:\n- Talk.\n</summary>'))
  }
  const context = { parse: async () => message('Hi.'), logger: console } as never
  const long = Array.from({ length: 8 }, (_, at) => [
    { role: 'user', content: `Question ${at}: ${'why is that so? '.repeat(100)}` },
    { role: 'assistant', content: `Answer ${at}: ${'because. '.repeat(100)}` },
  ]).flat()
  const call = (model: string, messages: readonly object[]) =>
    middleware(
      {
        ...{ url: 'https://api.test/v1/messages', method: 'POST', headers: {} },
        body: JSON.stringify({ model, max_tokens: 900, messages }),
      } as never,
      next as never,
      context,
    )
  await call('claude-sonnet-4-6', [...long, first])
  await call('claude-opus-4-5', [
    ...long,
    first,
    { role: 'assistant', content: 'Hi.' },
    { role: 'user', content: 'Go on.' },
  ])
  asked.length = 0
  await (await session('chat')).compact()
  expect(new Set(asked)).toEqual(new Set(['claude-opus-4-5']))
})

/** Two rounds: the first calls a tool, the second ends. */
function toolRunner(model: string, rounds: readonly (readonly object[])[]) {
  const call = (at: number) => ({ type: 'tool_use', id: `toolu_${at}`, name: 'Read', input: {} })
  let params = { model, max_tokens: 900, tools: [], messages: [first] as readonly object[] }
  let at = 0
  const runner = {
    get params() {
      return params
    },
    generateToolResponse: async () =>
      at < rounds.length
        ? { role: 'user', content: [{ type: 'tool_result', tool_use_id: `toolu_${at}`, content: 'A file.' }] }
        : null,
    setMessagesParams: (next: typeof params) => {
      params = next
    },
    async *[Symbol.asyncIterator]() {
      for (; at < rounds.length; at++) {
        yield {
          role: 'assistant',
          content: [...(rounds[at] ?? []), call(at)],
          usage: { input_tokens: 9, output_tokens: 1 },
        }
      }
    },
  }
  return runner
}

test('a tool runner without middleware is counted by its own model, and summaries are asked of the given one', async () => {
  const model = scripted(() => '<summary>\n1. Primary request and intent:\n- Talk.\n</summary>', {
    model: 'claude-haiku-4-5',
  })
  const { runTools, session } = everlong({ model, environment: {} })
  const long = [{ type: 'text', text: 'It is so because of that. '.repeat(800) }]
  for await (const _ of runTools(toolRunner('claude-opus-4-5', [long, long, long]) as never, { sessionId: 'chat' })) {
    // Only the session matters here.
  }
  const chat = await session('chat')
  expect(chat.explain().model).toBe('claude-opus-4-5')
  await chat.compact()
  expect(model.requests.map((request) => request.source)).toContain('compact')
})

test('a tool runner without middleware and without a model is told what to do', async () => {
  const { runTools } = everlong({ environment: {} })
  const run = async () => {
    for await (const _ of runTools(toolRunner('claude-opus-4-5', [[], []]) as never, { sessionId: 'chat' })) {
      // Fails after the first round.
    }
  }
  await expect(run).rejects.toThrow('or pass `model` to everlong()')
})
