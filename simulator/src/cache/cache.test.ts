// The prompt cache, case by case against the documented rules: what changes → what is read, written, missed, and why.
import { isObject, type JsonObject } from 'everlong/internal'
import { beforeEach, describe, expect, test } from 'vitest'
import { type TurnableClock, turnableClock } from '../ports.ts'
import type { Simulator } from '../simulator.ts'
import { ask, simulate } from '../testing/ask.ts'

const minute = 60_000
const mark = (ttl?: '1h') => ({ cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) } })
const text = (name: string, more: object = {}) => ({ type: 'text', text: `${name} `.repeat(600), ...more })
const user = (...content: unknown[]) => ({ role: 'user', content })
const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
const tool = (name: string, more: object = {}) => ({
  name,
  description: `${name} `.repeat(600),
  input_schema: { type: 'object' },
  ...more,
})

/** Three layers, each marked: tools, system, messages. */
const base = {
  model: 'claude-opus-5',
  max_tokens: 10,
  tools: [tool('read', mark())],
  system: [text('system', mark())],
  messages: [user(text('first', mark()))],
}

let clock: TurnableClock
let simulator: Simulator
let tokens: { tools: number; system: number; messages: number }

type Split = { read: number; written: number; hour: number; input: number }

async function usage(body: object, headers: Record<string, string> = {}): Promise<Split> {
  const told = await ask(simulator, body, { headers })
  const found = told.body.usage
  if (!isObject(found) || !isObject(found.cache_creation)) throw new Error(JSON.stringify(told.body))
  const hour = Number(found.cache_creation.ephemeral_1h_input_tokens)
  expect(found.cache_creation_input_tokens).toBe(hour + Number(found.cache_creation.ephemeral_5m_input_tokens))
  return {
    read: Number(found.cache_read_input_tokens),
    written: Number(found.cache_creation_input_tokens) - hour,
    hour,
    input: Number(found.input_tokens),
  }
}

async function count(body: JsonObject): Promise<number> {
  const { max_tokens: _, ...rest } = body
  return Number((await ask(simulator, rest, { path: '/v1/messages/count_tokens' })).body.input_tokens)
}

beforeEach(async () => {
  clock = turnableClock()
  simulator = simulate({ clock })
  const hello = { ...base, messages: [user({ type: 'text', text: 'x' })] }
  const small = await count({ model: base.model, messages: hello.messages })
  const tools = (await count({ ...hello, system: [] })) - small
  const system = (await count(hello)) - small - tools
  tokens = { tools, system, messages: (await count(base)) - tools - system }
})

const whole = () => tokens.tools + tokens.system + tokens.messages

