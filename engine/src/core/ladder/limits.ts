// What is known about a model's limits beyond our table: what its provider says, and what overflow errors taught, for each
// endpoint and model. A limit that cannot be a window is ignored.
import { modelFacts } from '../catalog/models.ts'
import type { ModelClient } from '../ports/model.ts'
import { leastUsable, type WindowFacts } from '../tokens/windows.ts'

export type LearnedLimits = Readonly<Record<string, number>>

/** Room for a summary and a conversation. With a lower limit no settings would work. */
const leastLimit = leastUsable + 4_000

export function limitOf(limits: LearnedLimits, client: ModelClient, model: string): number | undefined {
  const key = keyOf(client, model)
  return Object.hasOwn(limits, key) ? limits[key] : undefined
}

/** Returns the same object when nothing was learned. */
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

/** What the provider itself says. Left out where the client only repeats our table, or where an overflow proved it wrong. */
export function providerFacts(
  client: ModelClient,
  model: string,
  learned: number | undefined,
): NonNullable<WindowFacts['provider']> {
  const { window, maxOutput } = client.capabilities(model)
  const table = modelFacts(model)
  const isOverruled = learned !== undefined && window !== undefined && learned < window
  return {
    window: isOverruled || window === table?.window ? undefined : window,
    maxOutput: maxOutput === table?.maxOutput ? undefined : maxOutput,
  }
}
