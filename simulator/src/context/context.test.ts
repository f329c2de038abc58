// Context management on the server: clearing, compaction by an edit, compaction on demand, and cache edits.
import type { Block } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import type { Script, ScriptRequest } from '../script/script.ts'
import { ask, errorOf, saysHello, simulate } from '../testing/ask.ts'

type Message = { role: string; content: JsonObject[] }
const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more })
const say = (value: string): Message => ({ role: 'user', content: [text(value)] })
const mark = { cache_control: { type: 'ephemeral' } }
const headers = { 'anthropic-beta': 'context-management-2025-06-27,compact-2026-01-12,compact-2026-09-04' }

/** Rounds of one tool use and a result of about so many tokens. */
function rounds(count: number, size: number): Message[] {
  return Array.from({ length: count }, (_, at): Message[] => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `t${at}`, name: at % 2 ? 'write' : 'read', input: { at: 'x '.repeat(20) } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: 'word '.repeat(size) }] },
  ]).flat()
}

const base = { model: 'claude-opus-5', max_tokens: 2_000, messages: [say('Go.'), ...rounds(6, 500)] }

/** Remembers what the script was shown. */
function listening(answer: Script = saysHello) {
  const seen: ScriptRequest[] = []
  const script: Script = (request, context) => {
    seen.push(request)
    return answer(request, context)
  }
  return { seen, script }
}

const resultsSeen = (request: ScriptRequest | undefined) =>
  request?.messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter((block) => block.type === 'tool_result')
    .map((block) => (String(block.content).startsWith('word') ? 'whole' : String(block.content)))

const tokens = (body: JsonObject) => Number((body.usage as JsonObject).input_tokens)

async function edited(edits: readonly object[], body: object = base) {
  const { seen, script } = listening()
  const simulator = simulate({ script })
  const told = await ask(simulator, { ...body, context_management: { edits } }, { headers })
  const { max_tokens: _, ...counted } = { ...base, ...body, context_management: { edits } }
  const count = await ask(simulator, counted, { headers, path: '/v1/messages/count_tokens' })
  const plain = await ask(simulator, body)
  return { told: told.body, count: count.body, plain: plain.body, results: resultsSeen(seen[0]), seen }
}

const gone = '[Old tool result cleared]'
const clear = (more: object = {}) => ({
  type: 'clear_tool_uses_20250919',
  trigger: { type: 'input_tokens', value: 1_000 },
  ...more,
})

describe('clearing tool uses', () => {
  test('keeps the newest three, and says what it cleared', async () => {
    const { told, count, plain, results } = await edited([clear()])
    expect(results).toEqual([gone, gone, gone, 'whole', 'whole', 'whole'])
    const freed = tokens(plain) - tokens(told)
    expect(freed).toBeGreaterThan(1_400)
    const report = { type: 'clear_tool_uses_20250919', cleared_tool_uses: 3, cleared_input_tokens: freed }
    expect(told.context_management).toEqual({ applied_edits: [report] })
    expect(count).toEqual({ input_tokens: tokens(told), context_management: { original_input_tokens: tokens(plain) } })
  })

  test('does nothing below its trigger', async () => {
    const { told, results } = await edited([{ type: 'clear_tool_uses_20250919' }])
    expect(results).toEqual(Array(6).fill('whole'))
    expect(told.context_management).toEqual({ applied_edits: [] })
  })

  test('does nothing when it cannot clear enough', async () => {
    const enough = { clear_at_least: { type: 'input_tokens', value: 5_000 } }
    expect((await edited([clear(enough)])).results).toEqual(Array(6).fill('whole'))
  })

  test('counts tool uses where told to', async () => {
    const keep = { keep: { type: 'tool_uses', value: 1 } }
    const at = (value: number) => clear({ ...keep, trigger: { type: 'tool_uses', value } })
    expect((await edited([at(6)])).results).toEqual(Array(6).fill('whole'))
    expect((await edited([at(5)])).results).toEqual([gone, gone, gone, gone, gone, 'whole'])
  })

  test('spares the tools it is told to spare, and clears inputs it is told to clear', async () => {
    const { results, seen } = await edited([clear({ exclude_tools: ['write'], clear_tool_inputs: ['read'] })])
    expect(results).toEqual([gone, 'whole', gone, 'whole', 'whole', 'whole'])
    const uses = seen[0]?.messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    const inputs = uses
      ?.filter((block) => block.type === 'tool_use')
      .map(({ input }) => Object.keys(input as object).length)
    expect(inputs).toEqual([0, 1, 0, 1, 1, 1])
  })
})

