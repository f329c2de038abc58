// Text to fit or measure with, and where it comes from.

/** Fit on train; measured on test, which was looked at while choosing; fresh was not. */
export type Split = 'train' | 'test' | 'fresh'
export type Sample = { readonly category: string; readonly source: string; readonly text: string }

export type Part = {
  readonly category: string
  readonly files: RegExp
  /** Takes the text out of the file; the file as it is when absent. */
  readonly read?: (text: string) => string
}
export type Source = { readonly name: string; readonly split: Split; readonly parts: readonly Part[] }
