// A number a person may see, with where it came from.

export type Figure = {
  readonly value: number
  /** A setting, a variable, or the rule it follows from, in words. */
  readonly source: string
  /** Present when another value was asked for and could not be had. */
  readonly clamped?: { readonly from: number; readonly why: string }
}

/** A setting that cannot work. Thrown, with the numbers in its message, so that it never becomes a loop. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError'
  readonly numbers: Readonly<Record<string, number>>

  constructor(message: string, numbers: Readonly<Record<string, number>>) {
    super(message)
    this.numbers = numbers
  }
}

/** Numbers in messages look the same everywhere: 167,000. */
export function inWords(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}