describe('a request sent twice', () => {
  test('is written whole, then read whole', async () => {
    expect(await usage(base)).toEqual({ read: 0, written: whole(), hour: 0, input: 0 })
    expect(await usage(base)).toEqual({ read: whole(), written: 0, hour: 0, input: 0 })
  })

  type Change = { name: string; change: () => object; read: () => number }
  const more = user(text('first', mark()), text('second', mark()))
  const changes: readonly Change[] = [
    {
      name: 'nothing changes but a mark that moves on',
      change: () => ({ messages: [user(text('first'), text('second', mark()))] }),
      read: whole,
    },
    { name: 'a block is appended', change: () => ({ messages: [more] }), read: whole },
    {
      name: 'content comes as a string instead of a block',
      change: () => ({
        messages: [{ role: 'user', content: 'first '.repeat(600) }, assistant(text('b')), user(text('c', mark()))],
      }),
      read: whole,
    },
    {
      name: 'the first message changes',
      change: () => ({ messages: [user(text('other', mark()))] }),
      read: () => tokens.tools + tokens.system,
    },
    {
      name: 'the system prompt changes',
      change: () => ({ system: [text('other', mark())] }),
      read: () => tokens.tools,
    },
    { name: 'a tool changes', change: () => ({ tools: [tool('write', mark())] }), read: () => 0 },
    { name: 'a tool is put before the others', change: () => ({ tools: [tool('a'), ...base.tools] }), read: () => 0 },
    { name: 'the model changes', change: () => ({ model: 'claude-fable-5' }), read: () => 0 },
    {
      name: 'the tool choice changes',
      change: () => ({ tool_choice: { type: 'none' } }),
      read: () => tokens.tools + tokens.system,
    },
    {
      name: 'thinking is switched off',
      change: () => ({ thinking: { type: 'disabled' } }),
      read: () => tokens.tools + tokens.system,
    },
    {
      name: 'the effort is named that was meant all along',
      change: () => ({ output_config: { effort: 'high' } }),
      read: whole,
    },
    { name: 'the speed changes', change: () => ({ speed: 'fast' }), read: () => tokens.tools },
    {
      name: 'the effort changes',
      change: () => ({ output_config: { effort: 'low' } }),
      read: () => tokens.tools + tokens.system,
    },
    {
      name: 'an image comes in',
      change: () => ({
        messages: [
          user(text('first', mark()), { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
        ],
      }),
      read: () => tokens.tools + tokens.system,
    },
    { name: 'max_tokens changes', change: () => ({ max_tokens: 11 }), read: whole },
    {
      name: 'all marks go',
      change: () => ({ tools: [tool('read')], system: [text('system')], messages: [user(text('first'))] }),
      read: () => 0,
    },
  ]
  test.each(changes)('reads what still stands when $name', async ({ change, read }) => {
    await usage(base)
    const again = await usage({ ...base, ...change() })
    expect(again.read).toBe(read())
  })

  test('is not read by another organization', async () => {
    await usage(base)
    expect((await usage(base, { 'x-api-key': 'another' })).read).toBe(0)
  })
})

describe('lifetimes', () => {
  test('end five minutes after the last use', async () => {
    await usage(base)
    clock.turn(5 * minute - 1)
    expect((await usage(base)).read).toBe(whole())
    clock.turn(5 * minute - 1)
    expect((await usage(base)).read).toBe(whole())
    clock.turn(5 * minute)
    expect(await usage(base)).toEqual({ read: 0, written: whole(), hour: 0, input: 0 })
  })

  test('of an hour outlast those of five minutes, and are counted apart', async () => {
    const mixed = { ...base, tools: [tool('read', mark('1h'))], system: [text('system', mark('1h'))] }
    expect(await usage(mixed)).toEqual({
      read: 0,
      hour: tokens.tools + tokens.system,
      written: tokens.messages,
      input: 0,
    })
    clock.turn(59 * minute)
    expect(await usage(mixed)).toEqual({
      read: tokens.tools + tokens.system,
      hour: 0,
      written: tokens.messages,
      input: 0,
    })
    clock.turn(60 * minute)
    expect((await usage(mixed)).read).toBe(0)
  })

  test('count from the start of a request, not from its end', async () => {
    simulator = simulate({ clock, latency: { first: 4 * minute } })
    await usage(base)
    clock.turn(minute)
    expect((await usage(base)).read).toBe(0)
  })

  test('begin when the answer begins: requests at the same time do not help each other', async () => {
    const both = await Promise.all([usage(base), usage(base)])
    expect(both.map(({ read }) => read)).toEqual([0, 0])
    expect((await usage(base)).read).toBe(whole())
  })
})

describe('breakpoints', () => {
  const small = (count: number) => Array.from({ length: count }, (_, at) => ({ type: 'text', text: `block ${at}` }))
  const grown = (count: number) => ({
    model: base.model,
    max_tokens: 10,
    messages: [user(text('first'), ...small(count).slice(0, -1), { type: 'text', text: 'end', ...mark() })],
  })

  test('look back over twenty blocks, themselves included', async () => {
    const first = await usage({ model: base.model, max_tokens: 10, messages: [user(text('first', mark()))] })
    expect((await usage(grown(19))).read).toBe(first.written)
    simulator = simulate({ clock })
    await usage({ model: base.model, max_tokens: 10, messages: [user(text('first', mark()))] })
    expect((await usage(grown(20))).read).toBe(0)
  })

  test('find an older entry with a second mark when more than twenty blocks were added', async () => {
    const first = await usage({ model: base.model, max_tokens: 10, messages: [user(text('first', mark()))] })
    const { messages, ...rest } = grown(40)
    const content = messages[0]?.content ?? []
    const again = await usage({ ...rest, messages: [user(text('first', mark()), ...content.slice(1))] })
    expect(again.read).toBe(first.written)
  })

  test('are the only places where entries stand', async () => {
    await usage({ ...base, messages: [user(text('first'), text('second', mark()))] })
    const shorter = await usage({ ...base, messages: [user(text('first', mark()))] })
    expect(shorter).toEqual({ read: tokens.tools + tokens.system, written: tokens.messages, hour: 0, input: 0 })
  })

  test('inside what was read leave no entry: nothing was written there', async () => {
    const long = { ...base, messages: [user(text('first'), text('second', mark()))] }
    await usage(long)
    await usage({ ...base, messages: [user(text('first', mark()), text('second', mark()))] })
    const other = await usage({ ...base, messages: [user(text('first', mark()), text('third'))] })
    expect([other.read, other.written]).toEqual([tokens.tools + tokens.system, tokens.messages])
  })

  test('below the minimum of the model leave no trace', async () => {
    const short = { model: 'claude-opus-4-5', max_tokens: 10, messages: [user(text('first', mark()))] }
    const first = await usage(short)
    expect([first.written, first.input > 600]).toEqual([0, true])
    expect(await usage(short)).toEqual(first)
  })

  test('leave what follows the last one as plain input', async () => {
    const { input, written } = await usage({
      ...base,
      messages: [user(text('first', mark()), { type: 'text', text: 'and then' })],
    })
    expect({ input, written }).toEqual({ input: 2, written: whole() })
  })

  test('stand on the last block by themselves when the mark is on the request', async () => {
    const automatic = {
      ...base,
      tools: [tool('read')],
      system: [text('system')],
      messages: [user(text('first'))],
      ...mark(),
    }
    expect(await usage(automatic)).toEqual({ read: 0, written: whole(), hour: 0, input: 0 })
    const next = {
      ...automatic,
      messages: [...automatic.messages, assistant(text('b')), user({ type: 'text', text: 'c' })],
    }
    const { read, input } = await usage(next)
    expect({ read, input }).toEqual({ read: whole(), input: 0 })
  })

  test('inside a tool result mark the result', async () => {
    const use = { type: 'tool_use', id: 't1', name: 'read', input: {} }
    const result = { type: 'tool_result', tool_use_id: 't1', content: [text('found', mark())] }
    const body = { model: base.model, max_tokens: 10, messages: [user(text('a')), assistant(use), user(result)] }
    const first = await usage(body)
    expect(first.input).toBe(0)
    expect((await usage(body)).read).toBe(first.written)
  })
})

test('thinking that a model does not keep takes the cache with it at the next question', async () => {
  const read = async (model: string) => {
    const thinker = simulate({
      script: () => ({
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'Yes.' },
        ],
      }),
    })
    const thinking = model === 'claude-opus-4-6' ? { type: 'adaptive' } : { type: 'enabled', budget_tokens: 1_024 }
    const body = { model, max_tokens: 2_000, thinking, ...mark() }
    const use = { type: 'tool_use', id: 't1', name: 'read', input: {} }
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'word '.repeat(5_000) }
    const first = await ask(thinker, { ...body, messages: [user(text('first'))] })
    const [thought] = first.body.content as [object]
    const loop = [user(text('first')), assistant(thought, use), user(result)]
    await ask(thinker, { ...body, messages: loop })
    const next = [...loop, assistant({ type: 'text', text: 'Done.' }), user({ type: 'text', text: 'And?' })]
    const told = await ask(thinker, { ...body, messages: next })
    return Number((told.body.usage as JsonObject).cache_read_input_tokens)
  }
  expect(await read('claude-opus-4-6')).toBeGreaterThan(5_000)
  expect(await read('claude-sonnet-4-5')).toBeLessThan(1_000)
})

