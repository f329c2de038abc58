// Thinking that comes back: genuine or not, after the same prefix or not, and what the request asked for then.
import type { JsonObject } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import type { SimulatorOptions } from '../api/world.ts'
import type { Script } from '../script/script.ts'
import { ask, errorOf, simulate } from '../testing/ask.ts'

type Message = { role: string; content: JsonObject[] }

let calls = 0
const thinker: Script = () => ({
  content: [
    { type: 'thinking', thinking: 'Which file?' },
    { type: 'tool_use', id: `toolu_${++calls}`, name: 'read', input: {} },
  ],
})

const bound = 'claude-fable-5-1'
const unbound = 'claude-opus-5'
const say = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const beta = {
  'anthropic-beta': 'thinking-binding-controls-2026-08-01,compact-2026-09-04,context-management-2025-06-27',
}

/** A conversation of three tool rounds, made by the simulator itself. */
async function conversation(model: string, options: Partial<SimulatorOptions> = {}) {
  const simulator = simulate({ script: thinker, ...options })
  const thinking = { type: 'adaptive' }
  const body = { model, max_tokens: 100, system: 'You read.', thinking, messages: [say('Read three files.')] }
  for (let round = 0; round < 3; round++) {
    const told = await ask(simulator, body)
    const content = told.body.content as JsonObject[]
    const result = { type: 'tool_result', tool_use_id: content[1]?.id, content: `file ${round}` }
    body.messages.push({ role: 'assistant', content }, { role: 'user', content: [result] })
  }
  return { simulator, body }
}

type Talk = Awaited<ReturnType<typeof conversation>>['body']
const edited = (body: Talk, edit: (copy: Talk) => void): Talk => {
  const copy = structuredClone(body)
  edit(copy)
  return copy
}
const isThought = (block: JsonObject) => block.type === 'thinking'
const dropThought = (body: Talk, at: number) => {
  const message = body.messages[at]
  if (message) message.content = message.content.filter((block) => !isThought(block))
}

const mismatch = (path: string) => ({
  type: 'invalid_request_error',
  message: expect.stringMatching(
    new RegExp(
      `^${path}: Invalid \`signature\` in \`thinking\` block\\. The block is bound to a different conversation\\.`,
    ),
  ),
})

