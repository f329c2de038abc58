import { describe, expect, test } from 'vitest'
import { compact } from './compact.ts'
import type { Message } from './core/message/message.ts'
import { noTokens } from './core/message/usage.ts'
import type { EngineEvent } from './core/ports/events.ts'
import { type Hooks, noOutcome } from './core/ports/hooks.ts'
import type { ModelClient } from './core/ports/model.ts'
import { checkRequest } from './core/request/check-request.ts'
import { countTokens } from './core/tokens/estimate/counting.ts'
import type { AnthropicMessage, OpenAIMessage } from './plain-messages.ts'

const lines = (what: string) => Array.from({ length: 200 }, (_, at) => `${what} line ${at}`).join('\n')

const anthropic: readonly AnthropicMessage[] = [
  { role: 'user', content: 'Never touch the file legacy.sql. Now find the bug in src/parse.ts.' },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: 'I read it first.' },
      { type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'src/parse.ts' } },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: lines('parse') }] },
  { role: 'assistant', content: 'The comma in line 17 is wrong.' },
  { role: 'user', content: 'Fix it and run the tests.' },
]

const openai: readonly OpenAIMessage[] = [
  { role: 'system', content: 'You are careful.' },
  { role: 'user', content: 'Never touch the file legacy.sql. Now find the bug in src/parse.ts.' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name: 'Read', arguments: '{"file_path":"src/parse.ts"}' } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: lines('parse') },
  { role: 'assistant', content: 'The comma in line 17 is wrong.' },
  { role: 'user', content: 'Fix it and run the tests.' },
]

/** A model that returns the given text. */
const saying = (text: string): ModelClient => ({
  provider: 'test',
  model: 'test',
  capabilities: () => ({
    cacheEdits: false,
    contextManagement: false,
    compaction: 'none',
    promptCache: false,
    offline: false,
  }),
  send: async () => ({
    type: 'answer',
    id: 'm',
    model: 'test',
    content: [{ type: 'text', text }],
    stopReason: 'end_turn',
    usage: noTokens,
  }),
})

