// One piece of text to fit or measure with, and where it came from.

export type Split = 'train' | 'test'
export type Sample = { readonly category: string; readonly source: string; readonly text: string }
