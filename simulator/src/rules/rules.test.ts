// Every rule with the API's wording: one request that breaks it, one line that says how it is refused.
import { describe, expect, test } from 'vitest'
import { ask, errorOf, simulate } from '../testing/ask.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more })
const use = (id: string, more: object = {}) => ({ type: 'tool_use', id, name: 'read', input: {}, ...more })
const result = (id: string, more: object = {}) => ({ type: 'tool_result', tool_use_id: id, content: 'ok', ...more })
const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) } })
const base = { model: 'claude-sonnet-5', max_tokens: 100, messages: [user('Hello')] }
const old = { ...base, model: 'claude-sonnet-4-5' }
const opus = { ...base, model: 'claude-opus-5' }
const tool = { name: 'read', input_schema: { type: 'object' } }
const png = (width: number, height: number) => {
  const head = Buffer.alloc(33)
  head.write('\x89PNG\r\n\x1a\n', 0, 'latin1')
  head.writeUInt32BE(width, 16)
  head.writeUInt32BE(height, 20)
  return head.toString('base64')
}
const image = (data: string, media_type = 'image/png') => ({
  type: 'image',
  source: { type: 'base64', media_type, data },
})
const without = (key: string) => Object.fromEntries(Object.entries(base).filter(([name]) => name !== key))

type Case = readonly [name: string, body: unknown, message: string, headers?: Readonly<Record<string, string>>]

