// What sessions learn about models from their answers and errors. It is shared by all sessions of an engine.
import type { ModelClient } from '../ports/model.ts'
import type { Calibrations } from '../tokens/estimate/counting.ts'
import { minUsable } from '../tokens/windows.ts'

export type Learned = {
  calibrations: Calibrations
  /** Of windows, by endpoint and model, as overflows showed them. */
  readonly limits: Map<string, number>
  /** Models that the provider was asked about. */
  readonly described: Set<string>
  /** Models that the provider was asked to count for. */
  readonly counted: Set<string>
}

export function nothingLearned(): Learned {
  return { calibrations: {}, limits: new Map(), described: new Set(), counted: new Set() }
}

/** Of a model in `Learned`. */
export function keyOf({ endpoint, provider }: ModelClient, model: string): string {
  return `${endpoint ?? provider} ${model}`
}

/** Room for a summary and a conversation. With a lower limit no settings would work. */
const minLimit = minUsable + 1_000

export function isWindow(tokens: number): boolean {
  return Number.isSafeInteger(tokens) && tokens >= minLimit
}
