// Every wording that the table knows, with its numbers, and wordings that must never count as an overflow. All are from real
// servers, taken from public documentation and public issues.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelAnswer, Overflow } from '../ports/model.ts'
import { overflowOfAnswer, type Refusal, readRefusal } from './refusal.ts'

type Case = readonly [string, string, Overflow]

/** Sent as text in an OpenAI-like body with status 400, unless a test sets something else. */
const wordings: readonly Case[] = [
  ['anthropic', 'prompt is too long: 213462 tokens > 200000 maximum', { actual: 213_462, limit: 200_000 }],
  [
    'anthropic-output',
    'input length and `max_tokens` exceed context limit: 197961 + 20000 > 204648, decrease input length or `max_tokens` and try again',
    { actual: 197_961, limit: 204_648, maxTokens: 20_000 },
  ],
  [
    'fireworks',
    'The prompt is too long: 140000, model maximum context length: 131071',
    { actual: 140_000, limit: 131_071 },
  ],
  ['gateway', 'capability_rejected: prompt_too_long', {}],
  ['bedrock', 'Input is too long for requested model.', {}],
  ['bedrock', 'ValidationException: The model returned the following errors: too many total text bytes: 13 > 12', {}],
  [
    'bedrock-mantle',
    'prompt tokens (281926) exceed customer model maximum (278528) for 7903dfda',
    { actual: 281_926, limit: 278_528 },
  ],
  [
    'bedrock-nova',
    'Too many input tokens. Max input tokens: 300000, request input token count: 400123',
    { actual: 400_123, limit: 300_000 },
  ],
  ['bedrock-nova', 'Input Tokens Exceeded: Number of input tokens exceeds maximum length.', {}],
  [
    'google',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    { actual: 1_196_265, limit: 1_048_575 },
  ],
  [
    'google',
    'Unable to submit request because the input token count is 1050000 but model only supports up to 1048576.',
    { actual: 1_050_000, limit: 1_048_576 },
  ],
  ['google', 'The input token count exceeds the maximum number of tokens allowed 1048576.', {}],
  [
    'openai',
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.",
    { actual: 204_308, limit: 128_000 },
  ],
  [
    'openrouter',
    "This model's maximum context length is 8192 tokens, however you requested 8977 tokens (8977 in your prompt; 0 for the completion). Please reduce your prompt; or completion length.",
    { actual: 8_977, limit: 8_192 },
  ],
  [
    'openai',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens. Please reduce the length of the messages.',
    { actual: 300_123, limit: 272_000 },
  ],
  ['openai', 'Your input exceeds the context window of this model. Please adjust your input and try again.', {}],
  ['openai', "Your input exceeds the model's context window.", {}],
  ['openai', 'Number of tokens (757) exceeded maximum context length (512).', { actual: 757, limit: 512 }],
  [
    'xai',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    { actual: 537_812, limit: 131_072 },
  ],
  ['groq', 'Please reduce the length of the messages or completion.', {}],
  [
    'cerebras',
    'Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192',
    { actual: 9_000, limit: 8_192 },
  ],
  [
    'mistral',
    'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    { actual: 140_000, limit: 131_072 },
  ],
  ['copilot', 'prompt token count of 135355 exceeds the limit of 128000', { actual: 135_355, limit: 128_000 }],
  ['kimi', 'Your request exceeded model token limit: 262144 (requested: 300000)', { actual: 300_000, limit: 262_144 }],
  ['minimax', 'invalid params, context window exceeds limit (2013)', {}],
  ['cohere', 'too many tokens: size limit exceeded by 300 tokens. Try using shorter or fewer inputs', {}],
  [
    'cohere',
    'total number of tokens (prompt and prediction) cannot exceed 4096 - received 5000. Try using a shorter prompt',
    { actual: 5_000, limit: 4_096 },
  ],
  ['qwen', 'InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]', { limit: 98_304 }],
  [
    'poolside',
    'Input length 140,000 exceeds the maximum allowed input length of 131,072 tokens.',
    { actual: 140_000, limit: 131_072 },
  ],
  [
    'openrouter',
    "This endpoint's maximum context length is 204800 tokens. However, you requested about 205432 tokens (81684 of text input, 3748 of tool input, 120000 in the output). Please reduce the length of either one.",
    { actual: 85_432, limit: 204_800, maxTokens: 120_000 },
  ],
  [
    'openai',
    "This endpoint's maximum context length is 16384 tokens. However, you requested about 94307 tokens (94307 of text input). Please reduce the length of either one.",
    { actual: 94_307, limit: 16_384 },
  ],
  [
    'openrouter',
    "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.",
    { actual: 112_946, limit: 16_384, maxTokens: 10_000 },
  ],
  [
    'vllm',
    "This model's maximum context length is 8192 tokens. However, your request has 9000 input tokens. Please reduce the length of the input messages.",
    { actual: 9_000, limit: 8_192 },
  ],
  [
    'vllm',
    "'max_tokens' or 'max_completion_tokens' is too large: 64. This model's maximum context length is 8192 tokens and your request has 8150 input tokens (64 > 8192 - 8150).",
    { actual: 8_150, limit: 8_192, maxTokens: 64 },
  ],
  [
    'vllm',
    "This model's maximum context length is 8192 tokens. However, you requested 64 output tokens and your prompt contains 10000 input tokens, for a total of 10064 tokens.",
    { actual: 10_000, limit: 8_192, maxTokens: 64 },
  ],
  [
    'vllm-at-least',
    "This model's maximum context length is 8192 tokens. However, you requested 64 output tokens and your prompt contains at least 8129 input tokens, for a total of at least 8193 tokens.",
    { limit: 8_192, maxTokens: 64 },
  ],
  [
    'vllm',
    "This model's maximum context length is 8192 tokens. However, you requested 64 output tokens and your prompt contains 100000 characters (more than 81280 characters, which is the upper bound for 8128 input tokens).",
    { limit: 8_192, maxTokens: 64 },
  ],
  [
    'vllm',
    "You passed 5000 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 3996 tokens.",
    { actual: 5_000, limit: 4_096, maxTokens: 100 },
  ],
  [
    'vllm',
    'The decoder prompt (length 5000) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.',
    { actual: 5_000, limit: 4_096 },
  ],
  [
    'sglang',
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5000 tokens: 4000 tokens from the input messages and 1000 tokens for the completion.",
    { actual: 4_000, limit: 4_096, maxTokens: 1_000 },
  ],
  [
    'together',
    "The input (516368 tokens) is longer than the model's context length (262144 tokens).",
    { actual: 516_368, limit: 262_144 },
  ],
  [
    'tgi',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`',
    { actual: 4_000, limit: 4_096, maxTokens: 200 },
  ],
  [
    'tgi',
    'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000',
    { actual: 5_000, limit: 4_095 },
  ],
  [
    'llama-cpp',
    'request (9412 tokens) exceeds the available context size (8192 tokens), try increasing it',
    { actual: 9_412, limit: 8_192 },
  ],
  [
    'llama-cpp',
    'the request exceeds the available context size. try increasing the context size or enable context shift',
    {},
  ],
  ['llama-cpp', 'Context size has been exceeded.', {}],
  ['lm-studio', 'Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)', { actual: 15_028, limit: 7_424 }],
  [
    'lm-studio',
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096). Try to load the model with a larger context length',
    { actual: 13_055, limit: 4_096 },
  ],
  [
    'lm-studio',
    'Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.',
    { actual: 111_490, limit: 32_768 },
  ],
  [
    'lm-studio',
    'Reached context length of 4096 tokens with model (arch: qwen3vlmoe) that does not currently support mid-generation context overflow.',
    { limit: 4_096 },
  ],
  ['ollama', 'prompt too long; exceeded max context length by 100918 tokens', {}],
  ['ollama', 'input length exceeds the context length', {}],
  [
    'ds4',
    'Prompt has 140,000 tokens, but the configured context size is 131,072 tokens',
    { actual: 140_000, limit: 131_072 },
  ],
  ['openai', 'finish_reason: model_context_window_exceeded', {}],
  ['litellm', "litellm.ContextWindowExceededError: this model can't take it", {}],
  ['litellm', "Input exceeds the model's maximum context length of 32,768 tokens", { limit: 32_768 }],
  ['vllm', 'the engine prompt length exceeds the max_model_len', {}],
]

const body = (message: string) => ({ error: { message, type: 'invalid_request_error', code: null } })

describe('an overflow', () => {
  test.each(wordings)('in the words of %s: %s', (shape, message, overflow) => {
    const verdict = { reason: 'overflow', message, shape, overflow }
    expect(readRefusal({ status: 400, body: body(message) })).toEqual(verdict)
    // LiteLLM (PR 22624): no status inside a stream that began with 200.
    expect(readRefusal({ body: body(message) })).toEqual(verdict)
    expect(readRefusal({ status: 400, body: JSON.stringify(body(message)) })).toEqual(verdict)
    expect(readRefusal({ status: 500, body: body(message) })).toEqual(verdict)
  })

  test('is found behind a gateway that wraps the words of the provider', () => {
    const inner = { type: 'error', error: { type: 'invalid_request_error', message: wordings[0]?.[1] } }
    const told: readonly unknown[] = [
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: JSON.stringify(inner) } } },
      { error: { message: `litellm.BadRequestError: AnthropicException - ${JSON.stringify(inner)}`, code: '400' } },
      { detail: JSON.stringify({ error: { detail: JSON.stringify(inner) } }) },
      { object: 'error', type: 'invalid_request_error', message: wordings[0]?.[1] },
      { code: 'Client specified an invalid argument', error: wordings[0]?.[1] },
    ]
    for (const outer of told)
      expect(readRefusal({ status: 400, body: outer })).toMatchObject({
        reason: 'overflow',
        overflow: { actual: 213_462, limit: 200_000 },
      })
  })

  test('has its numbers in fields, with llama.cpp', () => {
    const error = {
      code: 400,
      type: 'exceed_context_size_error',
      message: 'too big',
      n_prompt_tokens: 13_392,
      n_ctx: 8_192,
    }
    expect(readRefusal({ status: 400, body: { error } }).overflow).toEqual({ actual: 13_392, limit: 8_192 })
  })

  test('is told by a code alone', () => {
    const error = { message: 'No.', code: 'context_length_exceeded' }
    expect(readRefusal({ status: 400, body: { error } })).toEqual({
      reason: 'overflow',
      message: 'No.',
      code: 'context_length_exceeded',
      shape: 'openai',
      overflow: {},
    })
  })

  test('is told by a status and nothing else at one provider, and at no other', () => {
    expect(readRefusal({ status: 400, body: '', endpoint: 'https://api.cerebras.ai/v1' }).reason).toBe('overflow')
    // pi took any "400 status code (no body)" for one, even when the SDK had dropped the body.
    expect(readRefusal({ status: 400, body: '', endpoint: 'https://example.com' }).reason).toBe('invalid')
  })
})

describe('never an overflow', () => {
  const rateLimits: readonly (readonly [string, string])[] = [
    ['opencode#13015, pi', 'Too many tokens per day, please wait before trying again.'],
    ['hermes-agent#70394', 'Throttling error: Too many tokens, please wait before trying again.'],
    ['opencode#7463', 'Tokens per minute limit exceeded - too many tokens processed'],
    ['senpi#1466', 'This request exceeds the limit of 30000 tokens per minute'],
    ['openclaw#13735', 'request reached organization TPD rate limit, current: 1506556, limit: 1500000'],
    ['pi', 'Daily token limit exceeded for this key'],
    ['codegraff#414', 'ThrottlingException: Too many tokens'],
  ]

  test.each(rateLimits)('a rate limit (%s): %s', (_, message) => {
    for (const status of [429, 400, 413, undefined]) {
      const { reason, overflow } = readRefusal({ body: body(message), ...(status === undefined ? {} : { status }) })
      expect([reason === 'overflow' || reason === 'too-large', overflow]).toEqual([false, undefined])
    }
    expect(readRefusal({ status: 429, body: body(message) }).reason).toBe('transient')
  })

  test('any wording at all under a status that says something else', () => {
    for (const [, message] of wordings)
      for (const status of [401, 402, 403, 404, 408, 409, 429, 503, 529])
        expect(readRefusal({ status, body: body(message) }).reason).toMatch(/^(refused|transient)$/)
  })

  test('a quota that the request alone is over: waiting helps no more than compacting (opencode: any 413 was one)', () => {
    const groq =
      'Request too large for model `llama` in organization `o` on tokens per minute (TPM): Limit 6000, Requested 7012, please reduce your message size and try again.'
    expect(readRefusal({ status: 413, body: { error: { message: groq, code: 'rate_limit_exceeded' } } }).reason).toBe(
      'refused',
    )
    expect(readRefusal({ status: 429, body: { error: { message: groq, code: 'rate_limit_exceeded' } } }).reason).toBe(
      'refused',
    )
    const wait =
      'Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.'
    expect(readRefusal({ status: 429, body: { error: { message: wait } } }).reason).toBe('transient')
  })

  const mistakes: readonly (readonly [string, string])[] = [
    [
      'hermes-agent#51773',
      'The parameter `max_tokens` specified in the request are not valid: integer above maximum value, expected a value <= 32768, but got 65536',
    ],
    ['strands#3722', 'max_output_tokens (200000) exceeds model maximum output tokens (128000)'],
    ['pi', "Invalid 'tools': array too long. The number of tools exceeds the limit of 128"],
    [
      'Anthropic',
      'max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5',
    ],
    [
      'Anthropic',
      'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.',
    ],
  ]
  test.each(mistakes)('a mistake in the request (%s): %s', (_, message) => {
    expect(readRefusal({ status: 400, body: body(message) })).toEqual({ reason: 'invalid', message })
  })
})

describe('what is too large', () => {
  const told: readonly Refusal[] = [
    {
      status: 413,
      body: { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
    },
    { status: 413, body: '<html><head><title>413 Request Entity Too Large</title></head></html>' },
    { status: 413, body: '' },
    {
      status: 400,
      body: body('messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes'),
    },
    {
      status: 400,
      body: body('At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels'),
    },
    { status: 400, body: body('A maximum of 100 PDF pages may be provided.') },
    {
      status: 400,
      body: body("Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760"),
    },
    { body: { type: 'error', error: { type: 'request_too_large', message: 'too large' } } },
  ]
  // claude-code#3397, claude-code#23392
  test.each([
    ['Too much media: 2 document pages + 107 images > 100', { count: 109, limit: 100 }],
    ['too many images and documents: 104 + 1 > 100', { count: 105, limit: 100 }],
    ['too many images', undefined],
  ])('can be images and pages: %s', (message, media) => {
    const verdict = { reason: 'too-large', message, ...(media === undefined ? {} : { media }) }
    expect(readRefusal({ status: 400, body: body(message) })).toEqual(verdict)
  })

  test.each(told)('is bytes, not tokens: %j', (refusal) => {
    expect(readRefusal(refusal)).toMatchObject({ reason: 'too-large' })
    expect(readRefusal(refusal).overflow).toBeUndefined()
  })
})

describe('everything else', () => {
  const rows: readonly (readonly [number | undefined, unknown, string])[] = [
    [401, body('invalid x-api-key'), 'refused'],
    [402, '', 'refused'],
    [403, body('no'), 'refused'],
    [404, body('model: claude-nowhere'), 'refused'],
    [400, body('Your credit balance is too low to access the Anthropic API.'), 'refused'],
    [429, { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }, 'refused'],
    [400, body('messages: first message must use the "user" role'), 'invalid'],
    [422, body('unknown field'), 'invalid'],
    [408, '', 'transient'],
    [409, '', 'transient'],
    [429, body('slow down'), 'transient'],
    [429, body('Extra usage is required for long context requests.'), 'refused'],
    [500, body('Internal server error'), 'transient'],
    [503, 'upstream connect error', 'transient'],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'transient'],
    [undefined, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'transient'],
    [undefined, { type: 'error', error: { type: 'api_error', message: 'Internal' } }, 'transient'],
    [undefined, { type: 'error', error: { type: 'rate_limit_error', message: 'Slow' } }, 'transient'],
    [undefined, { type: 'error', error: { type: 'authentication_error', message: 'No' } }, 'refused'],
    [undefined, { type: 'error', error: { type: 'invalid_request_error', message: 'Odd' } }, 'invalid'],
    [undefined, '', 'transient'],
    [undefined, { error: { code: 429, message: 'Provider returned error' } }, 'transient'],
    [undefined, { error: { code: '401', message: 'User not found.' } }, 'refused'],
    [200, { error: { code: 400, message: 'Odd' } }, 'invalid'],
  ]
  test.each(rows)('status %s, body %j: %s', (status, told, reason) => {
    expect(readRefusal({ body: told, ...(status === undefined ? {} : { status }) }).reason).toBe(reason)
  })

  test('the name that a provider has for it is kept, and nothing that is no name', () => {
    const codeOf = (error: object) => readRefusal({ status: 400, body: { error } }).code
    expect([
      codeOf({ message: 'No', code: 'odd', details: { error_code: 'compaction_nothing_to_summarize' } }),
      codeOf({ message: 'No', code: 'model_not_found' }),
      codeOf({ message: 'No', code: 400 }),
      codeOf({ message: 'No', code: '400' }),
      codeOf({ message: 'No', code: 'Client specified an invalid argument' }),
    ]).toEqual(['compaction_nothing_to_summarize', 'model_not_found', undefined, undefined, undefined])
  })

  test('no body whatever makes the reader fail, or take long', () => {
    fc.assert(
      fc.property(fc.anything(), fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined }), (told, status) => {
        const verdict = readRefusal({ body: told, ...(status === undefined ? {} : { status }) })
        expect(typeof verdict.message).toBe('string')
      }),
    )
    const echoed = `messages.0: ${'maximum context length is '.repeat(200_000)}`
    expect(readRefusal({ status: 400, body: body(echoed) }).message.length).toBeLessThan(3_000)
  })
})

describe('an answer', () => {
  const usage = { input: 90, output: 5, cacheRead: 8, cacheWrite: 2, cacheWriteHour: 0 }
  const answer: ModelAnswer = {
    type: 'answer',
    id: '',
    model: '',
    content: [{ type: 'text', text: '.' }],
    stopReason: 'end_turn',
    usage,
  }

  test('that the window ended is an overflow', () => {
    const ended = { ...answer, stopReason: 'model_context_window_exceeded' }
    expect(overflowOfAnswer(ended, 105)).toEqual({ actual: 100, limit: 105 })
    expect(overflowOfAnswer(ended)).toEqual({ actual: 100 })
  })

  test('whose prompt was larger than the window is one too, though nobody said so', () => {
    expect(overflowOfAnswer(answer, 99)).toEqual({ actual: 100, limit: 99 })
    expect(overflowOfAnswer(answer, 100)).toBeUndefined()
    expect(overflowOfAnswer(answer)).toBeUndefined()
  })

  test('that says nothing with a full window is one: the prompt was cut to fit', () => {
    const silent = { ...answer, content: [], usage: { ...usage, output: 0 } }
    expect([overflowOfAnswer(silent, 101), overflowOfAnswer(silent, 200)]).toEqual([
      { actual: 100, limit: 101 },
      undefined,
    ])
  })

  test('of several iterations is measured by the last', () => {
    const iterations = [
      { ...usage, input: 500, type: 'compaction' },
      { ...usage, type: 'message' },
    ]
    expect(overflowOfAnswer({ ...answer, usage: { ...usage, input: 590, iterations } }, 100)).toBeUndefined()
  })
})
