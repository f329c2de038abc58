// From what was measured to the tokens of a model: scale and safety margin. The one place where either is applied.
import type { Message } from '../../message/message.ts'
import { addContent, type EstimatorName, type Measure } from './blocks.ts'
import { type Calibration, uncalibrated } from './calibrate.ts'
import { familyFactor } from './family.ts'

/** How to count: which estimator, for which model, with what was learned about it. */
export type Counting = {
  readonly estimator?: EstimatorName | undefined
  readonly model?: string | undefined
  readonly calibration?: Calibration | undefined
}

/** The tokens of a measure, not rounded. The baseline has no family factor: it is what it is documented to be. */
export function scaled(measure: Measure, how: Counting): number {
  return scaleOf(how)(measure)
}

function scaleOf({ estimator, model, calibration = uncalibrated }: Counting): (measure: Measure) => number {
  const family = estimator === 'chars/4' ? 1 : familyFactor(model)
  return ({ text, media }) => text * family * calibration.factor + media
}

/** Estimates run low more dearly than high: a third on top, rounded up. Never applied to what was reported. */
export function withMargin(estimate: number): number {
  return Math.max(0, Math.ceil((estimate * 4) / 3 - 1e-6))
}

/** The estimated tokens of these messages, without margin. */
export function countTokens(messages: readonly Message[], how: Counting = {}): number {
  const sum = { text: 0, media: 0 }
  for (const message of messages) addContent(sum, message.content, how)
  return Math.round(scaled(sum, how))
}

/** The same of one text after another: what is known of the model is looked up once. */
export function createTextCounter(how: Counting = {}): (text: string) => number {
  const scale = scaleOf(how)
  const sum = { text: 0, media: 0 }
  return (text) => {
    sum.text = 0
    addContent(sum, text, how)
    return Math.round(scale(sum))
  }
}
