// The order of search results, the same in every store: rare words count more than common ones (BM25); neighboring texts and the
// rest of the session count a little.
import type { Work } from '../text/slices.ts'
import { indexable, type Term, wordsOf } from './terms.ts'

/** A text that contains a term. */
export type Hit = {
  /** Higher is newer. */
  readonly id: number
  readonly session: number
  /** Index of the text in its file, or of the entry that it belongs to. Used to find neighbors. */
  readonly place: number
  /** Texts of different files are never neighbors. */
  readonly file: number
  /** The frequency of the term relative to the length of the text; see `frequencyWeight`. */
  readonly weight: number
  /** The kind of the text. */
  readonly kind?: string | undefined
}

export type TermHits = {
  readonly hits: readonly Hit[]
  /** Number of texts with the term. Larger than the number of `hits` if those were limited. */
  readonly texts: number
  /** If any text has a required term, texts without it are dropped. */
  readonly isRequired: boolean
}

export type Searched = {
  /** Number of texts. */
  readonly texts: number
  /** Number of texts by session. */
  readonly sessions: ReadonlyMap<number, number>
}

export type Ranked = { readonly id: number; readonly score: number; readonly hasAll: boolean }

/** The common parameters of BM25. */
const [k1, b] = [1.2, 0.75]
export const maxFrequencyWeight = k1 + 1

/** `length` is relative to the average. */
export function frequencyWeight(count: number, length: number): number {
  return (count * (k1 + 1)) / (count + k1 * (1 - b + b * length))
}

/** The weight of a term. Terms in fewer texts weigh more. */
export function rarity(having: number, all: number): number {
  const known = Math.min(having, all)
  return Math.log(1 + (all - known + 0.5) / (known + 0.5))
}

/** An answer often shares no word with its question, so part of a text's score goes to its neighbors, by distance. */
const neighborShares = [0.3, 0.15]
const sessionShare = 0.3

/** Lists of skills and reminders contain words of many questions, but nobody said them. A file that the user attached may be meant. */
const clientsShare = 0.5
const isClients: ReadonlySet<string> = new Set(['attachment', 'meta'])

type Candidate = { readonly hit: Hit; own: number; terms: number; required: number }

/** Texts with all terms first, then by score, then newest first. */
export function rank(terms: readonly TermHits[], searched: Searched): readonly Ranked[] {
  const candidates = new Map<number, Candidate>()
  for (const { hits, texts, isRequired } of terms) {
    const weight = rarity(texts, searched.texts)
    for (const hit of hits) {
      const found = candidates.get(hit.id) ?? { hit, own: 0, terms: 0, required: 0 }
      found.own += weight * hit.weight * (isClients.has(hit.kind ?? '') ? clientsShare : 1)
      found.terms++
      if (isRequired) found.required++
      candidates.set(hit.id, found)
    }
  }
  const byPlace = bestByPlace(candidates.values())
  const bySession = sessionScores(terms, searched)
  const required = terms.filter(({ isRequired }) => isRequired).length
  const withRequired = [...candidates.values()].filter((found) => found.required === required)
  const chosen = withRequired.length > 0 ? withRequired : [...candidates.values()]
  return chosen
    .map(({ hit, own, terms: count }) => {
      const around = neighborShares.map((share, at) => {
        const [before = 0, after = 0] = [byPlace.get(placeKey(hit, -at - 1)), byPlace.get(placeKey(hit, at + 1))]
        return share * (before + after)
      })
      const score = own + sum(around) + sessionShare * (bySession.get(hit.session) ?? 0)
      return { id: hit.id, score, hasAll: count === terms.length }
    })
    .toSorted((a, b) => Number(b.hasAll) - Number(a.hasAll) || b.score - a.score || b.id - a.id)
}

function bestByPlace(candidates: Iterable<Candidate>): ReadonlyMap<number, number> {
  const best = new Map<number, number>()
  for (const { hit, own } of candidates) {
    const key = placeKey(hit, 0)
    best.set(key, Math.max(own, best.get(key) ?? 0))
  }
  return best
}

/** BM25 of whole sessions, as if each were one text. It does not change the order within one session. */
function sessionScores(terms: readonly TermHits[], { sessions }: Searched): ReadonlyMap<number, number> {
  const scores = new Map<number, number>()
  const average = sum([...sessions.values()]) / Math.max(1, sessions.size)
  for (const { hits } of terms) {
    const counts = new Map<number, number>()
    for (const { session } of hits) counts.set(session, (counts.get(session) ?? 0) + 1)
    const weight = rarity(counts.size, sessions.size)
    for (const [session, count] of counts) {
      const length = (sessions.get(session) ?? average) / Math.max(1, average)
      scores.set(session, (scores.get(session) ?? 0) + weight * frequencyWeight(count, length))
    }
  }
  return scores
}

/** Unique, because no file has that many texts. */
function placeKey({ file, place }: Hit, offset: number): number {
  return file * 2 ** 32 + place + offset
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0)
}

/**
 * Moves the result of a call to the end if both match, because they are one event and often have the same words. The call gets
 * the better rank of the two, and its card names the result. `callOf` returns null for texts without a call.
 */
export function callsOnceFirst<T>(
  found: readonly T[],
  { callOf, isCall }: { readonly callOf: (one: T) => string | number | null; readonly isCall: (one: T) => boolean },
): readonly T[] {
  const calls = new Map(found.filter(isCall).map((one) => [callOf(one), one]))
  const listed = new Set<T>()
  const [first, second]: [T[], T[]] = [[], []]
  for (const one of found) {
    const key = callOf(one)
    const call = key === null ? one : (calls.get(key) ?? one)
    if (!listed.has(call)) first.push(call)
    listed.add(call)
    if (call !== one && !listed.has(one)) second.push(one)
    listed.add(one)
  }
  return [...first, ...second]
}

/** The common constant of reciprocal rank fusion: the first few places of a list differ little. */
const fusionOffset = 60

/** Merges lists that were ordered by different measures. Texts that rank high in several lists come first. */
export function fuse(lists: readonly (readonly number[])[]): readonly number[] {
  const scores = new Map<number, number>()
  for (const list of lists)
    for (const [at, id] of list.entries()) scores.set(id, (scores.get(id) ?? 0) + 1 / (fusionOffset + at + 1))
  return [...scores].toSorted(([a, ofA], [b, ofB]) => ofB - ofA || b - a).map(([id]) => id)
}

export type Searchable = {
  readonly text: string
  /** Index of the entry that the text belongs to. */
  readonly place: number
  readonly kind?: string
}

/**
 * Searches by reading every text, without an index. Returns the texts with a term, best first. Rarity and length are measured
 * among these texts only, so a store may pass in just those.
 */
export function* searchTexts<T extends Searchable>(texts: Iterable<T>, terms: readonly Term[]): Work<readonly T[]> {
  const counters = terms.map(counterOf)
  const found: { readonly text: T; readonly counts: readonly number[] }[] = []
  for (const text of texts) {
    yield text.text.length
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
      const weight = frequencyWeight(count, text.text.length / average)
      return [{ id, session: 0, file: 0, place: text.place, weight, kind: text.kind }]
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
const wordGap = String.raw`[^\p{L}\p{N}\p{Co}]+`

function counterOf(term: Term): Counter {
  const words = wordsOf(term).map((word) => word.toLowerCase())
  const alternatives = [words.join(wordGap), ...term.forms].join('|')
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
