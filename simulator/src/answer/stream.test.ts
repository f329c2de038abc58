// Streams in the documented order: plain answers, tools, thinking, compaction.
import type { Block } from 'everlong'
import { isObject, type JsonObject } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import type { SimulatorOptions } from '../api/world.ts'
import { ask, eventsIn, send, simulate } from '../testing/ask.ts'

const base = { model: 'claude-opus-5', max_tokens: 1_000, messages: [{ role: 'user', content: 'Go on.' }] }

async function events(content: readonly Block[], more: object = {}, options: Partial<SimulatorOptions> = {}) {
  const simulator = simulate({ script: () => ({ content }), ids: (kind) => `${kind}_1`, ...options })
  const headers = { 'anthropic-beta': 'compact-2026-01-12,compact-2026-09-04' }
  return eventsIn(await send(simulator, { ...base, stream: true, ...more }, { headers }))
}

/** `content_block_delta:text_delta`, for reading the order at a glance. */
function names(list: readonly JsonObject[]): readonly string[] {
  return list.map((event) => {
    const inner = event.delta ?? event.content_block
    const kind = isObject(inner) && typeof inner.type === 'string' ? `:${inner.type}` : ''
    return `${String(event.type)}${kind}`
  })
}

function usage(input: number, output: number) {
  return { input_tokens: input, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: output }
}

const startUsage = {
  ...usage(7, 1),
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  service_tier: 'standard',
}

describe('a stream', () => {
  test('of a plain answer', async () => {
    expect(await events([{ type: 'text', text: 'Hello there.' }])).toEqual([
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'claude-opus-5',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: startUsage,
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'ping' },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello there.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: usage(7, 3) },
      { type: 'message_stop' },
    ])
  })

  test('of thinking, text and a tool use', async () => {
    const content = [
      { type: 'thinking', thinking: 'Let me see.' },
      { type: 'redacted_thinking' },
      { type: 'text', text: 'Reading.' },
      { type: 'tool_use', name: 'read', input: { path: 'a.ts' } },
    ]
    const list = await events(content, { thinking: { type: 'adaptive', display: 'summarized' } })
    expect(names(list)).toEqual([
      'message_start',
      'content_block_start:thinking',
      'ping',
      'content_block_delta:thinking_delta',
      'content_block_delta:signature_delta',
      'content_block_stop',
      'content_block_start:redacted_thinking',
      'content_block_stop',
      'content_block_start:text',
      'content_block_delta:text_delta',
      'content_block_stop',
      'content_block_start:tool_use',
      'content_block_delta:input_json_delta',
      'content_block_delta:input_json_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    const starts = list.filter((event) => event.type === 'content_block_start').map((event) => event.content_block)
    expect(starts[0]).toEqual({ type: 'thinking', thinking: '', signature: '' })
    expect(starts[3]).toEqual({ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} })
    expect(list.at(-2)).toMatchObject({ delta: { stop_reason: 'tool_use' } })
  })

  test('of thinking whose text is kept back, as current models do unasked', async () => {
    const list = await events([
      { type: 'thinking', thinking: 'Let me see.' },
      { type: 'text', text: 'Yes.' },
    ])
    expect(names(list).slice(1, 5)).toEqual([
      'content_block_start:thinking',
      'ping',
      'content_block_delta:signature_delta',
      'content_block_stop',
    ])
  })

  test('of an empty answer', async () => {
    expect(names(await events([]))).toEqual(['message_start', 'ping', 'message_delta', 'message_stop'])
  })

  test('of a compaction: usage before it at the start, after it at the end', async () => {
    const edits = [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 50_000 } }]
    const messages = [{ role: 'user', content: 'word '.repeat(60_000) }]
    const list = await events([{ type: 'text', text: 'On we go.' }], { messages, context_management: { edits } })
    expect(names(list)).toEqual([
      'message_start',
      'content_block_start:compaction',
      'ping',
      'content_block_delta:compaction_delta',
      'content_block_stop',
      'content_block_start:text',
      'content_block_delta:text_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    const { body } = await ask(simulate(), { model: base.model, messages }, { path: '/v1/messages/count_tokens' })
    expect(list[0]).toMatchObject({
      message: { usage: { input_tokens: body.input_tokens }, context_management: null },
    })
    expect(list[1]).toEqual({
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'compaction', content: null },
    })
    expect(list[3]).toMatchObject({
      delta: { content: expect.stringContaining('1 messages'), encrypted_content: expect.any(String) },
    })
    const last = list.at(-2) as { usage: { input_tokens: number; iterations: JsonObject[] } }
    expect(last).toMatchObject({ context_management: { applied_edits: [] }, delta: { stop_reason: 'end_turn' } })
    expect(last.usage.iterations.map(({ type }) => type)).toEqual(['compaction', 'message'])
    expect(last.usage.iterations[1]?.input_tokens).toBe(last.usage.input_tokens)
    expect(last.usage.input_tokens).toBeLessThan(300)
  })

  test('of an on-demand compaction: the block comes whole', async () => {
    const list = await events([], { compaction: { type: 'summarize' } })
    expect(names(list)).toEqual([
      'message_start',
      'content_block_start:compaction',
      'ping',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
    expect(list[1]).toMatchObject({ content_block: { content: expect.any(String), signature: expect.any(String) } })
    expect(list.at(-2)).toMatchObject({
      delta: { stop_reason: 'compaction' },
      usage: { input_tokens: 0, output_tokens: 0 },
    })
  })

  test('pings as often as asked', async () => {
    const list = await events([{ type: 'text', text: 'word '.repeat(100) }], {}, { pingEvery: 5 })
    expect(names(list).filter((name) => name === 'ping')).toHaveLength(3)
  })

  test('parts text between characters, never inside one', async () => {
    const text = '🎈'.repeat(200)
    const list = await events([{ type: 'text', text: `a${text}` }])
    const parts = list.flatMap((event) => (isObject(event.delta) && event.delta.text ? [String(event.delta.text)] : []))
    expect(parts.join('')).toBe(`a${text}`)
    expect(parts.every((part) => part.isWellFormed())).toBe(true)
  })

  test('takes the time that latency asks for', async () => {
    let slept = 0
    const sleep = async (time: number) => {
      slept += time
    }
    const clock = { now: () => 0, sleep }
    const list = await events([{ type: 'text', text: 'Hi' }], {}, { clock, latency: { first: 1_000, perEvent: 10 } })
    expect(slept).toBe(1_000 + (list.length + 1) * 10)
  })

  test('ends when its reader goes away', async () => {
    const simulator = simulate({ script: () => ({ content: [{ type: 'text', text: 'word '.repeat(10_000) }] }) })
    const response = await send(simulator, { ...base, max_tokens: 20_000, stream: true })
    const reader = response.body!.getReader()
    await reader.read()
    await expect(reader.cancel()).resolves.toBeUndefined()
  })
})

