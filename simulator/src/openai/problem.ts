// Refusals in the shape of the OpenAI API: one `error` object with a parameter and a code.

export type ChatProblem = {
  readonly status: number
  readonly message: string
  readonly param: string | null
  readonly code: string | null
}

export function chatProblem(message: string, param: string | null, code: string | null): ChatProblem {
  return { status: 400, message, param, code }
}

export function chatProblemBody({ message, param, code }: ChatProblem): object {
  return { error: { message, type: 'invalid_request_error', param, code } }
}

export const noKey: ChatProblem = { status: 401, message: "You didn't provide an API key.", param: null, code: null }
