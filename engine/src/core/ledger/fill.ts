// Fills a page of a given number of tokens with units. What the page looks like is its owner's business; that it is
// nearly full and never over is this one's.
import { type Choice, choose, createWordReader, type OpenHome, rank } from './choose.ts'
import type { Unit } from './units.ts'

export type Filling = {
  readonly budget: number
  readonly countTokens: (text: string) => number
  /** The whole text with these units on it. */
  readonly page: (choice: Choice) => string
  /** The words that stand there anyway. */
  readonly shown: ReadonlySet<string>
}

const attempts = 6
const nearlyFull = 0.98

/**
 * Of a page, what earlier rounds knew has so much for itself: else each round would push out what it did not meet. A
 * small page is for what is at hand.
 */
const shareOfMemories = 0.3
const smallPage = 2_000

/** The page with nothing on it. */
export const noChoice: Choice = { lines: [], homes: [], isAll: false }

/**
 * Parts are paid for one by one, but the whole is what counts, and a tokenizer may count it differently: fills, counts,
 * and fills again with what that taught, until the page is nearly full and not over. The bare page is the least it
 * returns, even where that is over.
 */
export function fillPage(units: readonly Unit[], { budget, countTokens, page, shown }: Filling): string {
  const bare = page(noChoice)
  const room = budget - countTokens(bare === '' ? page({ ...noChoice }) : bare)
  let fullest = bare
  let fits = { tokens: 0, counted: budget - room }
  let tooMany: typeof fits | undefined
  const ranking = rank(units)
  const wordsOf = createWordReader()
  const memories = Math.max(0, budget - smallPage) * shareOfMemories
  for (let tokens = room, attempt = 0; tokens > 0 && (attempt < attempts || fullest === bare); attempt++) {
    const choice = choose(ranking, { tokens, memories: Math.min(tokens / 2, memories), shown, wordsOf })
    const text = page(choice)
    const counted = countTokens(text)
    if (counted > budget) tooMany = { tokens, counted }
    else {
      fits = { tokens, counted }
      if (text.length > fullest.length) fullest = text
      if (counted >= budget * nearlyFull || choice.isAll) break
    }
    const slope = tooMany ? (tooMany.tokens - fits.tokens) / Math.max(1, tooMany.counted - fits.counted) : 1
    const next = Math.floor(fits.tokens + (budget - fits.counted) * slope * 0.97)
    if (next <= fits.tokens || (tooMany && next >= tooMany.tokens)) break
    tokens = next
  }
  return fullest
}

const copies = 4
const longEnough = 400

/** Tokens of a part as a share of the whole: counted several times over, so that rounding does not add up. */
export function costBy(countTokens: (text: string) => number): (text: string) => number {
  return (text) => (text.length > longEnough ? countTokens(text) : countTokens(text.repeat(copies)) / copies)
}

const longestLine = 800

const labelled = /^(?:([A-Za-z][\w-]*) (\d[\d–-]*)|([\w-]+\.[a-z]{1,6}):(\d[\d–-]*)|(\d[\d–-]*) ([A-Za-z][\w-]*))$/

/** Numbers of one label stand behind it together: `line 318, 854`, `door.ts:12, 40`, `386, 379 tests`. */
function sharing(names: readonly string[]): readonly string[] {
  const groups = new Map<string, { readonly numbers: string[]; readonly text: (numbers: string) => string }>()
  for (const name of names) {
    const [, label = '', number, file = '', line, count, counted = ''] = labelled.exec(name) ?? []
    const one = number ?? line ?? count
    const text =
      number !== undefined
        ? (all: string) => `${label} ${all}`
        : line !== undefined
          ? (all: string) => `${file}:${all}`
          : (all: string) => `${all} ${counted}`
    const key = one === undefined ? name : text('')
    const group = groups.get(key)
    if (group && one !== undefined) group.numbers.push(one)
    else groups.set(key, one === undefined ? { numbers: [], text: () => name } : { numbers: [one], text })
  }
  return [...groups.values()].map(({ numbers, text }) => text(numbers.join(', ')))
}

/** The home with its names: one line, or several where it would be too long for one. */
export function homeLines({ text, names }: OpenHome): string {
  const lines: string[] = []
  let line = text
  for (const [index, name] of sharing(names).entries()) {
    if (line.length + name.length > longestLine) {
      lines.push(line)
      line = `  and: ${name}`
    } else line += index === 0 ? `: ${name}` : ` ${name}`
  }
  return [...lines, line].join('\n')
}
