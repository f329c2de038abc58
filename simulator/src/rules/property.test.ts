// Property: what is generated valid is accepted; every mutation that breaks a rule is refused, with the right error.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ask, errorOf, simulate } from '../testing/ask.ts'

type Json = Record<string, unknown>
type Draft = {
  model: string
  max_tokens: number
  system?: unknown
  tools?: Json[]
  messages: { role: string; content: Json[] }[]
}

const words = fc.stringMatching(/^[a-zA-Zéß漢🎈 ]{1,30}$/u).map((text) => `w${text}.`)
const textBlock = words.map((text): Json => ({ type: 'text', text }))

/** A round: the user or results, then the assistant with text and some tool uses. */
const round = fc.record({
  asked: fc.array(textBlock, { minLength: 1, maxLength: 3 }),
  said: fc.array(textBlock, { minLength: 1, maxLength: 2 }),
  uses: fc.nat({ max: 3 }),
  output: fc.oneof(words, fc.array(textBlock, { maxLength: 2 })),
  goesOn: fc.boolean(),
})

const valid: fc.Arbitrary<Draft> = fc
  .record({
    rounds: fc.array(round, { minLength: 1, maxLength: 6 }),
    ask: textBlock,
    system: fc.oneof(words, fc.array(textBlock, { minLength: 1, maxLength: 3 })),
    tools: fc.nat({ max: 3 }),
    marks: fc.array(fc.nat(), { maxLength: 4 }),
    model: fc.constantFrom('claude-sonnet-5', 'claude-opus-4-5', 'claude-fable-5-1', 'claude-3-opus'),
  })
  .map(({ rounds, ask: last, system, tools, marks, model }) => {
    const messages: Draft['messages'] = []
    let pending: Json[] = []
    let count = 0
    for (const { asked, said, uses, output, goesOn } of rounds) {
      const isMidway = pending.length > 0
      messages.push({ role: 'user', content: isMidway && goesOn ? pending : [...pending, ...asked] })
      const ids = Array.from({ length: uses }, () => `toolu_${++count}`)
      const calls = ids.map((id): Json => ({ type: 'tool_use', id, name: 'read', input: { path: id } }))
      messages.push({ role: 'assistant', content: [...said, ...calls] })
      pending = ids.map((id): Json => ({ type: 'tool_result', tool_use_id: id, content: output }))
    }
    messages.push({ role: 'user', content: [...pending, last] })
    const blocks = messages.flatMap((message) => message.content)
    for (const mark of marks)
      Object.assign(blocks[mark % blocks.length] ?? {}, { cache_control: { type: 'ephemeral' } })
    const list = Array.from({ length: tools }, (_, at) => ({ name: `tool_${at}`, input_schema: { type: 'object' } }))
    return { model, max_tokens: 100, system, messages, ...(tools > 0 ? { tools: list } : {}) }
  })

/** Breaks one rule of a draft in place; false where the draft gives no occasion. */
type Mutation = {
  readonly name: string
  readonly breaks: RegExp
  readonly apply: (draft: Draft, pick: number) => boolean
}

const blocksOf = (draft: Draft, type: string) =>
  draft.messages.flatMap((message) =>
    message.content.filter((block) => block.type === type).map((block) => ({ block, message })),
  )

function onBlock(type: string, change: (block: Json, message: Draft['messages'][number]) => void) {
  return (draft: Draft, pick: number): boolean => {
    const found = blocksOf(draft, type)
    const chosen = found[pick % Math.max(1, found.length)]
    if (chosen) change(chosen.block, chosen.message)
    return chosen !== undefined
  }
}

const always = (change: (draft: Draft, pick: number) => void) => (draft: Draft, pick: number) => {
  change(draft, pick)
  return true
}

