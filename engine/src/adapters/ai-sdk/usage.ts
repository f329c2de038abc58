// Usage as the AI SDK reports it, in our counts. Providers leave out what they do not know.
import { numberAt, objectAt } from '../../core/message/json.ts'
import type { TokenCounts } from '../../core/message/usage.ts'

/** Of a language model (v3, v4: counts in groups; v2: flat), or of a step of `generateText`. */
export function usageOf(usage: unknown): TokenCounts | undefined {
  const input = objectAt(usage, 'inputTokens') ?? objectAt(usage, 'inputTokenDetails')
  const total = numberAt(objectAt(usage, 'inputTokens'), 'total') ?? numberAt(usage, 'inputTokens')
  const output = numberAt(objectAt(usage, 'outputTokens'), 'total') ?? numberAt(usage, 'outputTokens')
  if (total === undefined && output === undefined) return undefined
  const cacheRead =
    numberAt(input, 'cacheRead') ?? numberAt(input, 'cacheReadTokens') ?? numberAt(usage, 'cachedInputTokens') ?? 0
  const cacheWrite = numberAt(input, 'cacheWrite') ?? numberAt(input, 'cacheWriteTokens') ?? 0
  const plain = numberAt(input, 'noCache') ?? numberAt(input, 'noCacheTokens') ?? (total ?? 0) - cacheRead - cacheWrite
  return { input: Math.max(0, plain), output: output ?? 0, cacheRead, cacheWrite, cacheWriteHour: 0 }
}
