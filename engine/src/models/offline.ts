// Clients without a server. offline() is for hosts without a model: code writes summaries and notes. recorded() answers summary
// requests with existing summaries.
import { noTokens } from '../core/message/usage.ts'
import {
  type ModelAnswer,
  type ModelCapabilities,
  type ModelClient,
  type ModelFailure,
  type ModelRequest,
  noCapabilities,
  type SendOptions,
} from '../core/ports/model.ts'
import { estimateTokens } from '../core/tokens/estimate/estimate.ts'

const localCapabilities: ModelCapabilities = { ...noCapabilities, offline: true }

export const offlineNotice =
  'No model is set up, so nobody has read this. Everlong keeps, measures and compacts the conversation all the same. ' +
  'To get answers, set up a model.'

export function offline(): ModelClient {
  return {
    provider: 'offline',
    model: 'offline',
    capabilities: () => localCapabilities,
    send: async ({ source }, options = {}) =>
      source === 'turn'
        ? localAnswer(offlineNotice, 'offline', options)
        : refused('no model is set up; summaries and notes are written by code'),
  }
}

export type RecordedOptions = {
  /** In the order of the requests, or selected by the request. Undefined if there is none. */
  readonly summaries: readonly string[] | ((request: ModelRequest) => string | undefined)
}

export function recorded({ summaries }: RecordedOptions): ModelClient {
  let asked = 0
  return {
    provider: 'recorded',
    model: 'recorded',
    capabilities: () => localCapabilities,
    send: async (request, options = {}) => {
      if (options.signal?.aborted) return localAnswer('', 'recorded', options)
      if (request.source !== 'compact') return refused('a recorded model answers summary requests only')
      const text = typeof summaries === 'function' ? summaries(request) : summaries[asked++]
      if (text === undefined) return refused('no recorded summary is left')
      return localAnswer(text.includes('<summary>') ? text : `<summary>\n${text}\n</summary>`, 'recorded', options)
    },
  }
}

function refused(message: string): ModelFailure {
  return { type: 'failed', reason: 'refused', message, tries: 1 }
}

/** Costs nothing, so its usage is zero. */
function localAnswer(text: string, model: string, { signal, onEvent }: SendOptions): ModelAnswer | ModelFailure {
  if (!signal?.aborted) onEvent?.({ type: 'text', text })
  if (!signal?.aborted) onEvent?.({ type: 'progress', outputTokens: estimateTokens(text) })
  if (signal?.aborted) return { type: 'failed', reason: 'aborted', message: 'aborted', tries: 0 }
  // Entries with the same id count as parts of one answer, so each answer has its own.
  const id = `msg_${crypto.randomUUID()}`
  return { type: 'answer', id, model, content: [{ type: 'text', text }], stopReason: 'end_turn', usage: noTokens }
}