describe('an answer', () => {
  const tell = (content: readonly Block[], more: object = {}, endless = false) =>
    ask(simulate({ script: () => ({ content, endless }) }), { ...base, ...more })

  test('stops at the first stop sequence', async () => {
    const told = await tell([{ type: 'text', text: 'one two three' }], { stop_sequences: ['three', ' two'] })
    expect(told.body).toMatchObject({
      content: [{ type: 'text', text: 'one' }],
      stop_reason: 'stop_sequence',
      stop_sequence: ' two',
    })
  })

  test('that is cut says so, whatever reason to stop the script gave', async () => {
    const script = () => ({ content: [{ type: 'text', text: 'one two three four five' }], stopReason: 'pause_turn' })
    const reasonFor = async (max_tokens: number) =>
      (await ask(simulate({ script }), { ...base, max_tokens })).body.stop_reason
    expect([await reasonFor(3), await reasonFor(100)]).toEqual(['max_tokens', 'pause_turn'])
  })

  test('is cut at max_tokens', async () => {
    const told = await tell([{ type: 'text', text: 'one two three four five' }], { max_tokens: 3 })
    expect(told.body).toMatchObject({
      content: [{ type: 'text', text: 'one two three' }],
      stop_reason: 'max_tokens',
      usage: { output_tokens: 3 },
    })
  })

  test('without an end runs to max_tokens', async () => {
    const told = await tell([{ type: 'text', text: 'again' }], { max_tokens: 500 }, true)
    expect(told.body).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 500 } })
  })

  test('leaves out a tool use that does not fit', async () => {
    const use = { type: 'tool_use', name: 'write', input: { text: 'word '.repeat(100) } }
    const told = await tell([{ type: 'text', text: 'Writing.' }, use], { max_tokens: 50 })
    expect(told.body).toMatchObject({ content: [{ type: 'text', text: 'Writing.' }], stop_reason: 'max_tokens' })
  })

  test('keeps the text of thinking back where asked, at the same cost, and takes the block again', async () => {
    const simulator = simulate({
      script: () => ({
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'Yes.' },
        ],
      }),
    })
    const body = { ...base, thinking: { type: 'adaptive', display: 'omitted' } }
    const told = await ask(simulator, body)
    expect(told.body.content).toEqual([
      { type: 'thinking', thinking: '', signature: expect.any(String) },
      { type: 'text', text: 'Yes.' },
    ])
    const open = await ask(simulator, { ...body, thinking: { type: 'adaptive', display: 'summarized' } })
    expect(open.body.usage).toEqual(told.body.usage)
    const goOn = async (content: unknown) => {
      const messages = [...base.messages, { role: 'assistant', content }, { role: 'user', content: 'And?' }]
      return (await ask(simulator, { ...body, messages })).body.usage
    }
    expect(await goOn(told.body.content)).toEqual(await goOn(open.body.content))
    expect(await goOn(told.body.content)).toMatchObject({ input_tokens: 25 })
  })

  test('has no thinking when thinking is off', async () => {
    const told = await tell(
      [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Yes.' },
      ],
      { thinking: { type: 'disabled' } },
    )
    expect(told.body.content).toEqual([{ type: 'text', text: 'Yes.' }])
  })
})
