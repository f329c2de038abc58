// Usage in the API's form: tokens read from the cache, written to it, and neither, split exactly.
import type { CacheUse } from '../cache/cache.ts'

/** The tokens of one sampling: a message or a compaction. */
export type Sampling = {
  readonly type: 'message' | 'compaction'
  readonly input: number
  readonly read: number
  readonly write5m: number
  readonly write1h: number
  readonly output: number
  /** Tokens that cache edits removed from the cached prefix. */
  readonly deleted: number
  readonly thinking: number
}

export const noSampling: Sampling = {
  type: 'message',
  input: 0,
  read: 0,
  write5m: 0,
  write1h: 0,
  output: 0,
  deleted: 0,
  thinking: 0,
}

export function samplingOf(type: Sampling['type'], use: CacheUse, more: Partial<Sampling>): Sampling {
  const { read, write5m, write1h, input } = use
  return { ...noSampling, type, read, write5m, write1h, input, ...more }
}

/** Tokens in the window when the model began. */
export function promptTokens(sampling: Sampling): number {
  return sampling.input + sampling.read + sampling.write5m + sampling.write1h
}

function counts(sampling: Sampling) {
  return {
    input_tokens: sampling.input,
    cache_creation_input_tokens: sampling.write5m + sampling.write1h,
    cache_read_input_tokens: sampling.read,
    output_tokens: sampling.output,
  }
}

function creation(sampling: Sampling) {
  return { ephemeral_5m_input_tokens: sampling.write5m, ephemeral_1h_input_tokens: sampling.write1h }
}

function extras(sampling: Sampling) {
  return {
    ...(sampling.deleted > 0 ? { cache_deleted_input_tokens: sampling.deleted } : {}),
    ...(sampling.thinking > 0 ? { output_tokens_details: { thinking_tokens: sampling.thinking } } : {}),
  }
}

export function usageBody(sampling: Sampling, iterations: readonly object[] | undefined): object {
  return {
    ...counts(sampling),
    cache_creation: creation(sampling),
    service_tier: 'standard',
    ...extras(sampling),
    ...(iterations === undefined ? {} : { iterations }),
  }
}

/** The usage in `message_delta`: totals so far, without the split by lifetime. */
export function deltaUsageBody(sampling: Sampling, iterations: readonly object[] | undefined): object {
  return { ...counts(sampling), ...extras(sampling), ...(iterations === undefined ? {} : { iterations }) }
}

export function iterationBody(sampling: Sampling, model: string): object {
  const named = sampling.type === 'message' ? { model } : {}
  return { type: sampling.type, ...counts(sampling), cache_creation: creation(sampling), ...named }
}
