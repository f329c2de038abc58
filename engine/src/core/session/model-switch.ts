// Another model for the same conversation. When the history does not fit its window, the old model, which can still read
// all of it, compacts first.

import { type CompactionDone, type CompactionNotDone, compactNow } from '../ladder/compaction.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import { calibrationOf } from '../tokens/estimate/calibrate.ts'
import { type Desk, describeModel, freshWeigher, type ModelChoice, situationIn } from './desk.ts'
import { withChange, withViewChange } from './tracking.ts'

export type Switched = {
  readonly type: 'switched'
  readonly from: string
  readonly to: string
  /** Where the history did not fit: what became of it. */
  readonly compaction?: CompactionDone | CompactionNotDone
}

/** Throws a ConfigurationError, before anything is changed, when the settings cannot work with this model. */
export async function switchModel(desk: Desk, choice: ModelChoice, signal?: AbortSignalPort): Promise<Switched> {
  const from = desk.modelName
  await describeModel(desk, choice)
  const { explanation } = situationIn(desk, desk.conversation.view(), choice)
  const isTooMuch = explanation.autoCompact.mode !== false && (explanation.isAboveThreshold || explanation.isBlocking)
  const compaction = isTooMuch
    ? await compactNow(desk, { stage: 'over-threshold', trigger: 'auto', cause: 'model-switch', fits: choice, signal })
    : undefined
  desk.model = choice.client
  desk.modelName = choice.name
  desk.calibration = calibrationOf(desk.lessons.calibrations, choice.name)
  desk.weigher = freshWeigher(desk, choice.name)
  desk.delegated = undefined
  desk.tracking = withChange(withViewChange(desk.tracking))
  return { type: 'switched', from, to: choice.name, ...(compaction ? { compaction } : {}) }
}
