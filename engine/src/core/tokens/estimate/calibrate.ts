// Learns per model how far the estimate is off: a bounded exponential average.

export type Calibration = {
  /** Multiplies an estimate (with the family factor, without the margin). */
  readonly factor: number
  readonly samples: number
}

/** Both for the same text. `estimated` is without calibration and margin. */
export type Comparison = { readonly estimated: number; readonly reported: number }

export type Calibrations = { readonly [model: string]: Calibration }

export const uncalibrated: Calibration = { factor: 1, samples: 0 }

const rate = 0.2
const largestStep = 0.15
const lowest = 0.5
const highest = 2
/** Small turns mislead: text that the client injects unrecorded outweighs theirs. Measured on eleven real sessions. */
const fewestTokens = 2_000

export function recalibrate(calibration: Calibration, { estimated, reported }: Comparison): Calibration {
  if (!isUsable(estimated) || !isUsable(reported) || estimated < fewestTokens) return calibration
  const step = rate * (reported / estimated - calibration.factor)
  const factor = calibration.factor + clamp(step, -largestStep, largestStep)
  return { factor: clamp(factor, lowest, highest), samples: calibration.samples + 1 }
}

export function calibrationOf(calibrations: Calibrations, model: string | undefined): Calibration {
  const known = model !== undefined && Object.hasOwn(calibrations, model) ? calibrations[model] : undefined
  return known ?? uncalibrated
}

export function recalibrateModel(calibrations: Calibrations, model: string, comparison: Comparison): Calibrations {
  return { ...calibrations, [model]: recalibrate(calibrationOf(calibrations, model), comparison) }
}

function isUsable(value: number): boolean {
  return Number.isFinite(value) && value > 0
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