describe('compact(messages)', () => {
  test('makes one message of many, without a model, and keeps rules and the latest request word for word', async () => {
    const result = await compact(anthropic)
    if (result.type === 'failed') throw new Error(result.why)
    expect(result.messages).toEqual([{ role: 'user', content: result.summary }])
    expect(result.summary).toContain('Never touch the file legacy.sql.')
    expect(result.summary.trimEnd().endsWith('Fix it and run the tests.')).toBe(true)
    expect(result.mechanism).toBe('offline')
    expect(countTokens([{ role: 'user', content: result.summary }])).toBe(result.tokens.after)
  })

  test('keeps the newest messages as the very objects that were given, and no call without its result', async () => {
    const result = await compact(anthropic, { keep: 2 })
    if (result.type === 'failed') throw new Error(result.why)
    expect(result.messages.slice(1)).toEqual(anthropic.slice(-2))
    expect(result.messages[1]).toBe(anthropic[3])
    const three = await compact(anthropic, { keep: 3 })
    expect(three.messages.slice(1)).toEqual(anthropic.slice(-2))
  })

  test('keeps all that it is told to keep: then there is nothing to compact, and it says so', async () => {
    for (const keep of [anthropic.length, anthropic.length + 1, 100]) {
      const result = await compact(anthropic, { keep })
      expect(result).toMatchObject({ type: 'failed', reason: 'nothing-to-compact', messages: anthropic })
      expect(result.messages).toBe(anthropic)
    }
    // The system message is not part of the conversation.
    expect(await compact(openai, { keep: 5 })).toMatchObject({ type: 'failed', reason: 'nothing-to-compact' })
  })

  const long = Array.from({ length: 9 }, (_, at): AnthropicMessage => {
    return { role: at % 2 === 0 ? 'user' : 'assistant', content: `${at} ${lines('said')}` }
  })

  test.each([1, 2, 3, 4, 5])('with keep %i the roles alternate, and nothing that is kept is lost', async (keep) => {
    const result = await compact(long, { keep })
    if (result.type === 'failed') throw new Error(result.why)
    expect(checkRequest(result.messages as readonly Message[])).toEqual([])
    const [opening, ...rest] = result.messages
    if (keep % 2 === 0) expect(rest).toEqual(long.slice(-keep))
    else
      expect([opening?.content, ...rest]).toEqual([
        `${result.summary}\n\n${long.at(-keep)?.content}`,
        ...long.slice(1 - keep || 9),
      ])
  })

  test('puts the summary before the blocks of a user message, in either shape', async () => {
    const blocks = [
      { type: 'text', text: 'Look.' },
      { type: 'image', source: {} },
    ]
    const result = await compact([...long.slice(0, 8), { role: 'user', content: blocks } as const], { keep: 1 })
    if (result.type === 'failed') throw new Error(result.why)
    expect(result.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: result.summary }, ...blocks] }])
    const chat = await compact(openai, { keep: 1 })
    if (chat.type === 'failed') throw new Error(chat.why)
    expect(chat.messages).toEqual([openai[0], { role: 'user', content: `${chat.summary}\n\n${openai[5]?.content}` }])
  })

  test('puts restored context into the last user message', async () => {
    const restore = async () => ({
      pieces: [{ kind: 'file', title: 'a.ts', text: 'export {}', tokens: 3 }],
      notRestored: [],
      tokens: 3,
    })
    const [two, one] = [
      await compact(long, { keep: 2, restore }),
      await compact(long.slice(0, 8), { keep: 1, restore }),
    ]
    expect(two.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(String(two.messages.at(-1)?.content)).toMatch(/^8 said[\s\S]*export \{\}/)
    expect(one.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  describe('thinking in what is kept', () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: 'c2ln' }
    const answer = { role: 'assistant', content: [thought, { type: 'text', text: 'So it is.' }] } as const
    const messages = [...long, answer, { role: 'user', content: 'And?' } as const]
    const keptBy = async (model: string | undefined) => {
      const conversation = model === undefined ? {} : { conversation: { source: 'turn', model, messages: [] } as const }
      const result = await compact(messages, { keep: 2, ...conversation })
      if (result.type === 'failed') throw new Error(result.why)
      return result.messages[1]
    }

    test('goes where the model binds it, or where nobody knows', async () => {
      const without = { role: 'assistant', content: [{ type: 'text', text: 'So it is.' }] }
      expect(await keptBy('claude-fable-5-1')).toEqual(without)
      expect(await keptBy('nobody-knows-1')).toEqual(without)
      expect(await keptBy(undefined)).toEqual(without)
    })

    test('stays where the model does not bind it, as the very object that was given', async () => {
      expect(await keptBy('claude-sonnet-4-5')).toBe(answer)
    })

    test('that is all of an answer takes the answer with it', async () => {
      const cut = [
        ...long.slice(0, 8),
        { role: 'user', content: 'x' },
        { role: 'assistant', content: [thought] },
      ] as const
      const result = await compact(cut, { keep: 1 })
      if (result.type === 'failed') throw new Error(result.why)
      expect(result.messages).toEqual([{ role: 'user', content: result.summary }])
    })
  })

  test.each<readonly [string, unknown, unknown]>([
    ['compact(): messages must be an array; it is null.', null, {}],
    ['compact(): messages must be an array; it is an object.', {}, {}],
    ['compact(): message 1 is undefined, not an object.', [{ role: 'user', content: 'x' }, undefined], {}],
    [
      'compact(): message 0 has the role "human", which is none of system, developer, user, assistant, tool.',
      [{ role: 'human', content: 'x' }],
      {},
    ],
    [
      'compact(): message 0 has a content that is null, neither a string nor an array of blocks.',
      [{ role: 'user', content: null }],
      {},
    ],
    ['compact(): keep is NaN; it must be a whole number of messages, 0 or more.', long, { keep: Number.NaN }],
    ['compact(): keep is -1; it must be a whole number of messages, 0 or more.', long, { keep: -1 }],
  ])('says what is wrong: %s', async (message, messages, options) => {
    await expect(compact(messages as never, options as never)).rejects.toThrow(new TypeError(message))
  })

  test('takes chat messages and gives them back: system first, tools with their calls', async () => {
    const result = await compact(openai, { keep: 2 })
    if (result.type === 'failed') throw new Error(result.why)
    expect(result.messages).toEqual([openai[0], { role: 'user', content: result.summary }, openai[4], openai[5]])
    expect(result.summary).toContain('src/parse.ts')
  })

  test('asks the model that is given, and checks what it says', async () => {
    const prose =
      '1. Primary request and intent:\n- Find the bug in src/parse.ts.\n\n8. Current work:\n- the comma in line 17'
    const model = saying(`<analysis>hm</analysis><summary>${prose}</summary>`)
    const result = await compact(anthropic, { model })
    if (result.type === 'failed') throw new Error(result.why)
    expect(result.mechanism).toBe('direct')
    expect(result.summary).toContain('the comma in line 17')
    expect(result.summary).not.toContain('hm</analysis>')
    expect(result.fidelity.missingSections.length).toBeGreaterThan(0)
  })

  // langchain's middleware expands "$&" in the transcript when it fills its prompt.
  test('a text with replacement patterns comes through as it is', async () => {
    const odd = "echo $& $` $' $1 $$"
    const messages = [...anthropic, { role: 'assistant', content: 'done' }, { role: 'user', content: odd }] as const
    const result = await compact(messages)
    if (result.type === 'failed') throw new Error(result.why)
    expect(result.summary).toContain(odd)
  })

  test('code of the host that breaks is reported, and the summary is made without it', async () => {
    const broken = () => {
      throw new Error('host broke')
    }
    const events: EngineEvent[] = []
    const result = await compact(anthropic, {
      model: { ...saying(''), send: broken },
      hooks: { run: broken },
      restore: broken,
      onEvent: (event) => {
        events.push(event)
        if (event.type === 'compaction-finished') broken()
      },
    })
    expect(result).toMatchObject({ type: 'compacted', mechanism: 'offline' })
    const problems = events.flatMap((event) => ('problem' in event ? [[event.type, event.problem]] : []))
    expect(problems).toEqual([
      ['hook-reported', 'the hooks of PreCompact: host broke'],
      ['host-code-failed', 'host broke'],
      ['host-code-failed', 'host broke'],
      ['hook-reported', 'the hooks of SessionStart: host broke'],
      ['hook-reported', 'the hooks of PostCompact: host broke'],
      ['host-code-failed', 'at compaction-finished: host broke'],
    ])
  })

  test('DISABLE_COMPACT: nothing is compacted, and the reason says why', async () => {
    expect(await compact(anthropic, { environment: { DISABLE_COMPACT: '1' } })).toEqual({
      type: 'failed',
      reason: 'vetoed',
      why: 'Compaction is off: DISABLE_COMPACT.',
      tried: [],
      usage: noTokens,
      messages: anthropic,
    })
  })

  test('what a PostCompact hook adds stands after the summary', async () => {
    const hooks: Hooks = {
      run: async ({ event }) => ({
        ...noOutcome,
        context: event === 'PostCompact' ? ['The sprint ends on Friday.'] : [],
      }),
    }
    const result = await compact(anthropic, { hooks })
    expect(JSON.stringify(result.messages.at(-1))).toContain('The sprint ends on Friday.')
  })

  test('leaves the messages as they are when there is nothing to do, and says so', async () => {
    const short = [{ role: 'user', content: 'hello' }] as const
    expect(await compact(short)).toMatchObject({ type: 'failed', reason: 'nothing-to-compact', messages: short })
    const result = await compact(anthropic.slice(3))
    expect(result).toMatchObject({ type: 'failed', reason: 'no-progress', messages: anthropic.slice(3) })
    expect(result.type === 'failed' && result.why).toMatch(
      /^The conversation is too short to be made smaller: it has about \d+ tokens\.$/,
    )
  })

  test('continues from an earlier summary, with the facts that were carried', async () => {
    const first = await compact(anthropic)
    if (first.type === 'failed') throw new Error(first.why)
    const more = [
      ...first.messages,
      { role: 'assistant', content: lines('done with') },
      { role: 'user', content: 'And now the docs.' },
    ] as readonly AnthropicMessage[]
    const second = await compact(more, { ledger: first.ledger })
    if (second.type === 'failed') throw new Error(second.why)
    expect(second.summary).toContain('Never touch the file legacy.sql.')
    expect(second.summary).toContain('src/parse.ts')
  })
})
