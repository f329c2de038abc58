// What overflow errors taught about windows, for each endpoint and model: a value. What a provider says once is kept;
// what cannot be a window is not believed.
import type { ModelClient } from '../ports/model.ts'
import { leastUsable } from '../tokens/windows.ts'

export type LearnedLimits = Readonly<Record<string, number>>

/** Room for a summary and for a conversation: a limit below it would make every setting impossible. */
const leastLimit = leastUsable + 4_000

export function limitOf(limits: LearnedLimits, client: ModelClient, model: string): number | undefined {
  const key = keyOf(client, model)
  return Object.hasOwn(limits, key) ? limits[key] : undefined
}

/** The very same when nothing is learned. */
export function withLimit(
  limits: LearnedLimits,
  learned: { readonly client: ModelClient; readonly model: string; readonly limit: number },
): LearnedLimits {
  const { client, model, limit } = learned
  if (!Number.isSafeInteger(limit) || limit < leastLimit || limitOf(limits, client, model) === limit) return limits
  return { ...limits, [keyOf(client, model)]: limit }
}

export function endpointOf({ endpoint, provider }: ModelClient): string {
  return endpoint ?? provider
}

function keyOf(client: ModelClient, model: string): string {
  return `${endpointOf(client)} ${model}`
}