describe('clearing thinking', () => {
  const thinker: Script = () => ({ content: [{ type: 'thinking', thinking: 'hm '.repeat(50) }, text('Yes.')] })

  async function talk(model: string) {
    const simulator = simulate({ script: thinker })
    const messages: Message[] = []
    for (const question of ['one', 'two', 'three']) {
      messages.push(say(question))
      const thinking = { type: 'enabled', budget_tokens: 1_024 }
      const told = await ask(simulator, { model, max_tokens: 2_000, thinking, messages })
      messages.push({ role: 'assistant', content: told.body.content as JsonObject[] })
    }
    return {
      simulator,
      body: {
        model,
        max_tokens: 2_000,
        thinking: { type: 'enabled', budget_tokens: 1_024 },
        messages: [...messages, say('four')],
      },
    }
  }

  test('keeps as many turns as asked', async () => {
    const { simulator, body } = await talk('claude-opus-4-6')
    const edits = (value: number) => ({
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value } }] },
    })
    const all = await ask(simulator, body)
    const one = await ask(simulator, { ...body, ...edits(1) }, { headers })
    const freed = tokens(all.body) - tokens(one.body)
    const report = { type: 'clear_thinking_20251015', cleared_thinking_turns: 2, cleared_input_tokens: freed }
    expect(one.body.context_management).toEqual({ applied_edits: [report] })
    expect(freed).toBeGreaterThan(80)
    const three = await ask(simulator, { ...body, ...edits(3) }, { headers })
    expect(three.body.context_management).toEqual({ applied_edits: [] })
  })

  test('happens by itself on models that do not keep the thinking of earlier turns', async () => {
    const { simulator, body } = await talk('claude-sonnet-4-5')
    const keep = { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } }
    const usual = await ask(simulator, body)
    const kept = await ask(simulator, { ...body, ...keep }, { headers })
    expect(tokens(kept.body) - tokens(usual.body)).toBeGreaterThan(150)
  })

  test('must come first and needs thinking', async () => {
    const thinking = { type: 'clear_thinking_20251015' }
    const refused = async (body: object, edits: object[]) =>
      errorOf(await ask(simulate(), { ...base, ...body, context_management: { edits } }, { headers }))
    expect(await refused({}, [clear(), thinking])).toMatchObject({
      message: expect.stringContaining('must be the first'),
    })
    expect(await refused({ thinking: { type: 'disabled' } }, [thinking])).toMatchObject({
      message:
        'context_management.edits.0: `clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive',
    })
  })
})

describe('a system message in the middle', () => {
  const notice = (clear_at?: string) => ({ role: 'system', content: 'Be brief.', ...(clear_at ? { clear_at } : {}) })
  const shown = async (clear_at?: string) => {
    const { seen, script } = listening()
    const beta = { 'anthropic-beta': 'mid-conversation-system-clear-at-2026-08-21' }
    const messages = [say('One.'), notice(clear_at)]
    const simulator = simulate({ script })
    await ask(simulator, { ...base, messages }, { headers: beta })
    const later = [...messages, { role: 'assistant', content: [text('Yes.')] }, say('Two.')]
    await ask(simulator, { ...base, messages: later }, { headers: beta })
    return seen.map((request) => JSON.stringify(request.messages).includes('Be brief.'))
  }

  test('stays, or goes with the next user message where it says so', async () => {
    expect(await shown()).toEqual([true, true])
    expect(await shown('next_user_message')).toEqual([true, false])
  })
})

