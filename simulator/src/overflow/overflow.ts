// Prompts that do not fit the window, and how each provider reports that.
import { invalid, type Problem, problemBody } from '../http/problem.ts'
import { beta } from '../request/fields.ts'
import type { MessagesRequest } from '../request/request.ts'

export type Overflow =
  | { readonly type: 'prompt'; readonly tokens: number; readonly window: number }
  | { readonly type: 'prompt-and-output'; readonly tokens: number; readonly maxTokens: number; readonly window: number }

/** Some models refuse input + max_tokens over the window; the others stop when they reach it. */
export function overflowOf(request: MessagesRequest, tokens: number): Overflow | undefined {
  const { window, endsAtWindow } = request.facts
  if (tokens > window) return { type: 'prompt', tokens, window }
  const ends = endsAtWindow || request.betas.has(beta.windowExceeded)
  if (ends || tokens + request.maxTokens <= window) return undefined
  return { type: 'prompt-and-output', tokens, maxTokens: request.maxTokens, window }
}

export function overflowProblem(overflow: Overflow): Problem {
  const { tokens, window } = overflow
  if (overflow.type === 'prompt') return invalid(`prompt is too long: ${tokens} tokens > ${window} maximum`)
  const sum = `${tokens} + ${overflow.maxTokens} > ${window}`
  return invalid(
    `input length and \`max_tokens\` exceed context limit: ${sum}, decrease input length or \`max_tokens\` and try again`,
  )
}

type Told = {
  readonly status: number
  readonly body: string | object
  readonly headers?: Readonly<Record<string, string>>
}
type Teller = (overflow: Overflow, requestId: string) => Told

const html =
  '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>Request Entity Too Large</body>\r\n</html>'

const openAiError = (message: string, more: object = {}) => ({
  error: { message, type: 'invalid_request_error', param: 'messages', code: 'context_length_exceeded', ...more },
})

const tellers = {
  anthropic: (overflow, id) => ({ status: 400, body: problemBody(overflowProblem(overflow), id) }),
  bedrock: () => ({
    status: 400,
    body: { message: 'Input is too long for requested model.' },
    headers: { 'x-amzn-errortype': 'ValidationException' },
  }),
  vertex: ({ tokens, window }) => ({
    status: 400,
    body: {
      error: {
        code: 400,
        message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${window}).`,
        status: 'INVALID_ARGUMENT',
      },
    },
  }),
  gateway: (_, id) => ({ status: 400, body: problemBody(invalid('capability_rejected: prompt_too_long'), id) }),
  'gateway-413': (_, id) => ({ status: 413, body: problemBody(invalid('capability_rejected: prompt_too_long'), id) }),
  openai: ({ tokens, window }) => ({
    status: 400,
    body: openAiError(
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens. ` +
        'Please reduce the length of the messages.',
    ),
  }),
  openrouter: ({ tokens, window }) => ({
    status: 400,
    body: {
      error: {
        code: 400,
        message:
          `This endpoint's maximum context length is ${window} tokens. However, you requested about ${tokens} tokens. ` +
          'Please reduce the length of either one.',
      },
    },
  }),
  groq: () => ({ status: 400, body: openAiError('Please reduce the length of the messages or completion.') }),
  xai: ({ tokens, window }) => ({
    status: 400,
    body: {
      code: 'Client specified an invalid argument',
      error: `This model's maximum prompt length is ${window} but the request contains ${tokens} tokens.`,
    },
  }),
  mistral: ({ tokens, window }) => ({
    status: 400,
    body: {
      object: 'error',
      type: 'invalid_request_error',
      message: `Prompt contains ${tokens} tokens, too large for model with ${window} maximum context length`,
    },
  }),
  'llama-cpp': ({ tokens, window }) => ({
    status: 400,
    body: {
      error: {
        code: 400,
        type: 'exceed_context_size_error',
        message: `the request exceeds the available context size (${tokens} > ${window}), try increasing it`,
      },
    },
  }),
  '413': (_, id) => ({ status: 413, body: problemBody(tooLarge, id) }),
  '413-text': () => ({ status: 413, body: html, headers: { 'content-type': 'text/html' } }),
} as const satisfies Readonly<Record<string, Teller>>

/** `stream`: the answer begins with 200 and the error comes inside it. Only for requests that stream. */
export type OverflowShape = keyof typeof tellers | 'stream'

export const overflowShapes: readonly OverflowShape[] = [
  ...(Object.keys(tellers) as (keyof typeof tellers)[]),
  'stream',
]

export const tooLarge: Problem = { status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size' }

export function overflowResponse(shape: OverflowShape, overflow: Overflow, requestId: string): Response {
  const teller: Teller = tellers[shape === 'stream' ? 'anthropic' : shape]
  const told = teller(overflow, requestId)
  const headers = { 'content-type': 'application/json', 'request-id': requestId, ...told.headers }
  const body = typeof told.body === 'string' ? told.body : JSON.stringify(told.body)
  return new Response(body, { status: told.status, headers })
}

export function readShape(header: string | null): OverflowShape | undefined {
  return overflowShapes.find((shape) => shape === header?.trim().toLowerCase())
}
