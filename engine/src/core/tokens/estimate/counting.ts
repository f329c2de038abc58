// Converts measures to a model's tokens. The only place that applies scale and safety margin.
import { modelFacts, type TokenizerFamily } from '../../catalog/models.ts'
import type { Message } from '../../message/message.ts'
import { addMeasures, type Measure, type Measuring, measureContent, nothing } from './blocks.ts'
import { type Calibration, uncalibrated } from './calibrate.ts'

export type Counting = Measuring & { readonly calibration?: Calibration | undefined }

/** Claude up to 4.6 was measured at 1.25–1.28; the newer one is inferred from "about 30 % more tokens". */
const familyFactors: Readonly<Record<TokenizerFamily, number>> = { claude: 1.25, 'claude-new': 1.6, openai: 1 }

/** Scales the estimate to a model's own tokenizer, before calibration. */
export function familyFactor(model: string | undefined): number {
  const facts = model === undefined ? undefined : modelFacts(model)
  return facts ? familyFactors[facts.tokenizer] : 1
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
  const sum = messages.reduce((before, { content }) => addMeasures(before, measureContent(content, how)), nothing)
  return Math.round(scaled(sum, how))
}

/** The same for many single texts: looks up the model once. */
export function createTextCounter(how: Counting = {}): (text: string) => number {
  const scale = scaleOf(how)
  return (text) => Math.round(scale(measureContent(text, how)))
}