test('max_tokens 0 warms the cache and says nothing', async () => {
  const told = await ask(simulator, { ...base, max_tokens: 0 })
  expect([told.body.content, told.body.stop_reason]).toEqual([[], 'max_tokens'])
  expect((await usage(base)).read).toBe(whole())
})

describe('a diagnosis', () => {
  const missed = async (change: object, first: object = base) => {
    const before = await ask(simulator, { ...first, diagnostics: { previous_message_id: null } })
    expect(before.body.diagnostics).toBeNull()
    const diagnostics = { previous_message_id: before.body.id }
    return (await ask(simulator, { ...base, ...change, diagnostics })).body.diagnostics
  }
  const reason = (type: string, cache_missed_input_tokens?: number) => ({
    cache_miss_reason: { type, ...(cache_missed_input_tokens === undefined ? {} : { cache_missed_input_tokens }) },
  })

  test('names the first layer that changed and what it cost', async () => {
    expect(await missed({ model: 'claude-fable-5' })).toEqual(reason('model_changed', whole()))
    expect(await missed({ tools: [tool('write', mark())] })).toEqual(reason('tools_changed', whole()))
    expect(await missed({ system: [text('other', mark())] })).toEqual(
      reason('system_changed', tokens.system + tokens.messages),
    )
    expect(await missed({ messages: [user(text('other', mark()))] })).toEqual(
      reason('messages_changed', tokens.messages),
    )
    expect(await missed({ speed: 'fast' })).toEqual(reason('model_changed', whole()))
    expect(await missed({ tool_choice: { type: 'none' } })).toEqual(reason('unavailable'))
    expect(await missed({ output_config: { effort: 'low' } })).toEqual(reason('unavailable'))
  })

  test('finds nothing where the conversation only continued', async () => {
    expect(await missed({ messages: [...base.messages, assistant(text('b')), user(text('c', mark()))] })).toBeNull()
  })

  test('says when it does not know the message', async () => {
    const told = await ask(simulator, { ...base, diagnostics: { previous_message_id: 'msg_none' } })
    expect(told.body.diagnostics).toEqual(reason('previous_message_not_found'))
  })
})

test('the meter prices reads, writes of both lifetimes, input and output', async () => {
  await usage({ ...base, tools: [tool('read', mark('1h'))] })
  await usage({
    ...base,
    tools: [tool('read', mark('1h'))],
    messages: [user(text('first', mark()), { type: 'text', text: 'and then' })],
  })
  const totals = simulator.meter.totals()
  const first = tokens.tools * 2 + (tokens.system + tokens.messages) * 1.25
  const second = whole() * 0.1 + 2
  expect(totals).toMatchObject({ requests: 2, read: whole(), write1h: tokens.tools, input: 2 })
  expect(totals.cost).toBeCloseTo(((first + second) * 5 + totals.output * 25) / 1_000_000, 10)
})