describe('compaction by an edit', () => {
  const long = { ...base, messages: [say('Go.'), ...rounds(6, 10_000), say('And now?')] }
  const compact = (more: object = {}) => ({
    context_management: {
      edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 50_000 }, ...more }],
    },
  })
  const summarizer: Script = () => ({ content: [text('Thoughts first. <summary>Six files were read.</summary>')] })

  test('puts a block before the answer and continues from the summary', async () => {
    const { seen, script } = listening()
    const simulator = simulate({ script, summarizer })
    const told = await ask(simulator, { ...long, ...compact() }, { headers })
    const content = told.body.content as Block[]
    expect(content.map(({ type }) => type)).toEqual(['compaction', 'text'])
    expect(content[0]).toEqual({
      type: 'compaction',
      content: 'Six files were read.',
      encrypted_content: expect.any(String),
    })
    expect(seen[0]?.messages).toEqual([{ role: 'user', content: [text('Six files were read.')] }])
    const usage = told.body.usage as { input_tokens: number; iterations: JsonObject[] }
    expect(usage.iterations).toMatchObject([
      { type: 'compaction' },
      { type: 'message', model: 'claude-opus-5', input_tokens: usage.input_tokens },
    ])
    expect(Number(usage.iterations[0]?.input_tokens)).toBeGreaterThan(60_000)
    expect(simulator.log.entries[0]?.samplings).toHaveLength(2)

    const next = [...long.messages, { role: 'assistant', content }, say('Next.')]
    const later = await ask(simulator, { ...long, messages: next, ...compact() }, { headers })
    expect((later.body.content as Block[]).map(({ type }) => type)).toEqual(['text'])
    expect(seen[1]?.messages).toEqual([
      { role: 'user', content: [text('Six files were read.')] },
      { role: 'assistant', content: [text('Hello.')] },
      { role: 'user', content: [text('Next.')] },
    ])
    const trimmed = await ask(simulator, { ...long, messages: next.slice(-2), ...compact() }, { headers })
    expect(tokens(trimmed.body)).toBe(tokens(later.body))
  })

  test('does nothing below its trigger but list its iteration', async () => {
    const told = await ask(simulate({ summarizer }), { ...base, ...compact() }, { headers })
    expect((told.body.usage as JsonObject).iterations).toMatchObject([{ type: 'message' }])
  })

  test('pauses where asked, and is taken up from there', async () => {
    const simulator = simulate({ summarizer })
    const told = await ask(simulator, { ...long, ...compact({ pause_after_compaction: true }) }, { headers })
    expect(told.body).toMatchObject({ stop_reason: 'compaction', content: [{ type: 'compaction' }] })
    const resumed = await ask(
      simulator,
      { ...long, messages: [...long.messages, { role: 'assistant', content: told.body.content }], ...compact() },
      { headers },
    )
    expect([resumed.status, resumed.body.stop_reason]).toEqual([200, 'end_turn'])
  })

  test('gives a block without content when the model calls a tool instead, and continues uncompacted', async () => {
    const { seen, script } = listening()
    const caller: Script = () => ({ content: [{ type: 'tool_use', name: 'read', input: {} }] })
    const simulator = simulate({ script, summarizer: caller })
    const told = await ask(simulator, { ...long, ...compact() }, { headers })
    expect((told.body.content as Block[])[0]).toEqual({ type: 'compaction', content: null, encrypted_content: null })
    expect(seen[0]?.messages.length).toBe(13)
    const next = [...long.messages, { role: 'assistant', content: told.body.content }, say('Next.')]
    expect((await ask(simulator, { ...long, messages: next }, { headers })).status).toBe(200)
    expect(seen[1]?.messages.length).toBe(15)
  })

  test('takes instructions in place of its own', async () => {
    const { seen, script } = listening(summarizer)
    await ask(simulate({ summarizer: script }), { ...long, ...compact({ instructions: 'List files.' }) }, { headers })
    expect(seen[0]?.messages.at(-1)).toMatchObject({
      role: 'user',
      content: expect.arrayContaining([text('List files.')]),
    })
  })

  test('needs a conversation that still fits the window', async () => {
    const told = await ask(simulate({ windows: { 'claude-opus-5': 55_000 } }), { ...long, ...compact() }, { headers })
    expect(errorOf(told)).toMatchObject({
      message: expect.stringMatching(/^prompt is too long: \d+ tokens > 55000 maximum$/),
    })
  })

  test('a block needs its beta, and an empty one is refused', async () => {
    const messages = (content: unknown) => [
      { role: 'assistant', content: [{ type: 'compaction', content }] },
      say('Next.'),
    ]
    const bare = await ask(simulate(), { ...base, messages: messages('x') })
    expect(errorOf(bare)).toMatchObject({ message: expect.stringContaining("Input tag 'compaction'") })
    const empty = await ask(simulate(), { ...base, messages: messages('') }, { headers })
    expect(errorOf(empty)).toMatchObject({
      message: 'messages.0.content.0.compaction.content: String should have at least 1 character',
    })
  })
})