describe('on a model that binds thinking', () => {
  test('an unchanged conversation is accepted', async () => {
    const { simulator, body } = await conversation(bound)
    expect((await ask(simulator, body)).status).toBe(200)
  })

  type Edit = readonly [name: string, edit: (body: Talk) => void]
  const refused: readonly (readonly [...Edit, path: string])[] = [
    [
      'a shortened old result',
      (body) => Object.assign(body.messages[2]?.content[0] ?? {}, { content: 'cleared' }),
      'messages.3.content.0',
    ],
    ['another system prompt', (body) => Object.assign(body, { system: 'You write.' }), 'messages.1.content.0'],
    [
      'another tool',
      (body) => Object.assign(body, { tools: [{ name: 'x', input_schema: { type: 'object' } }] }),
      'messages.1.content.0',
    ],
    ['dropped old turns', (body) => void body.messages.splice(1, 2), 'messages.1.content.0'],
    ['a thought dropped from the middle', (body) => dropThought(body, 3), 'messages.5.content.0'],
  ]
  test.each(refused)('%s is refused', async (_name, edit, path) => {
    const { simulator, body } = await conversation(bound)
    const told = await ask(simulator, edited(body, edit))
    expect([told.status, errorOf(told)]).toEqual([400, mismatch(path)])
    const { max_tokens: _, ...counted } = edited(body, edit)
    const count = await ask(simulator, counted, { path: '/v1/messages/count_tokens' })
    expect(errorOf(count)).toEqual(mismatch(path))
  })

  const allowed: readonly Edit[] = [
    [
      'moving the marks',
      (body) => Object.assign(body.messages[2]?.content[0] ?? {}, { cache_control: { type: 'ephemeral' } }),
    ],
    ['dropping the oldest thought', (body) => dropThought(body, 1)],
    ['dropping the newest thought', (body) => dropThought(body, 5)],
    [
      'dropping all thoughts',
      (body) =>
        [1, 3, 5].forEach((at) => {
          dropThought(body, at)
        }),
    ],
    [
      'going on',
      (body) =>
        void body.messages.push({ role: 'assistant', content: [{ type: 'text', text: 'Done.' }] }, say('Thanks.')),
    ],
    [
      'a deferred tool',
      (body) => Object.assign(body, { tools: [{ name: 'x', input_schema: { type: 'object' }, defer_loading: true }] }),
    ],
  ]
  test.each(allowed)('%s is allowed', async (_name, edit) => {
    const { simulator, body } = await conversation(bound)
    const told = await ask(simulator, edited(body, edit))
    expect([told.status, told.body.error]).toEqual([200, undefined])
  })

  test('a thought that was dropped cannot come back', async () => {
    const { simulator, body } = await conversation(bound)
    const forgot = edited(body, (copy) => dropThought(copy, 1))
    const told = await ask(simulator, forgot)
    const content = told.body.content as JsonObject[]
    const result = { type: 'tool_result', tool_use_id: content[1]?.id, content: 'file' }
    const after: Message[] = [
      { role: 'assistant', content },
      { role: 'user', content: [result] },
    ]
    expect((await ask(simulator, { ...forgot, messages: [...forgot.messages, ...after] })).status).toBe(200)
    const back = await ask(simulator, { ...body, messages: [...body.messages, ...after] })
    expect(errorOf(back)).toEqual(mismatch('messages.7.content.0'))
  })

  test('drop_block takes the failing blocks out and says so', async () => {
    const { simulator, body } = await conversation(bound)
    const changed = edited(body, (copy) => Object.assign(copy.messages[2]?.content[0] ?? {}, { content: 'cleared' }))
    const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } }
    const told = await ask(simulator, { ...changed, thinking }, { headers: beta })
    const dropped = (path: string) => ({ type: 'thinking_dropped', path, reason: 'prefix_binding_mismatch' })
    expect(told.body.input_transformations).toEqual([dropped('messages.3.content.0'), dropped('messages.5.content.0')])
    const kept = await ask(simulator, { ...body, thinking }, { headers: beta })
    expect(kept.body.input_transformations).toEqual([])
    const tokens = (one: JsonObject) => Number((one.usage as JsonObject).input_tokens)
    expect(tokens(kept.body) - tokens(told.body)).toBeGreaterThan(8)
  })

  test('an older account is only told, unless it asks for errors', async () => {
    const { simulator, body } = await conversation(bound, { enforcesBinding: false })
    const changed = edited(body, (copy) => Object.assign(copy, { system: 'You write.' }))
    const told = await ask(simulator, changed, { headers: beta })
    expect(told.body.input_transformations).toHaveLength(3)
    expect(told.body.input_transformations).toContainEqual({
      type: 'thinking_mismatch_allowed',
      path: 'messages.1.content.0',
      reason: 'prefix_binding_mismatch',
    })
    const thinking = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'error' } }
    const refused = await ask(simulator, { ...changed, thinking }, { headers: beta })
    expect(errorOf(refused)).toEqual(mismatch('messages.1.content.0'))
  })

  test('thoughts of another model are dropped', async () => {
    const { simulator, body } = await conversation(unbound)
    const told = await ask(simulator, { ...body, model: bound }, { headers: beta })
    expect(told.body.input_transformations).toContainEqual({
      type: 'thinking_dropped',
      path: 'messages.1.content.0',
      reason: 'model_binding_mismatch',
    })
  })

  test('clearing on the server breaks nothing', async () => {
    const { simulator, body } = await conversation(bound)
    const edits = [
      {
        type: 'clear_tool_uses_20250919',
        trigger: { type: 'tool_uses', value: 1 },
        keep: { type: 'tool_uses', value: 1 },
      },
    ]
    const told = await ask(simulator, { ...body, context_management: { edits } }, { headers: beta })
    expect(told.status).toBe(200)
    const content = told.body.content as JsonObject[]
    const result = { type: 'tool_result', tool_use_id: content[1]?.id, content: 'file' }
    const messages = [...body.messages, { role: 'assistant', content }, { role: 'user', content: [result] }]
    expect((await ask(simulator, { ...body, messages })).status).toBe(200)
  })

  test('a tail keeps its thoughts after a summary that the API wrote', async () => {
    const { simulator, body } = await conversation(bound)
    const head = { ...body, messages: body.messages.slice(0, 3) }
    const told = await ask(simulator, { ...head, compaction: { type: 'summarize' } }, { headers: beta })
    const summary = { role: 'assistant', content: told.body.content }
    const tail = { ...body, messages: [summary, ...body.messages.slice(3)] }
    const accepted = await ask(simulator, tail, { headers: beta })
    expect([accepted.status, accepted.body.error]).toEqual([200, undefined])
    const own = { ...body, messages: [say('A summary of my own.'), ...body.messages.slice(3)] }
    expect(errorOf(await ask(simulator, own))).toEqual(mismatch('messages.1.content.0'))
  })
})

