// Shapes of bodies, blocks and settings that the API refuses, in its words.
import { describe, expect, test } from 'vitest'
import { ask, errorOf, simulate } from '../testing/ask.ts'

const simulator = simulate()
const user = (...content: unknown[]) => ({ role: 'user', content })
const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
const text = (value: string) => ({ type: 'text', text: value })
const base = { model: 'claude-opus-5', max_tokens: 100, messages: [user(text('Hello'))] }
const betas = (...names: string[]) => ({ 'anthropic-beta': names.join(',') })

async function refusal(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const told = await ask(simulator, body, { headers })
  expect(told.status).toBe(400)
  return (errorOf(told) as { readonly message: string }).message
}

async function status(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return (await ask(simulator, body, { headers })).status
}

describe('half a character', () => {
  const body = (value: string) =>
    `{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"${value}"}]}`
  const start = body('').length - 4
  const invalid = 'The request body is not valid JSON:'

  test.each([
    ['x \\ud83d y', 'no low surrogate in string', 2],
    ['x \\ud83d', 'no low surrogate in string', 2],
    ['\\uD83D\\n', 'no low surrogate in string', 0],
    ['\\ud83d\\u0041', 'invalid low surrogate in string', 0],
    ['\\ud83d\\ud83d\\ude00', 'invalid low surrogate in string', 0],
    ['\\ude00', 'invalid high surrogate in string', 0],
    ['\\ud83d\\ude00\\ude00', 'invalid high surrogate in string', 12],
  ])('is no JSON: %s', async (value, what, at) => {
    const char = start + at
    expect(await refusal(body(value))).toBe(`${invalid} ${what}: line 1 column ${char + 1} (char ${char})`)
  })

  test('is told by its line', async () => {
    expect(await refusal(`{\n"x": "\\ud800"}`)).toBe(`${invalid} no low surrogate in string: line 2 column 7 (char 8)`)
  })

  test('is refused wherever it is: in inputs, results, the system prompt, tools', async () => {
    const call = { type: 'tool_use', id: 't', name: 'read', input: { path: 'a\ud800' } }
    const result = { type: 'tool_result', tool_use_id: 't', content: 'a\udc00' }
    for (const more of [{ messages: [user(text('a')), assistant(call), user(result)] }, { system: '\ud800' }]) {
      expect(await refusal({ ...base, ...more })).toMatch(invalid)
    }
  })

  test('is not what two halves make, nor what only looks like one', async () => {
    expect(await status(body('\\ud83d\\ude00 😀 \\\\ud800 \\u00e9'))).toBe(200)
  })
})

describe('documents', () => {
  const pdf = (pages: number) => Buffer.from(`%PDF-1.7 ${'/Type /Page\n'.repeat(pages)}/Type /Pages`).toString('base64')
  const document = (source: object, more: object = {}) => ({ type: 'document', source, ...more })
  const base64 = (data: string, media_type = 'application/pdf') => document({ type: 'base64', media_type, data })
  const place = 'messages.0.content.0.document'

  test.each<readonly [object, string]>([
    [
      document({ type: 'disk' }),
      `${place}.source: Input tag 'disk' found using 'type' does not match any of the expected tags: 'base64', 'text', 'content', 'url', 'file'`,
    ],
    [base64('aaaa', 'image/png'), `${place}.source.base64.media_type: Input should be 'application/pdf'`],
    [base64('aaaa'), `${place}.source.base64.data: The PDF specified was not valid.`],
    [
      document({ type: 'text', media_type: 'text/plain', data: '' }),
      `${place}.source.text.data: String should have at least 1 character`,
    ],
    [
      document({ type: 'url', url: 'https://example.com' }, { color: 'red' }),
      `${place}.color: Extra inputs are not permitted`,
    ],
  ])('of odd shapes are refused: %j', async (block, message) => {
    expect(await refusal({ ...base, messages: [user(block)] })).toBe(message)
    const result = { type: 'tool_result', tool_use_id: 't', content: [block] }
    const call = { type: 'tool_use', id: 't', name: 'read', input: {} }
    const inResult = message.replace(place, 'messages.2.content.0.tool_result.content.0.document')
    expect(await refusal({ ...base, messages: [user(text('a')), assistant(call), user(result)] })).toBe(inResult)
  })

  test('count by their pages, together with images', async () => {
    const small = { ...base, model: 'claude-opus-4-5' }
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    expect(await status({ ...small, messages: [user(base64(pdf(99)), image)] })).toBe(200)
    expect(await refusal({ ...small, messages: [user(base64(pdf(99)), image, image)] })).toBe(
      'Too much media: 99 document pages + 2 images > 100',
    )
    // A window of a million tokens takes more.
    expect(await status({ ...base, messages: [user(base64(pdf(600)))] })).toBe(200)
    expect(await refusal({ ...base, messages: [user(base64(pdf(600)), image)] })).toBe(
      'Too much media: 600 document pages + 1 images > 600',
    )
  })
})