describe('compaction on demand', () => {
  const compaction = { type: 'summarize' }
  const make = async (simulator = simulate()) => {
    const told = await ask(simulator, { ...base, compaction }, { headers })
    return { simulator, told, block: (told.body.content as JsonObject[])[0] ?? {} }
  }
  const after = (block: JsonObject, more: Message[] = []) => ({
    ...base,
    messages: [{ role: 'assistant', content: [block] }, ...more, say('Next.')],
  })

  test('answers with a signed block alone, its cost in the iterations', async () => {
    const { told, block } = await make()
    expect(told.body).toMatchObject({ stop_reason: 'compaction', usage: { input_tokens: 0, output_tokens: 0 } })
    expect(Object.keys(block)).toEqual(['type', 'content', 'signature'])
    expect((told.body.usage as JsonObject).iterations).toMatchObject([{ type: 'compaction' }])
  })

  test('lets the conversation continue from the block', async () => {
    const { simulator, block } = await make()
    expect((await ask(simulator, after(block), { headers })).status).toBe(200)
  })

  test('refuses blocks that are forged, changed, misplaced, doubled or adorned', async () => {
    const { simulator, block } = await make()
    const code = async (body: object) => {
      const error = errorOf(await ask(simulator, body, { headers })) as JsonObject
      return (error.details as JsonObject | undefined)?.error_code ?? error.message
    }
    expect(await code(after({ ...block, signature: 'abc.def' }))).toBe('compaction_signature_invalid')
    expect(await code(after({ ...block, content: 'Other.' }))).toBe('compaction_content_mismatch')
    expect(await code(after(block, [say('x'), { role: 'assistant', content: [block] }]))).toBe(
      'compaction_block_ambiguous',
    )
    const late = { ...base, messages: [say('x'), { role: 'assistant', content: [block] }, say('y')] }
    expect(await code(late)).toBe('compaction_block_misplaced')
    expect(await code(after({ ...block, citations: null }))).toBe(
      'messages.0.content.0.compaction.citations: Extra inputs are not permitted',
    )
  })

  test('refuses what it cannot be combined with', async () => {
    const refused = async (more: object) =>
      errorOf(await ask(simulate(), { ...base, compaction, ...more }, { headers }))
    expect(await refused({ context_management: { edits: [] } })).toMatchObject({
      message: expect.stringContaining('context_management'),
    })
    expect(await refused({ stop_sequences: ['x'] })).toMatchObject({
      message: expect.stringContaining('stop_sequences'),
    })
    expect(await refused({ tool_choice: { type: 'any' } })).toMatchObject({
      message: expect.stringContaining('tool_choice'),
    })
    expect(await refused({ messages: base.messages.slice(0, 2) })).toMatchObject({
      details: { error_code: 'compaction_incomplete_turn' },
    })
    const edits = [{ type: 'compact_20260112' }]
    const { simulator, block } = await make()
    const mixed = await ask(simulator, { ...after(block), context_management: { edits } }, { headers })
    expect(errorOf(mixed)).toMatchObject({ message: expect.stringContaining('compact_20260112') })
    expect(await refused({ model: 'claude-haiku-5-5' })).toMatchObject({
      message: 'compaction: not supported on this model',
    })
    expect(errorOf(await ask(simulate(), { ...base, compaction }))).toMatchObject({
      message: 'The `compaction` parameter requires anthropic-beta: compact-2026-09-04',
    })
    expect(await refused({ messages: [] })).toMatchObject({
      details: { error_code: 'compaction_nothing_to_summarize' },
    })
    const alone = { messages: [{ role: 'user', content: [block] }] }
    expect(await refused(alone)).toMatchObject({ details: { error_code: 'compaction_nothing_to_summarize' } })
  })

  test('gives 200 without content when no summary came', async () => {
    const told = async (summarizer: Script, more: object = {}) => {
      const { body } = await ask(simulate({ summarizer }), { ...base, ...more, compaction }, { headers })
      return [body.content, body.stop_reason]
    }
    expect(await told(() => ({ content: [{ type: 'tool_use', name: 'x', input: {} }] }))).toEqual([[], 'tool_use'])
    expect(await told(() => ({ content: [] }))).toEqual([[], 'end_turn'])
    const { body } = await ask(
      simulate(),
      { ...base, compaction, max_tokens: undefined },
      { headers, path: '/v1/messages/count_tokens' },
    )
    const tight = simulate({ windows: { 'claude-opus-5': Number(body.input_tokens) + 5 } })
    const full = await ask(tight, { ...base, compaction }, { headers })
    expect(full.body).toMatchObject({ content: [], stop_reason: 'model_context_window_exceeded' })
    expect(await told(() => ({ content: [text('word '.repeat(50))] }), { max_tokens: 10 })).toEqual([[], 'max_tokens'])
  })
})

