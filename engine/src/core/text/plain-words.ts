// Compares texts by their words, ignoring punctuation, case and spacing.
import type { TokenLimit } from './cut.ts'

/** The first lines that fit. */
export function linesWithin(lines: readonly string[], { tokens, countTokens }: TokenLimit): readonly string[] {
  let left = tokens
  const end = lines.findIndex((line) => {
    left -= countTokens(`${line}\n`)
    return left < 0
  })
  return end < 0 ? lines : lines.slice(0, end)
}

/** Letters and digits only, in lower case, with a space between words and at both ends: "Don't stop!" → " don t stop ". */
export function plainWords(text: string): string {
  return ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()} `
}

/** True if these words occur in this order and next to each other. Both arguments are plain words. */
export function holdsWords(text: string, words: string): boolean {
  return words.trim() !== '' && text.includes(words)
}

const commonWords = new Set(
  'about after again also and any are because been before being both but can could did does doing done for from had has have how into its just like made make more most need not now off only other our out over same should some such than that the their them then there these they this those through too under until user users using very want wants was way were what when where which while who will with without would you your human person it to of in on at be by as is or if no so we he she'.split(
    ' ',
  ),
)

export function isCommonWord(word: string): boolean {
  return commonWords.has(word)
}

const stem = 5

/** Words that carry the meaning of a text, without endings: "The hinges were changed" → "hinge", "chang". */
export function contentWords(text: string, stemOf = (word: string) => word.slice(0, stem)): readonly string[] {
  const words = plainWords(text).split(' ')
  return [...new Set(words.filter((word) => word.length >= 3 && !isCommonWord(word)).map(stemOf))]
}
