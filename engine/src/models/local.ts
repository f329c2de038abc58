// What the clients without a server share: an answer out of a text, and the failure of one that was aborted.
import { noTokens } from '../core/message/usage.ts'
import type { ModelAnswer, ModelCapabilities, ModelFailure, SendOptions, StreamEvent } from '../core/ports/model.ts'
import { estimateTokens } from '../core/tokens/estimate/estimate.ts'
import { noCapabilities } from './capabilities.ts'

export const localCapabilities: ModelCapabilities = { ...noCapabilities, offline: true }

/** Costs nothing, so its usage counts nothing. */
export function localAnswer(text: string, model: string, { signal, onEvent }: SendOptions): ModelAnswer | ModelFailure {
  const events: readonly StreamEvent[] = [
    { type: 'text', text },
    { type: 'progress', outputTokens: estimateTokens(text) },
  ]
  for (const event of events) if (signal?.aborted !== true) onEvent?.(event)
  if (signal?.aborted) return { type: 'failed', reason: 'aborted', message: 'aborted', tries: 0 }
  const content = [{ type: 'text', text }]
  // Entries that share an id are read as pieces of one answer, so each answer has its own.
  const id = `msg_${crypto.randomUUID()}`
  return { type: 'answer', id, model, content, stopReason: 'end_turn', usage: noTokens }
}