const mutations: readonly Mutation[] = [
  {
    name: 'no first user message',
    breaks: /first message must use the "user" role/,
    apply: always((draft) => draft.messages.unshift({ role: 'assistant', content: [{ type: 'text', text: 'Hi' }] })),
  },
  {
    name: 'no messages',
    breaks: /at least one message is required/,
    apply: always((draft) => {
      draft.messages = []
    }),
  },
  {
    name: 'a lost result',
    breaks: /without `tool_result` blocks immediately after/,
    apply: onBlock('tool_result', (block, message) => {
      message.content = message.content.filter((other) => other !== block).concat({ type: 'text', text: 'x' })
    }),
  },
  {
    name: 'a lost use',
    breaks: /unexpected `tool_use_id` found/,
    apply: onBlock('tool_use', (block, message) => {
      message.content = message.content.filter((other) => other !== block)
    }),
  },
  {
    name: 'text before results',
    breaks: /without `tool_result` blocks immediately after/,
    apply: onBlock('tool_result', (_, message) => message.content.unshift({ type: 'text', text: 'x' })),
  },
  {
    name: 'a result twice',
    breaks: /must have a single result/,
    apply: onBlock('tool_result', (block, message) => {
      message.content.unshift({ ...block, cache_control: undefined })
    }),
  },
  {
    name: 'a use twice',
    breaks: /ids must be unique/,
    apply: onBlock('tool_use', (block, message) => message.content.push({ ...block, cache_control: undefined })),
  },
  {
    name: 'an input that is no object',
    breaks: /tool_use.input: Input should be a valid dictionary/,
    apply: onBlock('tool_use', (block) => Object.assign(block, { input: ['x'] })),
  },
  {
    name: 'an empty text',
    breaks: /text content blocks must be non-empty|cannot be set for empty text/,
    apply: onBlock('text', (block) => Object.assign(block, { text: '' })),
  },
  {
    name: 'a blank text',
    breaks: /must contain non-whitespace text/,
    apply: onBlock('text', (block) => Object.assign(block, { text: '  ' })),
  },
  {
    name: 'an empty message',
    breaks: /must have non-empty content/,
    apply: always((draft, pick) =>
      draft.messages.splice(1 + (pick % draft.messages.length), 0, { role: 'user', content: [] }),
    ),
  },
  {
    name: 'five marks',
    breaks: /A maximum of 4 blocks/,
    apply: always((draft) =>
      draft.messages
        .at(-1)
        ?.content.push(
          ...Array.from({ length: 5 }, () => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })),
        ),
    ),
  },
  {
    name: 'an unknown field',
    breaks: /Extra inputs are not permitted/,
    apply: onBlock('text', (block) => Object.assign(block, { color: 'red' })),
  },
  {
    name: 'an unknown block',
    breaks: /does not match any of the expected tags/,
    apply: onBlock('text', (block) => Object.assign(block, { type: 'video' })),
  },
  {
    name: 'a stray role',
    breaks: /role: Input should be/,
    apply: always((draft, pick) => {
      Object.assign(draft.messages[pick % draft.messages.length] ?? {}, { role: 'tool' })
    }),
  },
  {
    name: 'a result from the assistant',
    breaks: /blocks can only be in `user` messages/,
    apply: onBlock('tool_result', (_, message) => {
      message.role = 'assistant'
    }),
  },
  {
    name: 'a forged thought',
    breaks: /Invalid `signature` in `thinking` block|cannot be modified/,
    apply: always((draft) => draft.messages[1]?.content.unshift({ type: 'thinking', thinking: 'x', signature: 'y' })),
  },
  {
    name: 'too large an answer',
    breaks: /maximum allowed number of output tokens/,
    apply: always((draft) => {
      draft.max_tokens = 1_000_000
    }),
  },
  {
    name: 'a late hour',
    breaks: /must not come after a ttl='5m'|A maximum of 4/,
    apply: always((draft) => {
      Object.assign(draft.messages[0]?.content[0] ?? {}, { cache_control: { type: 'ephemeral' } })
      draft.messages.at(-1)?.content.push({ type: 'text', text: 'x', cache_control: { type: 'ephemeral', ttl: '1h' } })
    }),
  },
  {
    name: 'a nameless tool',
    breaks: /tools\.0\.custom\.name: Field required/,
    apply: always((draft) => {
      draft.tools = [{ input_schema: { type: 'object' } }]
    }),
  },
]

