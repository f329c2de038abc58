// The words that may follow /everlong.

const words: readonly (readonly [word: string, usage: string])[] = [
  ['context', 'context'],
  ['lost', 'lost'],
  ['recall', 'recall WORDS'],
  ['undo', 'undo'],
]

export const usageText = `Type /everlong followed by one of: ${words.map(([, usage]) => usage).join(', ')}.`

/** Not for a word that is typed whole: pi would take the first Enter for choosing it, and only the second would run it. */
export function completionsOf(prefix: string): readonly string[] {
  return words.map(([word]) => word).filter((word) => word.startsWith(prefix) && word !== prefix)
}