describe('cache edits', () => {
  const on = { 'x-everlong-cache-edits': 'on' }
  const marked = {
    ...base,
    messages: [
      ...base.messages.slice(0, -1),
      { role: 'user', content: [{ ...base.messages.at(-1)?.content[0], ...mark }] },
    ],
  }
  const deleting = (...ids: string[]): Message => ({
    role: 'user',
    content: [
      { type: 'cache_edits', edits: ids.map((cache_reference) => ({ type: 'delete', cache_reference })) },
      text('Next.', mark),
    ],
  })

  test('take results out of the cached prefix without breaking it', async () => {
    const { seen, script } = listening()
    const simulator = simulate({ script })
    const first = (await ask(simulator, marked, { headers: on })).body.usage as JsonObject
    const next = { ...base, messages: [...base.messages, deleting('t0', 't1')] }
    const usage = (await ask(simulator, next, { headers: on })).body.usage as JsonObject
    const deleted = Number(usage.cache_deleted_input_tokens)
    expect(deleted).toBeGreaterThan(1_000)
    expect(Number(usage.cache_read_input_tokens) + deleted).toBe(first.cache_creation_input_tokens)
    expect(resultsSeen(seen[1])).toEqual(['', '', 'whole', 'whole', 'whole', 'whole'])

    const later = {
      ...base,
      messages: [...next.messages, { role: 'assistant', content: [text('Yes.')] }, say('More.')],
    }
    const pinned = (await ask(simulator, later, { headers: on })).body.usage as JsonObject
    expect(pinned.cache_deleted_input_tokens).toBe(deleted)
  })

  test('do nothing where the cache is cold', async () => {
    const next = { ...base, messages: [...base.messages, deleting('t0')] }
    const usage = (await ask(simulate(), next, { headers: on })).body.usage as JsonObject
    expect(usage.cache_deleted_input_tokens).toBeUndefined()
  })

  test('name results by their own reference where they have one', async () => {
    const simulator = simulate()
    const named = structuredClone(marked)
    Object.assign(named.messages[2]?.content[0] ?? {}, { cache_reference: 'first' })
    await ask(simulator, named, { headers: on })
    const told = await ask(simulator, { ...named, messages: [...named.messages, deleting('first')] }, { headers: on })
    expect(Number((told.body.usage as JsonObject).cache_deleted_input_tokens)).toBeGreaterThan(500)
  })

  test('are refused for unknown results, and without the header', async () => {
    const next = { ...base, messages: [...base.messages, deleting('t9')] }
    expect(errorOf(await ask(simulate(), next, { headers: on }))).toMatchObject({
      message: expect.stringContaining('t9'),
    })
    expect(errorOf(await ask(simulate(), next))).toMatchObject({
      message: expect.stringContaining("Input tag 'cache_edits'"),
    })
  })
})
