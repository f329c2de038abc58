// The bodies of both providers for one conversation with all features, as request-shape snapshots.
import { expect, test } from 'vitest'
import type { ModelRequest } from '../core/ports/model.ts'
import { messageBody } from './anthropic/client.ts'
import { chatBody } from './openai/body.ts'

/** Has extra fields of a view, which must not be sent. */
const human = { role: 'user' as const, content: 'Look at this.', origin: 'human', uuid: 'u1', time: 5 }

const request: ModelRequest = {
  source: 'turn',
  model: '',
  system: [{ type: 'text', text: 'You read files.', cache_control: { type: 'ephemeral' } }],
  tools: [
    { name: 'read', description: 'Reads', input_schema: { type: 'object', properties: { path: { type: 'string' } } } },
    { type: 'web_search_20250305', name: 'web_search' },
  ],
  messages: [
    human,
    {
      role: 'assistant',
      content: [
        { type: 'compaction', content: 'Before: all was well.', encrypted_content: 'abc' },
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'text', text: 'I read.' },
        { type: 'tool_use', id: 't1', name: 'read', input: { path: 'a.ts' } },
        { type: 'tool_use', id: 't2', name: 'read', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', is_error: true, content: 'no such file' },
        {
          type: 'tool_result',
          tool_use_id: 't2',
          content: [
            { type: 'text', text: 'a picture' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw==' } },
          ],
        },
        { type: 'text', text: 'And these?' },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        {
          type: 'document',
          title: 'a.pdf',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain words' } },
      ],
    },
    { role: 'assistant', content: [{ type: 'thinking', thinking: 'Nothing to say.', signature: 'sig' }] },
    { role: 'user', content: 'Well?' },
  ],
  thinking: { type: 'adaptive' },
  betas: ['context-management-2025-06-27', 'compact-2026-01-12', 'compact-2026-01-12'],
  options: {
    context_management: { edits: [{ type: 'compact_20260112' }] },
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    stop_sequences: ['END'],
    temperature: 0,
    metadata: { user_id: 'u' },
  },
}

test('the Messages API gets the request unchanged', () => {
  expect(JSON.stringify(messageBody(request, { model: 'claude-opus-5' }), null, 1)).toMatchSnapshot()
})

test('chat completions get what they have a place for', () => {
  const defaults = { model: 'gpt-large', maxTokensField: 'max_tokens' } as const
  expect(JSON.stringify(chatBody({ ...request, maxTokens: 100 }, defaults), null, 1)).toMatchSnapshot()
})

test('the output limit is the request’s, else the client’s, else a usual one within the model’s', () => {
  const limitOf = (model: string, more: Partial<ModelRequest> = {}, maxTokens?: number) =>
    messageBody({ ...request, ...more }, { model, ...(maxTokens === undefined ? {} : { maxTokens }) }).max_tokens
  expect([
    limitOf('claude-opus-5', { maxTokens: 5 }, 7),
    limitOf('claude-opus-5', {}, 7),
    limitOf('claude-opus-5'),
    limitOf('claude-3-5-haiku'),
    limitOf('somebody-else'),
  ]).toEqual([5, 7, 32_000, 8_192, 32_000])
})

test('chat completions set no limit unless they are told to, and put the body of the host last', () => {
  const { maxTokens: _, ...plain } = request
  const body = chatBody(plain, {
    model: 'm',
    maxTokensField: 'max_completion_tokens',
    body: { stream_options: {}, seed: 7 },
  })
  expect([body.max_tokens, body.max_completion_tokens, body.stream_options, body.seed]).toEqual([
    undefined,
    undefined,
    {},
    7,
  ])
})
