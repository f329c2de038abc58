// A client that answers summary requests with summaries that exist already, for measuring what a transcript's own
// compactions kept. Never writes a word of its own.
import type { ModelClient, ModelFailure, ModelRequest } from '../core/ports/model.ts'
import { localAnswer, localCapabilities } from './local.ts'

export type RecordedOptions = {
  /** In the order in which they are asked for, or chosen by the request; undefined where there is none. */
  readonly summaries: readonly string[] | ((request: ModelRequest) => string | undefined)
}

export function recorded({ summaries }: RecordedOptions): ModelClient {
  let asked = 0
  const next = (request: ModelRequest): string | undefined =>
    typeof summaries === 'function' ? summaries(request) : summaries[asked++]
  return {
    provider: 'recorded',
    model: 'recorded',
    capabilities: () => localCapabilities,
    send: async (request, options = {}) => {
      if (options.signal?.aborted) return localAnswer('', 'recorded', options)
      if (request.source !== 'compact') return refused('a recorded model answers summary requests only')
      const text = next(request)
      if (text === undefined) return refused('no recorded summary is left')
      return localAnswer(tagged(text), 'recorded', options)
    },
  }
}

function refused(message: string): ModelFailure {
  return { type: 'failed', reason: 'refused', message, tries: 1 }
}

/** As a model is asked to write it; a text that has the tags already keeps them. */
function tagged(text: string): string {
  return text.includes('<summary>') ? text : `<summary>\n${text}\n</summary>`
}
