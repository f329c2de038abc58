// A generated session of many messages on disk, with rare words planted in it, and the words and phrases that can be
// asked of it: they are taken from what was really written.
import { closeSync, openSync, writeSync } from 'node:fs'
import type { JsonObject } from 'everlong/internal'
import { generateSession, serialize } from 'everlong/internal/testing'
import { randomFrom } from '../random.ts'

export type Corpus = {
  readonly messages: number
  readonly records: number
  readonly bytes: number
  readonly queries: Queries
}

export type Queries = Readonly<Record<'rare' | 'common' | 'two words' | 'phrase' | 'prefix', readonly string[]>>

const rareWords = [
  'zanzibar',
  'quokka',
  'heliotrope',
  'marzipan',
  'obsidian',
  'pangolin',
  'saffron',
  'tourmaline',
  'vellum',
  'xylophone',
]
/** One planted word in this many messages: about 80 of each in 100,000. */
const plantedEach = 125

export function writeCorpus(path: string, wanted: number): Corpus {
  const file = openSync(path, 'w', 0o600)
  const words = createWordBook()
  const counts = { messages: 0, records: 0, bytes: 0 }
  let pending: string[] = []
  const flush = () => {
    counts.bytes += writeSync(file, pending.join(''))
    pending = []
  }
  for (const record of generateSession({
    seed: 20,
    targetBytes: wanted * 4000,
    boundaries: Math.ceil(wanted / 5000),
  })) {
    const isMessage = record.type === 'user' || record.type === 'assistant'
    if (isMessage) counts.messages++
    counts.records++
    const planted =
      isMessage && counts.messages % plantedEach === 0 ? plant(record, counts.messages / plantedEach) : record
    if (isMessage && counts.messages % 50 === 0) words.read(textOf(planted))
    pending.push(serialize(planted))
    if (pending.length >= 1000) flush()
    if (counts.messages >= wanted) break
  }
  flush()
  closeSync(file)
  return { ...counts, queries: words.queries() }
}

function plant(record: JsonObject, number: number): JsonObject {
  const word = rareWords[number % rareWords.length] ?? ''
  const message = record.message as JsonObject
  const content = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  return {
    ...record,
    message: { ...message, content: [...(content as JsonObject[]), { type: 'text', text: `a ${word} was seen` }] },
  }
}

function textOf(record: JsonObject): string {
  const { content } = record.message as JsonObject
  if (typeof content === 'string') return content
  return (content as JsonObject[])
    .map((block) => String(block.text ?? block.thinking ?? block.content ?? ''))
    .join('\n')
}

/** Counts in how many texts each word occurs, and remembers some pairs of neighbours. */
function createWordBook() {
  const found = new Map<string, number>()
  const phrases: string[] = []
  let texts = 0
  const random = randomFrom(4)
  return {
    read: (text: string): void => {
      texts++
      const words = text.match(/[A-Za-z]{4,}/g) ?? []
      for (const word of new Set(words.map((word) => word.toLowerCase()))) found.set(word, (found.get(word) ?? 0) + 1)
      const sentence = /\b([A-Z][a-z]+ the [a-z]+ [a-z]+)\b/.exec(text)?.[1]
      if (sentence !== undefined && phrases.length < 1000) phrases.push(sentence)
    },
    queries: (): Queries => {
      const near = (share: number) => {
        const distance = ([, count]: readonly [string, number]) => Math.abs(count / texts - share)
        return [...found]
          .toSorted((a, b) => distance(a) - distance(b))
          .slice(0, 10)
          .map(([word]) => word)
      }
      const common = near(0.2)
      return {
        rare: rareWords,
        common,
        'two words': common.map((word, at) => `${word} ${common[(at + 3) % common.length]}`),
        phrase: Array.from({ length: 10 }, () => `"${random.pick(phrases)}"`),
        prefix: near(0.08).map((word) => `${word.slice(0, 4)}*`),
      }
    },
  }
}
