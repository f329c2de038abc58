import { describe, expect, test } from 'vitest'
import { compact } from './compact.ts'
import { noTokens } from './core/message/usage.ts'
import type { EngineEvent } from './core/ports/events.ts'
import { type Hooks, noOutcome } from './core/ports/hooks.ts'
import type { ModelClient } from './core/ports/model.ts'
import { countTokens } from './core/tokens/counting.ts'
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

/** A model that says what it is told to. */
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
    if (result.type === 'failed') throw new Error(result.detail)
    expect(result.messages).toEqual([{ role: 'user', content: result.summary }])
    expect(result.summary).toContain('Never touch the file legacy.sql.')
    expect(result.summary.trimEnd().endsWith('Fix it and run the tests.')).toBe(true)
    expect(result.mechanism).toBe('offline')
    expect(countTokens([{ role: 'user', content: result.summary }])).toBe(result.tokens.after)
  })

  test('keeps the newest messages as the very objects that were given, and no call without its result', async () => {
    const result = await compact(anthropic, { keep: 2 })
    if (result.type === 'failed') throw new Error(result.detail)
    expect(result.messages.slice(1)).toEqual(anthropic.slice(-2))
    expect(result.messages[1]).toBe(anthropic[3])
    const three = await compact(anthropic, { keep: 3 })
    expect(three.messages.slice(1)).toEqual(anthropic.slice(-2))
  })

  test('takes chat messages and gives them back: system first, tools with their calls', async () => {
    const result = await compact(openai, { keep: 2 })
    if (result.type === 'failed') throw new Error(result.detail)
    expect(result.messages).toEqual([openai[0], { role: 'user', content: result.summary }, openai[4], openai[5]])
    expect(result.summary).toContain('src/parse.ts')
  })

  test('asks the model that is given, and checks what it says', async () => {
    const prose =
      '1. Primary request and intent:\n- Find the bug in src/parse.ts.\n\n8. Current work:\n- the comma in line 17'
    const model = saying(`<analysis>hm</analysis><summary>${prose}</summary>`)
    const result = await compact(anthropic, { model })
    if (result.type === 'failed') throw new Error(result.detail)
    expect(result.mechanism).toBe('direct')
    expect(result.summary).toContain('the comma in line 17')
    expect(result.summary).not.toContain('hm</analysis>')
    expect(result.fidelity.missingSections.length).toBeGreaterThan(0)
  })

  // langchain's middleware expands "$&" of the transcript when it fills its prompt.
  test('a text with replacement patterns comes through as it is', async () => {
    const odd = "echo $& $` $' $1 $$"
    const messages = [...anthropic, { role: 'assistant', content: 'done' }, { role: 'user', content: odd }] as const
    const result = await compact(messages)
    if (result.type === 'failed') throw new Error(result.detail)
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
      detail: 'Compaction is off: DISABLE_COMPACT.',
      tried: [],
      usage: noTokens,
      messages: anthropic,
    })
  })

  test('what a PostCompact hook adds stands behind the summary', async () => {
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
    expect(await compact(short)).toMatchObject({ type: 'failed', reason: 'nothing_to_compact', messages: short })
    const result = await compact(anthropic.slice(3))
    expect(result).toMatchObject({ type: 'failed', reason: 'no_progress', messages: anthropic.slice(3) })
  })

  test('goes on from an earlier summary, with the facts that were carried', async () => {
    const first = await compact(anthropic)
    if (first.type === 'failed') throw new Error(first.detail)
    const more = [
      ...first.messages,
      { role: 'assistant', content: lines('done with') },
      { role: 'user', content: 'And now the docs.' },
    ] as readonly AnthropicMessage[]
    const second = await compact(more, { ledger: first.ledger })
    if (second.type === 'failed') throw new Error(second.detail)
    expect(second.summary).toContain('Never touch the file legacy.sql.')
    expect(second.summary).toContain('src/parse.ts')
  })
})
