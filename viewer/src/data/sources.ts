// Which messages of a conversation say what a sentence of its summary says, found by their words.
import { contentWords } from 'everlong/internal/compaction'
import type { SentenceSource } from './api.ts'

export type SourceText = { readonly item: number; readonly text: string }

/** The rule by which the engine decides whether a text says something: enough of the words within one passage. */
const minShare = 0.6
const passageLength = 1_200
/** With fewer words a sentence is found anywhere. */
const minWords = 3
const maxSources = 3
/** Of a text: longer ones are files and logs, and a summary rests on their beginning or on what was said about them. */
const maxPassages = 100

type Passage = SourceText & { readonly words: ReadonlySet<string> }

/** Returns a function that finds the sources of a sentence, best first; `null` if it says too little to look for. */
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
    return distinct(best.map(([at, count]) => sourceOf(passages[at] as Passage, words, count.words)))
  }
}

function passagesOf({ item, text }: SourceText): readonly Passage[] {
  const found: Passage[] = []
  for (let at = 0; at < text.length && found.length < maxPassages; at += passageLength / 2) {
    const part = text.slice(at, at + passageLength)
    found.push({ item, text: part, words: new Set(contentWords(part)) })
    if (at + passageLength >= text.length) break
  }
  return found
}

function distinct(sources: readonly SentenceSource[]): readonly SentenceSource[] {
  const items = new Set<number>()
  return sources.filter(({ item }) => !items.has(item) && items.add(item)).slice(0, maxSources)
}

function sourceOf({ item, text }: Passage, words: readonly string[], found: number): SentenceSource {
  return { item, share: found / words.length, snippet: snippetOf(text, words) }
}

const snippetLength = 240

/** The part of a passage that has the most of the words. */
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
