// A summary that the provider itself wrote. Its block may only be sent back unchanged, and only to the model that signed
// it; every other model reads the summary as text.
import { modelFacts } from '../catalog/models.ts'
import { type Block, isBlock } from '../message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { ModelClient } from '../ports/model.ts'

/** Stored on the summary's record, beside its text. */
export type ProviderSummary = {
  readonly provider: string
  readonly model: string
  readonly block: Block
  /** Follows the block, in place of the summary's text. */
  readonly beside: string
}

export const providerSummaryIntro =
  'The summary is in the block before this message, as the provider wrote it. What follows was read off the conversation by code; where the two differ, this is right.'

/** The block stored on a summary's record, if this model can read it. */
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
