// Finds the messages of a conversation that say the same as a sentence of its summary, by their words.
import { contentWords } from 'everlong/internal/compaction'
import type { SentenceSource } from './api.ts'

export type SourceText = { readonly item: number; readonly text: string }

/** The engine's rule for whether a text says something: enough of the words within one passage. */
const minShare = 0.6
const passageLength = 1_200
/** A sentence with fewer words would match anywhere. */
const minWords = 3
const maxSources = 3
/** Maximum passages of a text. Longer texts are files and logs, and a summary uses their beginning or what was said about them. */
const maxPassages = 100

type Passage = SourceText & { readonly words: ReadonlySet<string> }

/** Returns a function that finds the sources of a sentence, best first. `null` if it is too short. */
export function createSourceFinder(
  texts: readonly SourceText[],
): (sentence: string) => readonly SentenceSource[] | null {
  const passages = texts.flatMap(passagesOf)
  const having = new Map<string, number[]>()
  for (const [at, { words }] of passages.entries())
    for (const word of words) {
      const known = having.get(word)
      if (known) known.push(at)
      else having.set(word, [at])
    }
  const rarity = (word: string) => Math.log(1 + passages.length / (having.get(word)?.length ?? passages.length))
  return (sentence) => {
    const words = contentWords(sentence)
    if (words.length < minWords) return null
    const counts = new Map<number, { words: number; weight: number }>()
    for (const word of words)
      for (const at of having.get(word) ?? []) {
        const count = counts.get(at) ?? { words: 0, weight: 0 }
        counts.set(at, { words: count.words + 1, weight: count.weight + rarity(word) })
      }
    const enough = [...counts].filter(([, count]) => count.words >= words.length * minShare)
    const best = enough.toSorted(([a, ofA], [b, ofB]) => ofB.weight - ofA.weight || a - b)
    const found = best.map(([at, count]) => ({ passage: passages[at] as Passage, count: count.words }))
    return distinct(found).map(({ passage, count }) => sourceOf(passage, words, count))
  }
}

/** Each passage shares its second half with the next one, so that no sentence is cut in both. */
function passagesOf({ item, text }: SourceText): readonly Passage[] {
  const halves = halvesOf(text).map((half) => ({ text: half, words: contentWords(half) }))
  if (halves.length < 2) return halves.map(({ text, words }) => ({ item, text, words: new Set(words) }))
  return halves.slice(1).map((second, at) => {
    const first = halves[at] ?? second
    return { item, text: first.text + second.text, words: new Set([...first.words, ...second.words]) }
  })
}

/** Cut before a space, so that no word is cut. */
function halvesOf(text: string): readonly string[] {
  const halves: string[] = []
  for (let at = 0; at < text.length && halves.length <= maxPassages; ) {
    const space = text.slice(at + passageLength / 2, at + passageLength).search(/\s/)
    const end = at + passageLength / 2 + (space < 0 ? passageLength / 2 : space)
    halves.push(text.slice(at, end))
    at = end
  }
  return halves
}

type FoundPassage = { readonly passage: Passage; readonly count: number }

function distinct(found: readonly FoundPassage[]): readonly FoundPassage[] {
  const items = new Set<number>()
  return found.filter(({ passage: { item } }) => !items.has(item) && items.add(item)).slice(0, maxSources)
}

function sourceOf({ item, text }: Passage, words: readonly string[], found: number): SentenceSource {
  return { item, share: found / words.length, snippet: snippetOf(text, words) }
}

const snippetLength = 240

/** The part of a passage with the most of the words. */
function snippetOf(text: string, words: readonly string[]): string {
  const wanted = new Set(words)
  const step = snippetLength / 4
  let best = { at: 0, count: -1 }
  for (let at = 0; at === 0 || at + step < text.length; at += step) {
    const count = contentWords(text.slice(at, at + snippetLength)).filter((word) => wanted.has(word)).length
    if (count > best.count) best = { at, count }
  }
  const start = best.at === 0 ? 0 : text.lastIndexOf(' ', best.at) + 1
  const part = text
    .slice(start, start + snippetLength)
    .replace(/\s+/g, ' ')
    .trim()
  return `${start > 0 ? '… ' : ''}${part}${start + snippetLength < text.length ? ' …' : ''}`
}
