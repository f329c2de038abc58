// A summary that the provider itself wrote: its block is kept exactly as it came, since it may only be sent back unchanged,
// to the model that signed it. Everybody else reads the summary as text.
import { modelFacts } from '../catalog/models.ts'
import { type Block, isBlock } from '../message/block.ts'
import { type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { ModelClient } from '../ports/model.ts'

/** On the summary's record, beside its text. */
export type Served = {
  readonly provider: string
  readonly model: string
  readonly block: Block
  /** Stands behind the block, in the place of the summary's text. */
  readonly beside: string
}

export const servedIntro =
  'The summary is in the block before this message, as the provider wrote it. What follows was read off the conversation by code; where the two differ, this is right.'

/** What a summary's record holds for whoever asks this model of this client; undefined when text is what it gets. */
export function servedIn(record: JsonObject | undefined, client: ModelClient, model: string): Served | undefined {
  const served = objectAt(objectAt(record, 'everlong'), 'served')
  const [provider, by, beside] = [stringAt(served, 'provider'), stringAt(served, 'model'), stringAt(served, 'beside')]
  const block = served?.block
  if (provider === undefined || by === undefined || beside === undefined || !isBlock(block)) return undefined
  const isSame = by === model || (modelFacts(by) !== undefined && modelFacts(by) === modelFacts(model))
  if (provider !== client.provider || !isSame) return undefined
  return client.capabilities(model).compaction === 'on-demand' ? { provider, model: by, block, beside } : undefined
}
