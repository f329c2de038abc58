// Search without an index: every text is read. The order is that of the archive, with the texts that have a term as the
// measure of how rare a word and how long a text is, so that a store may pass in only those.
import { frequencyWeight, type Hit, rank } from './rank.ts'
import { indexable, type Term, wordsOf } from './terms.ts'

export type Searchable = {
  readonly text: string
  /** The number of the entry that the text is a part of. */
  readonly place: number
}

/** The texts that have a term, best first. */
export function searchTexts<T extends Searchable>(texts: Iterable<T>, terms: readonly Term[]): readonly T[] {
  const counters = terms.map(counterOf)
  const found: { readonly text: T; readonly counts: readonly number[] }[] = []
  for (const text of texts) {
    const composed = text.text.normalize('NFC')
    const low = composed.toLowerCase()
    if (!counters.some(({ mayOccur }) => mayOccur(low))) continue
    const searched = indexable(composed).toLowerCase()
    const counts = counters.map(({ count, mayOccur }) => (mayOccur(low) ? count(searched) : 0))
    if (counts.some((count) => count > 0)) found.push({ text, counts })
  }
  const average = found.reduce((sum, { text }) => sum + text.text.length, 0) / Math.max(1, found.length)
  const termHits = terms.map((term, nth) => {
    const hits = found.flatMap(({ text, counts }, id): readonly Hit[] => {
      const count = counts[nth] ?? 0
      if (count === 0) return []
      return [
        { id, session: 0, file: 0, place: text.place, weight: frequencyWeight(count, text.text.length / average) },
      ]
    })
    return { hits, texts: hits.length, isRequired: term.isExact }
  })
  const ranked = rank(termHits, { texts: found.length, sessions: new Map([[0, found.length]]) })
  return ranked.flatMap(({ id }) => found[id]?.text ?? [])
}

type Counter = {
  /** A cheap test that never misses a text with the term. */
  readonly mayOccur: (lowText: string) => boolean
  readonly count: (searched: string) => number
}

const inWord = String.raw`[\p{L}\p{N}\p{M}\p{Co}]`
const between = String.raw`[^\p{L}\p{N}\p{Co}]+`

function counterOf(term: Term): Counter {
  const words = wordsOf(term).map((word) => word.toLowerCase())
  const alternatives = [words.join(between), ...term.forms].join('|')
  const pattern = new RegExp(`(?<!${inWord})(?:${alternatives})${term.isPrefix ? '' : `(?!${inWord})`}`, 'gu')
  const start = commonStart([words[0] ?? '', ...term.forms])
  return {
    mayOccur: (low) => low.includes(start),
    count: (searched) => searched.match(pattern)?.length ?? 0,
  }
}

function commonStart([first = '', ...others]: readonly string[]): string {
  let length = first.length
  while (others.some((other) => !other.startsWith(first.slice(0, length)))) length--
  return first.slice(0, length)
}