/** The rules once more, told another way: as a walk that keeps the calls which are still open. */
function keepsRules(messages: readonly { role: string; content: readonly Json[] }[]): boolean {
  if (messages.length === 0 || messages[0]?.role !== 'user') return false
  const seen = new Set<unknown>()
  const open = new Set<unknown>()
  let role = ''
  let isHead = false
  for (const [at, { role: who, content }] of messages.entries()) {
    if (content.length === 0 && !(who === 'assistant' && at === messages.length - 1)) return false
    if (who !== role && who === 'assistant' && open.size > 0) return false
    if (who !== role) [role, isHead] = [who, true]
    for (const block of content) {
      if (block.type === 'text' && String(block.text).trim() === '') return false
      if (block.type === 'tool_use' && (who !== 'assistant' || seen.has(block.id))) return false
      if (block.type === 'tool_use') for (const set of [seen, open]) set.add(block.id)
      if (block.type === 'tool_result' && !(who === 'user' && isHead && open.delete(block.tool_use_id))) return false
      if (block.type !== 'tool_result') isHead = false
    }
  }
  return open.size === 0
}

describe('a generated request', () => {
  const simulator = simulate()

  test('is accepted when it keeps the rules', async () => {
    await fc.assert(
      fc.asyncProperty(valid, async (draft) => {
        const told = await ask(simulator, draft)
        expect([told.status, told.body.error]).toEqual([200, undefined])
      }),
      { numRuns: 150 },
    )
  })

  test('that was made at random is accepted only if it keeps the rules', async () => {
    const ids = fc.constantFrom('t1', 't2', 't3')
    const text = fc
      .constantFrom('some', 'words', 'and', 'more', '')
      .map((value): Json => ({ type: 'text', text: value }))
    const use = ids.map((id): Json => ({ type: 'tool_use', id, name: 'read', input: {} }))
    const result = ids.map((id): Json => ({ type: 'tool_result', tool_use_id: id, content: 'ok' }))
    const block = fc.oneof(
      { weight: 4, arbitrary: text },
      { weight: 1, arbitrary: use },
      { weight: 1, arbitrary: result },
    )
    const piece = fc.record({ strays: fc.nat({ max: 6 }), content: fc.array(block, { minLength: 1, maxLength: 3 }) })
    const talk = fc.array(piece, { maxLength: 5 }).map((list) =>
      list.map(({ strays, content }, at) => {
        const isUser = (at % 2 === 0) === strays > 0
        return { role: isUser ? 'user' : 'assistant', content: strays === 6 ? [] : content }
      }),
    )
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(talk, async (messages) => {
        const told = await ask(simulator, { model: 'claude-opus-4-5', max_tokens: 10, messages })
        expect([200, 400]).toContain(told.status)
        if (told.status === 200) accepted++
        expect(told.status === 200).toBe(keepsRules(messages))
      }),
      { numRuns: 3_000 },
    )
    expect(accepted).toBeGreaterThan(100)
  })

  test.each(mutations)('is refused after a mutation: $name', async ({ apply, breaks }) => {
    let broken = 0
    await fc.assert(
      fc.asyncProperty(valid, fc.nat(), async (draft, pick) => {
        const mutant = structuredClone(draft)
        if (!apply(mutant, pick)) return
        broken++
        const told = await ask(simulator, mutant)
        expect([told.status, errorOf(told)]).toEqual([
          400,
          { type: 'invalid_request_error', message: expect.stringMatching(breaks) },
        ])
      }),
      { numRuns: 40 },
    )
    expect(broken).toBeGreaterThan(0)
  })
})
