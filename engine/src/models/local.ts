// What the clients without a server share: an answer out of a text, and the failure of one that was aborted.
import { noTokens } from '../core/message/usage.ts'
import type { ModelAnswer, ModelCapabilities, ModelFailure, SendOptions } from '../core/ports/model.ts'
import { estimateTokens } from '../core/tokens/estimate.ts'
import { noCapabilities } from './capabilities.ts'

export const localCapabilities: ModelCapabilities = { ...noCapabilities, offline: true }

/** Costs nothing, so its usage counts nothing. */
export function localAnswer(text: string, model: string, { signal, onEvent }: SendOptions): ModelAnswer | ModelFailure {
  if (signal?.aborted) return { type: 'failed', reason: 'aborted', message: 'aborted', tries: 0 }
  onEvent?.({ type: 'text', text })
  onEvent?.({ type: 'progress', outputTokens: estimateTokens(text) })
  const content = [{ type: 'text', text }]
  return { type: 'answer', id: `msg_${model}`, model, content, stopReason: 'end_turn', usage: noTokens }
}
