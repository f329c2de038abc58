// The client for people without a model: deterministic, free, on this machine. It writes summaries; it converses with
// nobody, and says so.
import { blocksOf, isText } from '../core/message/block.ts'
import type { ModelClient, ModelRequest } from '../core/ports/model.ts'
import { headOf } from '../core/text/cut.ts'
import { localAnswer, localCapabilities } from './local.ts'

export type OfflineOptions = {
  /** Writes the summary that a request of source `compact` or `collapse` asks for. */
  readonly summarize?: (request: ModelRequest) => string
}

export const offlineNotice =
  'No model is set up, so nobody has read this. Everlong keeps, measures and compacts the conversation all the same. ' +
  'To get answers, set up a model.'

export function offline({ summarize = plainExtract }: OfflineOptions = {}): ModelClient {
  return {
    provider: 'offline',
    model: 'offline',
    capabilities: () => localCapabilities,
    send: async (request, options = {}) => {
      if (request.source === 'session-memory')
        return { type: 'failed', reason: 'refused', message: 'no model is set up to keep notes', tries: 1 }
      return localAnswer(request.source === 'turn' ? offlineNotice : summarize(request), 'offline', options)
    },
  }
}

const longestPart = 2_000
const longestExtract = 40_000

/** The plainest summary that is true: what was written to the model, in order, each text cut where it is long. */
function plainExtract({ messages }: ModelRequest): string {
  const texts = messages
    .slice(0, -1)
    .filter(({ role }) => role === 'user')
    .flatMap(({ content }) => blocksOf(content).filter(isText))
    .map(({ text }) => (text.length > longestPart ? `${headOf(text, longestPart)} […]` : text))
  const kept: string[] = []
  let length = 0
  for (const text of texts.toReversed()) {
    length += text.length
    if (length > longestExtract) break
    kept.unshift(`- ${text}`)
  }
  return `<summary>\n${kept.join('\n')}\n</summary>`
}