describe('calls and results', () => {
  const call = (name: string) => ({ type: 'tool_use', id: 't', name, input: {} })
  const result = (content: unknown, more: object = {}) => ({ type: 'tool_result', tool_use_id: 't', content, ...more })
  const asked = (name: string, answer: object) => ({
    ...base,
    messages: [user(text('a')), assistant(call(name)), user(answer)],
  })
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }

  test.each(['functions.Read', 'größe', '', 'n'.repeat(129)])('of a tool named %j are refused', async (name) => {
    const pattern = "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
    expect(await refusal(asked(name, result('x')))).toBe(`messages.1.content.0.tool_use.name: ${pattern}`)
    const tools = [{ name, input_schema: { type: 'object' } }]
    expect(await refusal({ ...base, tools })).toBe(`tools.0.custom.name: ${pattern}`)
  })

  test.each(['a b', 'ü', ''])('with an id such as %j are refused', async (id) => {
    const pattern = "String should match pattern '^[a-zA-Z0-9_-]+$'"
    const called = (callId: string, resultId: string) => ({
      ...base,
      messages: [
        user(text('a')),
        assistant({ ...call('Read'), id: callId }),
        user({ ...result('x'), tool_use_id: resultId }),
      ],
    })
    expect(await refusal(called(id, 't'))).toBe(`messages.1.content.0.tool_use.id: ${pattern}`)
    expect(await refusal(called('t', id))).toBe(`messages.2.content.0.tool_result.tool_use_id: ${pattern}`)
    expect(await status(called('-_0Z', '-_0Z'))).toBe(200)
  })

  test('may have a name of 128 characters', async () => {
    expect(await status(asked('n'.repeat(128), result('x')))).toBe(200)
  })

  test.each([image, { type: 'tool_reference', tool_name: 'Read' }])('that failed hold only text: %j', async (block) => {
    const failed = { is_error: true }
    expect(await refusal(asked('Read', result([text('x'), block], failed)))).toBe(
      'messages.2.content.0.tool_result: all content must be type "text" if "is_error" is true',
    )
    expect(await status(asked('Read', result([text('x')], failed)))).toBe(200)
    expect(await status(asked('Read', result([text('x'), image], { is_error: false })))).toBe(200)
  })

  test.each<readonly [object, string]>([
    [{ type: 'tool_reference', tool_name: 'Read', score: 1 }, 'tool_reference.score: Extra inputs are not permitted'],
    [{ type: 'search_result', source: 'a', content: [text('x')] }, 'search_result.title: Field required'],
    [
      { type: 'search_result', source: 'a', title: 'b', content: [] },
      'search_result.content: List should have at least 1 item',
    ],
    [{ ...text('x'), index: 1 }, 'text.index: Extra inputs are not permitted'],
  ])('hold no odd blocks: %j', async (block, message) => {
    expect(await refusal(asked('Read', result([block])))).toBe(`messages.2.content.0.tool_result.content.0.${message}`)
  })
})

describe('settings', () => {
  const management = betas('context-management-2025-06-27', 'compact-2026-01-12')
  const keep = (value: object) => ({
    ...base,
    thinking: { type: 'adaptive' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: value }] },
  })
  const edit = 'context_management.edits.0'

  test('of kept thinking need a number where they count, and take none where they do not', async () => {
    const place = `${edit}.clear_thinking_20251015.keep`
    expect(await refusal(keep({ type: 'thinking_turns' }), management)).toBe(`${place}.value: Field required`)
    expect(await refusal(keep({ type: 'all', value: 3 }), management)).toBe(
      `${place}.value: Extra inputs are not permitted`,
    )
    expect(await status(keep({ type: 'thinking_turns', value: 1 }), management)).toBe(200)
    expect(await status(keep({ type: 'all' }), management)).toBe(200)
  })

  test('of context management have no other field, and compaction no model that lacks it', async () => {
    const odd = { ...base, context_management: { edits: [], color: 'red' } }
    expect(await refusal(odd, management)).toBe('context_management.color: Extra inputs are not permitted')
    const compact = { context_management: { edits: [{ type: 'compact_20260112' }] } }
    expect(await refusal({ ...base, ...compact, model: 'claude-opus-4-5' }, management)).toBe(
      `${edit}: \`compact_20260112\` is not supported on this model`,
    )
    expect(await status({ ...base, ...compact }, management)).toBe(200)
    // The header of another edit does not make it known.
    expect(await refusal({ ...base, ...compact }, betas('context-management-2025-06-27'))).toBe(
      `${edit}: Input tag 'compact_20260112' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919', 'clear_thinking_20251015'`,
    )
  })

  test('of output are known, and a task budget needs its beta', async () => {
    const output = (output_config: object) => ({ ...base, output_config })
    const budget = { task_budget: { type: 'tokens', total: 20_000, remaining: 0 } }
    expect(await refusal(output({ color: 'red' }))).toBe('output_config.color: Extra inputs are not permitted')
    expect(await refusal(output(budget))).toBe('output_config.task_budget: Extra inputs are not permitted')
    const beta = betas('task-budgets-2026-03-13')
    expect(await refusal(output({ task_budget: { type: 'words', total: 9 } }), beta)).toBe(
      "output_config.task_budget.type: Input should be 'tokens'",
    )
    expect(await status(output(budget), beta)).toBe(200)
  })

  test('in the middle of a conversation need their betas', async () => {
    const midway = (message: object) => ({ ...base, messages: [user(text('a')), { role: 'system', ...message }] })
    const effort = midway({ content: 'b', output_config: { effort: 'low' } })
    expect(await refusal(effort)).toBe('messages.1.output_config: Extra inputs are not permitted')
    expect(await status(effort, betas('mid-conversation-output-config-2026-07-01'))).toBe(200)
    const addition = midway({
      content: [{ type: 'tool_addition', tool: { type: 'tool_reference', tool_name: 'read' } }],
    })
    expect(await refusal(addition)).toMatch(
      /^messages.1.content.0: Input tag 'tool_addition' found using 'type' does not/,
    )
    expect(await status(addition, betas('mid-conversation-tool-changes-2026-07-01'))).toBe(200)
  })
})