describe('on any model', () => {
  test('a changed thought is refused: differently in the latest message', async () => {
    const { simulator, body } = await conversation('claude-opus-4-6')
    const change = (at: number) =>
      edited(body, (copy) => Object.assign(copy.messages[at]?.content[0] ?? {}, { thinking: 'Another thought.' }))
    expect(errorOf(await ask(simulator, change(1)))).toEqual({
      type: 'invalid_request_error',
      message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
    })
    expect(errorOf(await ask(simulator, change(5)))).toEqual({
      type: 'invalid_request_error',
      message:
        'messages.5.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.',
    })
  })

  test('what is written into a thought that came without text is ignored', async () => {
    const { simulator, body } = await conversation(unbound)
    expect(body.messages[1]?.content[0]).toMatchObject({ type: 'thinking', thinking: '' })
    const filled = edited(body, (copy) => Object.assign(copy.messages[5]?.content[0] ?? {}, { thinking: 'Mine.' }))
    expect((await ask(simulator, filled)).status).toBe(200)
  })

  test('thoughts of the latest message come back whole and in order', async () => {
    const script: Script = () => ({
      content: [
        { type: 'thinking', thinking: 'One.' },
        { type: 'redacted_thinking' },
        { type: 'tool_use', id: 'toolu_a', name: 'read', input: {} },
      ],
    })
    const simulator = simulate({ script })
    const first = { model: unbound, max_tokens: 100, messages: [say('Read.')] }
    const [one, two, use] = (await ask(simulator, first)).body.content as [JsonObject, JsonObject, JsonObject]
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_a', content: 'ok' }] }
    const sent = async (...content: JsonObject[]) => {
      const messages = [...first.messages, { role: 'assistant', content }, result]
      return (await ask(simulate(), { ...first, messages })).body.error
    }
    expect(await sent(one, two, use)).toBeUndefined()
    const changed = { type: 'invalid_request_error', message: expect.stringContaining('cannot be modified') }
    expect(await sent(two, use)).toEqual(changed)
    expect(await sent(two, one, use)).toEqual(changed)
  })

  test('an edited past does not matter where thinking is not bound', async () => {
    const { simulator, body } = await conversation(unbound)
    const changed = edited(body, (copy) => Object.assign(copy, { system: 'You write.' }))
    expect((await ask(simulator, changed)).status).toBe(200)
  })

  test('a conversation outlives the simulator when the seed is the same', async () => {
    const { body } = await conversation(bound, { seed: 7 })
    expect((await ask(simulate({ seed: 7 }), body)).status).toBe(200)
    expect((await ask(simulate({ seed: 8 }), body)).status).toBe(400)
  })

  test('foreign signatures pass where a recorded conversation is replayed', async () => {
    const { body } = await conversation(bound, { seed: 7 })
    expect((await ask(simulate({ seed: 8, acceptForeignSignatures: true }), body)).status).toBe(200)
  })
})