const cases: readonly Case[] = [
  ['no model', without('model'), 'model: Field required'],
  ['no messages', without('messages'), 'messages: Field required'],
  ['no max_tokens', without('max_tokens'), 'max_tokens: Field required'],
  ['an unknown field', { ...base, color: 'red' }, 'color: Extra inputs are not permitted'],
  ['temperature, since 2026-10-21', { ...base, temperature: 1 }, 'temperature: Extra inputs are not permitted'],
  [
    'a temperature out of range before',
    { ...base, temperature: 2 },
    'temperature: Input should be less than or equal to 1',
    { 'anthropic-version': '2023-06-01' },
  ],
  [
    'an unknown version',
    base,
    'anthropic-version: "2020-01-01" is not a valid version',
    { 'anthropic-version': '2020-01-01' },
  ],
  [
    'a temperature on a model that samples by itself',
    { ...base, temperature: 0.5 },
    '`temperature` is deprecated for this model.',
    { 'anthropic-version': '2023-06-01' },
  ],
  [
    'effort on a model that knows none',
    { ...old, output_config: { effort: 'high' } },
    'This model does not support the effort parameter.',
  ],
  [
    'a time of clearing that nobody offers',
    { ...opus, messages: [user('a'), { role: 'system', content: 'b', clear_at: 'tomorrow' }] },
    "messages.1.clear_at: Input should be 'next_user_message' or 'never'",
    { 'anthropic-beta': 'mid-conversation-system-clear-at-2026-08-21' },
  ],
  [
    'a turn that has thinking and does not begin with it',
    {
      ...old,
      max_tokens: 2_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      messages: [
        user('a'),
        assistant([text('b'), { type: 'thinking', thinking: 'x', signature: 'y' }, text('c')]),
        user('d'),
      ],
    },
    'messages.1.content.0: If an assistant message contains any thinking blocks, the first block must be `thinking` or `redacted_thinking`. Found `text`.',
  ],
  ['max_tokens of the wrong type', { ...base, max_tokens: '100' }, 'max_tokens: Input should be a valid integer'],
  ['max_tokens below zero', { ...base, max_tokens: -1 }, 'max_tokens: Input should be greater than or equal to 0'],
  [
    'max_tokens over the limit of the model',
    { ...base, max_tokens: 128_001 },
    'max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-sonnet-5',
  ],
  ['an empty list of messages', { ...base, messages: [] }, 'messages: at least one message is required'],
  [
    'a first message from the assistant',
    { ...base, messages: [assistant('Hi'), user('Hello')] },
    'messages: first message must use the "user" role',
  ],
  [
    'an unknown role',
    { ...base, messages: [{ role: 'tool', content: 'x' }] },
    "messages.0.role: Input should be 'user', 'assistant' or 'system'",
  ],
  [
    'a system message on a model without them',
    { ...old, messages: [user('Hello'), { role: 'system', content: 'Be brief.' }] },
    "role 'system' is not supported on this model",
  ],
  [
    'clear_at without its beta',
    { ...opus, messages: [user('Hello'), { role: 'system', content: 'Be brief.', clear_at: 'never' }] },
    'messages.1.clear_at: Extra inputs are not permitted',
  ],
  ['a message without content', { ...base, messages: [{ role: 'user' }] }, 'messages.0.content: Field required'],
  ['content that is no list', { ...base, messages: [user(7)] }, 'messages.0.content: Input should be a valid list'],
  [
    'empty content',
    { ...base, messages: [user('a'), assistant([]), user('b')] },
    'messages.1: all messages must have non-empty content except for the optional final assistant message',
  ],
  ['an empty text block', { ...base, messages: [user([text('')])] }, 'messages: text content blocks must be non-empty'],
  [
    'a text block of blanks',
    { ...base, messages: [user([text(' \n')])] },
    'messages: text content blocks must contain non-whitespace text',
  ],
  [
    'an empty text block in a result',
    { ...base, messages: [user('a'), assistant([use('t1')]), user([result('t1', { content: [text('')] })])] },
    'messages: text content blocks must be non-empty',
  ],
  [
    'an answer that begins and ends with a blank',
    { ...old, messages: [user('a'), assistant('The answer is ')] },
    'messages: final assistant content cannot end with trailing whitespace',
  ],
  [
    'a begun answer on a model without prefill',
    { ...base, messages: [user('a'), assistant('The answer is')] },
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  ],
  [
    'an empty begun answer on a model without prefill',
    { ...base, messages: [user('a'), assistant([])] },
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  ],
  [
    'a begun answer without thinking, with manual thinking',
    {
      ...old,
      max_tokens: 2_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      messages: [user('a'), assistant('The answer is')],
    },
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking',
  ],
  [
    'a temperature with manual thinking',
    { ...old, max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 }, temperature: 0.5 },
    '`temperature` may only be set to 1 when thinking is enabled.',
    { 'anthropic-version': '2023-06-01' },
  ],
  [
    'a block of no known type',
    { ...base, messages: [user([{ type: 'video' }])] },
    "messages.0.content.0: Input tag 'video' found using 'type' does not match any of the expected tags: 'text', 'image', 'document', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking', 'compaction', 'search_result', 'container_upload', 'server_tool_use', 'web_search_tool_result', 'web_fetch_tool_result', 'code_execution_tool_result', 'bash_code_execution_tool_result', 'text_editor_code_execution_tool_result', 'tool_search_tool_result', 'mcp_tool_use', 'mcp_tool_result', 'advisor_tool_result', 'fallback'",
  ],
  [
    'an unknown field of a block',
    { ...base, messages: [user([text('a', { color: 'red' })])] },
    'messages.0.content.0.text.color: Extra inputs are not permitted',
  ],
  [
    'a tool use from the user',
    { ...base, messages: [user([use('t1')])] },
    'messages.0: `tool_use` blocks can only be in `assistant` messages',
  ],
  [
    'a document from the assistant, since 2026-10-21',
    {
      ...base,
      messages: [
        user('a'),
        assistant([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' } }]),
        user('b'),
      ],
    },
    'messages.1: `document` blocks can only be in `user` messages',
  ],
  [
    'a tool use that is not answered',
    { ...base, messages: [user('a'), assistant([use('t1'), use('t2')]), user([result('t2')])] },
    'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  ],
  [
    'a tool use at the very end',
    { ...base, messages: [user('a'), assistant([use('t1')])] },
    'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  ],
  [
    'text before the results',
    { ...base, messages: [user('a'), assistant([use('t1')]), user([text('see'), result('t1')])] },
    'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  ],
  [
    'a result without its use',
    { ...base, messages: [user('a'), assistant('b'), user([result('t1')])] },
    'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
  ],
  [
    'a result given twice',
    { ...base, messages: [user('a'), assistant([use('t1')]), user([result('t1'), result('t1')])] },
    'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1',
  ],
  [
    'a tool use id used twice',
    {
      ...base,
      messages: [user('a'), assistant([use('t1')]), user([result('t1')]), assistant([use('t1')]), user([result('t1')])],
    },
    'messages.3.content.0: `tool_use` ids must be unique',
  ],
  [
    'a tool input that is a string',
    { ...base, messages: [user('a'), assistant([use('t1', { input: '{}' })]), user([result('t1')])] },
    'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
  ],
  [
    'an id with a dot in it',
    { ...base, messages: [user('a'), assistant([use('t.1')]), user([result('t.1')])] },
    "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  ],
  [
    'an image inside the assistant message',
    { ...base, messages: [user('a'), assistant([image(png(1, 1))]), user('b')] },
    'messages.1: `image` blocks can only be in `user` messages',
  ],
  [
    'an image of the wrong kind',
    { ...base, messages: [user([image(png(1, 1), 'image/tiff')])] },
    "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
  ],
  [
    'an image that is not what it says',
    { ...base, messages: [user([image(png(1, 1), 'image/gif')])] },
    'messages.0.content.0.image.source.base64.data: Image does not match the provided media type image/gif',
  ],
  ['an image that is none', { ...base, messages: [user([image('AAAA')])] }, 'Could not process image'],
  [
    'an image of too many bytes',
    { ...base, messages: [user([image(png(1, 1).padEnd(7_000_000, 'A'))])] },
    'messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5250000 bytes > 5242880 bytes',
  ],
  [
    'an image that is too wide',
    { ...base, messages: [user([image(png(8_001, 10))])] },
    'messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
  ],
  [
    'a large image among many',
    { ...base, messages: [user([...Array.from({ length: 20 }, () => image(png(9, 9))), image(png(2_001, 9))])] },
    'messages.0.content.20.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
  ],
  [
    'too many images',
    { ...old, messages: [user(Array.from({ length: 101 }, () => image(png(9, 9))))] },
    'Too much media: 0 document pages + 101 images > 100',
  ],
  [
    'five marks',
    { ...base, messages: [user(Array.from({ length: 5 }, () => text('a', mark())))] },
    'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  ],
  [
    'four marks and the automatic one',
    { ...base, ...mark(), messages: [user([...Array.from({ length: 4 }, () => text('a', mark())), text('b')])] },
    'A maximum of 4 blocks with cache_control may be provided. Found 5.',
  ],
  [
    'an hour after five minutes',
    { ...base, system: [text('a', mark())], messages: [user([text('b', mark('1h'))])] },
    "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
  ],
  [
    'a lifetime nobody offers',
    { ...base, messages: [user([text('a', mark('1d'))])] },
    "messages.0.content.0.text.cache_control.ttl: Input should be '5m' or '1h'",
  ],
  [
    'a mark on an empty text',
    { ...base, messages: [user([text('', mark())])] },
    'messages.0.content.0.text: cache_control cannot be set for empty text blocks',
  ],
  ['a tool without a schema', { ...base, tools: [{ name: 'read' }] }, 'tools.0.custom.input_schema: Field required'],
  [
    'a tool with a blank in its name',
    { ...base, tools: [{ ...tool, name: 'read file' }] },
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  ],
  [
    'a choice among no tools',
    { ...base, tool_choice: { type: 'auto' } },
    'tool_choice.auto may only be specified while providing tools',
  ],
  [
    'the choice of a tool that is not there',
    { ...base, tools: [tool], tool_choice: { type: 'tool', name: 'write' } },
    "Tool 'write' not found in provided tools",
  ],
  [
    'a blank stop sequence',
    { ...base, stop_sequences: [' '] },
    'stop_sequences: each stop sequence must contain non-whitespace',
  ],
  ['two tools of one name', { ...base, tools: [tool, tool] }, 'tools: Tool names must be unique.'],
  ['system as a number', { ...base, system: 3 }, 'system: Input should be a valid list'],
  ['an empty system block', { ...base, system: [text('')] }, 'system: text content blocks must be non-empty'],
  ['an image in system', { ...base, system: [image(png(1, 1))] }, "system.0.type: Input should be 'text'"],
  [
    'a thinking budget that is too small',
    { ...base, max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_000 } },
    'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
  ],
  [
    'a thinking budget over max_tokens',
    { ...old, max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 2_000 } },
    '`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size',
  ],
  [
    'adaptive thinking on a model without it',
    { ...old, thinking: { type: 'adaptive' } },
    'adaptive thinking is not supported on this model',
  ],
  [
    'switching off what is always on',
    { ...base, model: 'claude-fable-5-1', thinking: { type: 'disabled' } },
    '"thinking.type.disabled" is not supported for this model. Thinking defaults to adaptive mode when not specified; use "thinking.type.enabled" with "budget_tokens" for extended thinking.',
  ],
  [
    'a budget for thinking on a model that has none',
    { ...base, max_tokens: 2_000, thinking: { type: 'enabled', budget_tokens: 1_024 } },
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  ],
  [
    'the highest effort without thinking',
    { ...base, thinking: { type: 'disabled' }, output_config: { effort: 'max' } },
    '"thinking.type.disabled" is not supported for this model with effort "max".',
  ],
  ['a stream of nothing', { ...base, max_tokens: 0, stream: true }, 'max_tokens: 0 cannot be combined with `stream`'],
  [
    'a mark on the request for another lifetime than the last block has',
    { ...base, ...mark('1h'), messages: [user([text('a', mark())])] },
    'cache_control: the last block is already marked with another ttl (messages.0.content.0.cache_control.ttl)',
  ],
  [
    'a system message before a user message',
    { ...opus, messages: [user('a'), { role: 'system', content: 'b' }, user('c')] },
    'messages.1: a `system` message must immediately follow a `user` turn, and precede an `assistant` turn or end the list',
  ],
  [
    'a forced tool on a model that binds thinking',
    { ...base, model: 'claude-fable-5-1', tools: [tool], tool_choice: { type: 'any' } },
    'tool_choice: type "tool" and "any" are not supported for this model.',
  ],
  [
    'thinking with a forced tool',
    {
      ...old,
      max_tokens: 2_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      tools: [tool],
      tool_choice: { type: 'any' },
    },
    'Thinking may not be enabled when tool_choice forces tool use.',
  ],
  [
    'a tool turn that does not begin with thinking',
    {
      ...old,
      max_tokens: 2_000,
      thinking: { type: 'enabled', budget_tokens: 1_024 },
      messages: [user('a'), assistant([use('t1')]), user([result('t1')])],
    },
    'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking',
  ],
  [
    'a turn that ends in thinking',
    { ...base, messages: [user('a'), assistant([{ type: 'thinking', thinking: 'x', signature: 'y' }]), user('b')] },
    'messages.1.content.0: The final block in an assistant message cannot be `thinking`.',
  ],
  [
    'thinking without a signature',
    { ...base, messages: [user('a'), assistant([{ type: 'thinking', thinking: 'x' }, text('b')]), user('c')] },
    'messages.1.content.0.thinking.signature: Field required',
  ],
  [
    'context_management without its beta',
    { ...base, context_management: { edits: [] } },
    'context_management: Extra inputs are not permitted',
  ],
  [
    'block_binding without its beta',
    { ...base, thinking: { type: 'adaptive', block_binding: {} } },
    'thinking.adaptive.block_binding: Extra inputs are not permitted',
  ],
  [
    'a compaction edit without its beta',
    { ...base, context_management: { edits: [{ type: 'compact_20260112' }] } },
    "context_management.edits.0: Input tag 'compact_20260112' found using 'type' does not match any of the expected tags: 'clear_tool_uses_20250919', 'clear_thinking_20251015'",
    { 'anthropic-beta': 'context-management-2025-06-27' },
  ],
  [
    'a compaction trigger that is too small',
    {
      ...base,
      context_management: { edits: [{ type: 'compact_20260112', trigger: { type: 'input_tokens', value: 49_999 } }] },
    },
    'context_management.edits.0.compact_20260112.trigger.value: Input should be greater than or equal to 50000',
    { 'anthropic-beta': 'compact-2026-01-12' },
  ],
  [
    'a body that is no JSON',
    '{"model"',
    "The request body is not valid JSON: Expected ':' after property name in JSON at position 8 (line 1 column 9)",
  ],
  ['a body that is a list', [], 'Input should be an object'],
]

describe('the API refuses', () => {
  const simulator = simulate()
  for (const [name, body, message, headers = {}] of cases) {
    test(name, async () => {
      const told = await ask(simulator, body, { headers })
      expect([told.status, errorOf(told)]).toEqual([400, { type: 'invalid_request_error', message }])
      expect(told.body.request_id).toMatch(/^req_/)
    })
  }

  test('a request without a key, with 401', async () => {
    const told = await ask(simulator, base, { headers: { 'x-api-key': '' } })
    expect([told.status, errorOf(told)]).toEqual([
      401,
      { type: 'authentication_error', message: 'x-api-key header is required' },
    ])
  })

  test('a model it does not have, with 404', async () => {
    const told = await ask(simulator, { ...base, model: 'gpt-1' })
    expect([told.status, errorOf(told)]).toEqual([404, { type: 'not_found_error', message: 'model: gpt-1' }])
  })

  test('a path it does not have, with 404', async () => {
    const told = await ask(simulator, base, { path: '/v1/nothing' })
    expect([told.status, errorOf(told)]).toEqual([404, { type: 'not_found_error', message: 'Not Found' }])
  })

  test('a body over the limit, with 413', async () => {
    const small = simulate({ maxBodyBytes: 1_000 })
    const told = await ask(small, { ...base, messages: [user('é'.repeat(600))] })
    expect([told.status, errorOf(told)]).toEqual([
      413,
      { type: 'request_too_large', message: 'Request exceeds the maximum size' },
    ])
  })

  test('more than a hundred thousand messages', async () => {
    const messages = Array.from({ length: 100_001 }, () => user('a'))
    const told = await ask(simulator, { ...base, messages })
    expect(errorOf(told)).toEqual({
      type: 'invalid_request_error',
      message: 'messages: List should have at most 100000 items after validation, not 100001',
    })
  })
})

describe('the API accepts', () => {
  const simulator = simulate()
  const accepted: readonly (readonly [name: string, body: object, headers?: Readonly<Record<string, string>>])[] = [
    ['consecutive messages of one role, which are one turn', { ...base, messages: [user('a'), user('b')] }],
    [
      'results in two messages after their uses',
      {
        ...base,
        messages: [
          user('a'),
          assistant([use('t1')]),
          assistant([use('t2')]),
          user([result('t1')]),
          user([result('t2')]),
        ],
      },
    ],
    ['a prefill on a model that takes it', { ...old, messages: [user('a'), assistant('The answer is')] }],
    ['an empty final assistant message', { ...old, messages: [user('a'), assistant([])] }],
    [
      'unknown betas, and bearer keys',
      base,
      { 'anthropic-beta': 'nothing-2031-01-01', 'x-api-key': '', authorization: 'Bearer k' },
    ],
    [
      'a system message after the user, without a beta',
      { ...opus, messages: [user('a'), { role: 'system', content: 'b' }] },
    ],
    ['a temperature in the version before', { ...old, temperature: 0.5 }, { 'anthropic-version': '2023-06-01' }],
    [
      'the automatic mark on a block that has one',
      { ...base, ...mark(), messages: [user(Array.from({ length: 4 }, () => text('a', mark())))] },
    ],
    [
      'tool uses in a request without tools',
      { ...base, messages: [user('a'), assistant([use('t1')]), user([result('t1')])] },
    ],
    ['null where a field is optional', { ...base, tools: null, tool_choice: null, cache_control: null }],
  ]
  test('a begun answer to be counted, on a model that would not continue it', async () => {
    const { max_tokens: _, ...begun } = { ...base, messages: [user('a'), assistant('The answer is')] }
    expect((await ask(simulator, begun, { path: '/v1/messages/count_tokens' })).status).toBe(200)
  })

  for (const [name, body, headers = {}] of accepted) {
    test(name, async () => {
      const told = await ask(simulator, body, { path: '/v1/messages?beta=true', headers })
      expect([told.status, told.body.error]).toEqual([200, undefined])
    })
  }
})
