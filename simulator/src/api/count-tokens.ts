// POST /v1/messages/count_tokens: the size of the prompt, after the edits that would be applied. Compacts nothing.
import { isObject } from 'everlong/internal'
import { viewOf } from '../context/view.ts'
import type { Problem } from '../http/problem.ts'
import { buildPrompt } from '../prompt/prompt.ts'
import type { MessagesRequest } from '../request/request.ts'
import { prepare } from './create-message.ts'
import type { RequestContext } from './world.ts'

export function countTokens(request: MessagesRequest, context: RequestContext): object | { readonly problem: Problem } {
  const prepared = prepare(request, context)
  if ('problem' in prepared) return prepared
  const input_tokens = buildPrompt(request, prepared.cleared.messages, prepared.ports).tokens
  if (!isObject(request.body.context_management)) return { input_tokens }
  const original = buildPrompt(request, viewOf(request, prepared.bound.messages), prepared.ports).tokens
  return { input_tokens, context_management: { original_input_tokens: original } }
}
