// A number for people, with its source. It loads nothing, because every bundle of `everlong` contains its error.

export type Figure = {
  readonly value: number
  /** The setting, variable or rule that the value comes from. */
  readonly source: string
  /** Present if another value was requested but is not possible. */
  readonly clamped?: { readonly from: number; readonly why: string }
}

/** Thrown rather than ignored, so that a wrong setting never causes a compaction loop. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly numbers: Readonly<Record<string, number>>

  constructor(message: string, numbers: Readonly<Record<string, number>>) {
    super(message)
    this.numbers = numbers
  }
}

/** Formats 167000 as 167,000. */
export function formatNumber(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}
