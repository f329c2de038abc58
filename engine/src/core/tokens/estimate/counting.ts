// Converts measures to a model's tokens. The only place that applies scale and safety margin.
import type { Message } from '../../message/message.ts'
import { addContent, type EstimatorName, type Measure } from './blocks.ts'
import { type Calibration, uncalibrated } from './calibrate.ts'
import { familyFactor } from './family.ts'

export type Counting = {
  readonly estimator?: EstimatorName | undefined
  readonly model?: string | undefined
  readonly calibration?: Calibration | undefined
}

/** Not rounded. The baseline has no family factor, as documented. */
export function scaled(measure: Measure, how: Counting): number {
  return scaleOf(how)(measure)
}

function scaleOf({ estimator, model, calibration = uncalibrated }: Counting): (measure: Measure) => number {
  const family = estimator === 'chars/4' ? 1 : familyFactor(model)
  return ({ text, media }) => text * family * calibration.factor + media
}

/** Underestimating costs more than overestimating: adds a third, rounded up. Never applied to reported counts. */
export function withMargin(estimate: number): number {
  return Math.max(0, Math.ceil((estimate * 4) / 3 - 1e-6))
}

/** Estimated, without margin. */
export function countTokens(messages: readonly Message[], how: Counting = {}): number {
  const sum = { text: 0, media: 0 }
  for (const message of messages) addContent(sum, message.content, how)
  return Math.round(scaled(sum, how))
}

/** The same for many single texts: looks up the model once. */
export function createTextCounter(how: Counting = {}): (text: string) => number {
  const scale = scaleOf(how)
  const sum = { text: 0, media: 0 }
  return (text) => {
    sum.text = 0
    addContent(sum, text, how)
    return Math.round(scale(sum))
  }
}
