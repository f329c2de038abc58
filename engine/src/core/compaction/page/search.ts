// Looks for many words in many texts at once, whatever their case: which of them stand in any of the texts. It never joins
// the texts and hardly ever copies one, since they are all that a conversation ever said.

export type Search = {
  readonly look: (text: string) => void
  /** Leaves off looking for all others. */
  readonly only: (words: readonly string[]) => void
  /** Everything that was looked for is found. */
  readonly isOver: () => boolean
  readonly found: ReadonlySet<string>
}

/** Making a pattern costs as much as looking through some texts plainly: it waits until finds have become rare. */
const quietBefore = 40

/** The words are in small letters, without line breaks. */
export function createSearch(words: readonly string[]): Search {
  const found = new Set<string>()
  let missing = new Set(words)
  let pattern: RegExp | undefined
  let quiet = 0
  const look = (text: string): void => {
    if (missing.size === 0 || pattern?.test(text) === false) return
    const small = text.toLowerCase()
    const before = missing.size
    for (const word of missing) {
      if (!small.includes(word)) continue
      missing.delete(word)
      found.add(word)
    }
    if (missing.size < before) {
      pattern = undefined
      quiet = 0
    } else if (++quiet === quietBefore) pattern = patternOf(missing)
  }
  return {
    look,
    only: (wanted) => {
      missing = new Set(wanted.filter((word) => missing.has(word)))
      pattern = undefined
      quiet = 0
    },
    isOver: () => missing.size === 0,
    found,
  }
}

/**
 * Matches every text that holds one of the words, and few others. For words in ASCII a pattern is as good as small letters,
 * and needs no copy of the text; other letters have rules of their own, so with such a word no text can be passed over.
 */
function patternOf(words: ReadonlySet<string>): RegExp | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII begins with them
  if ([...words].some((word) => /[^\u0000-\u007f]/.test(word))) return undefined
  return new RegExp([...words].map(inPattern).join('|'), 'i')
}

/** Two letters beyond ASCII are in small letters one of ASCII, or begin with one: İ and the kelvin sign. */
function inPattern(word: string): string {
  return word
    .replace(/[^a-z0-9_]/g, '\\$&')
    .replaceAll('i', '[i\\u0130]')
    .replaceAll('k', '[k\\u212a]')
}
