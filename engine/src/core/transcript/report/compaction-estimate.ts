// What a compaction used when its own run was not recorded: an estimate. Its request is the whole context, read from
// the cache at best, and what it wrote is the summary.
import { noTokens, type TokenCounts } from '../../message/usage.ts'
import type { Answer } from '../tree/scan.ts'
import type { Epoch } from './epochs.ts'

export type EstimatedCompaction = { readonly model: string; readonly tokens: TokenCounts }

/** Length / 4 with a third on top: a scan holds the length of a summary, not its text. */
const charactersPerToken = 3

/** One for each compaction whose size is known, oldest first. */
export function estimateCompactions(
  epochs: readonly Epoch[],
  answers: readonly Answer[],
): readonly EstimatedCompaction[] {
  const models = modelsByEpoch(epochs.length, answers)
  return epochs.flatMap(({ number, openedBy }) => {
    const before = openedBy?.tokensBefore ?? epochs[number - 1]?.tokensAtEnd
    if (!openedBy || before === undefined) return []
    const output = Math.round((openedBy.summary?.characters ?? 0) / charactersPerToken)
    return [{ model: models[number - 1] ?? 'unknown', tokens: { ...noTokens, cacheRead: before, output } }]
  })
}

/** The model that gave the newest answer of each epoch, or of the one before where an epoch has none. */
function modelsByEpoch(epochs: number, answers: readonly Answer[]): readonly (string | undefined)[] {
  const models: (string | undefined)[] = Array(epochs).fill(undefined)
  for (const { epoch, sidechain, model } of answers) if (!sidechain) models[epoch] = model
  for (let epoch = 1; epoch < epochs; epoch++) models[epoch] ??= models[epoch - 1]
  return models
}
