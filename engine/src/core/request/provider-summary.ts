// A summary that the provider wrote as a block of its own. Its record keeps the block for requests to the same model.
import { modelFacts } from '../catalog/models.ts'
import { type Block, isBlock } from '../message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { ModelClient } from '../ports/model.ts'

/** Of the request for the provider's own compaction, and of every later one that carries its block. */
export const onDemandBeta = 'compact-2026-09-04'

/** Stored on the summary's record, beside its text. */
export type ProviderSummary = {
  readonly provider: string
  readonly model: string
  readonly block: Block
  /** Follows the block, in place of the summary's text. */
  readonly beside: string
}

/** The block stored on a summary's record, if this model can read it; every other model reads the summary as text. */
export function providerSummaryIn(
  record: JsonObject | undefined,
  client: ModelClient,
  model: string,
): ProviderSummary | undefined {
  const stored = objectAt(objectAt(record, 'everlong'), 'served')
  const [provider, by, beside] = [stringAt(stored, 'provider'), stringAt(stored, 'model'), stringAt(stored, 'beside')]
  const block = stored?.block
  if (provider === undefined || by === undefined || beside === undefined || !isBlock(block)) return undefined
  const isSame = by === model || (modelFacts(by) !== undefined && modelFacts(by) === modelFacts(model))
  if (provider !== client.provider || !isSame) return undefined
  return client.capabilities(model).compaction === 'on-demand' ? { provider, model: by, block, beside } : undefined
}
