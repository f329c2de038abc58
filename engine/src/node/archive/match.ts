// Terms as FTS5 match expressions. User input never reaches FTS5 as syntax: each word or phrase is a string.
import type { Term } from '../../core/recall/terms.ts'

/** An FTS5 string, in which only the quote has a meaning. */
function stringOf(text: string): string {
  return `"${text.replaceAll('"', ' ')}"`
}

/** One expression for each form of the term, as typed first. */
export function matchesOf({ text, isPrefix, forms }: Term): readonly string[] {
  return [`${stringOf(text)}${isPrefix ? ' *' : ''}`, ...forms.map(stringOf)]
}

export function matchAny(terms: readonly Term[]): string {
  return terms.flatMap(matchesOf).join(' OR ')
}

export function matchAll(terms: readonly Term[]): string {
  return terms.map((term) => `(${matchAny([term])})`).join(' AND ')
}
