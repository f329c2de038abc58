// What is indexed for a text, and the match expression for a query. Both must split words the same way. User input
// never reaches FTS5 as syntax.

/** Scripts without spaces: the tokenizer would take a whole sentence as one word. */
const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々〆〇]`
/** In bounded runs: a match over megabytes overflows the stack. */
const unspacedRun = new RegExp(`${unspaced}{1,4096}`, 'gu')
const unspacedParts = new RegExp(`(${unspaced}+)`, 'u')
const startsUnspaced = new RegExp(`^${unspaced}`, 'u')
/** A cheap test that never misses such a run. */
const maybeUnspaced = /[\u1100-\uffdc\u{16fe0}-\u{3ffff}]/u
const humps = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
const camelCase = /(?<![A-Za-z0-9])[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*/g
/** Base64 in the middle of text would bloat the index, and nobody searches for it. */
const encoded = /(?<![\w+/=-])[\w+/=-]{400}[\w+/=-]*/g

/**
 * The text as indexed: scripts without spaces as overlapping pairs, base64 removed, and the parts of camelCase names
 * appended, so that `limit` finds `rateLimit`. The tokenizer splits paths and snake_case itself; they are searched as
 * phrases.
 */
export function indexable(text: string): string {
  const cut = text.replace(encoded, ' ')
  const names = [...new Set(cut.match(camelCase))].map((name) => `${name.split(humps).join(' ')} `)
  const spaced = (maybeUnspaced.test(cut) ? withPairs(cut.normalize('NFC')) : cut).replaceAll('\0', ' ')
  return names.length === 0 ? spaced : `${spaced}\n${names.join('')}`
}

/** 会話の → 会話 話の の: the last one alone, so that every character starts a word that a prefix can find. */
function withPairs(text: string): string {
  return text.replace(unspacedRun, (run: string, at: number) => {
    const [next = ''] = startsUnspaced.exec(text.slice(at + run.length, at + run.length + 2)) ?? []
    const characters = [...run, next]
    const pairs = characters.slice(0, -1).map((character, nth) => `${character}${characters[nth + 1]}`)
    return ` ${pairs.join(' ')} `
  })
}

/** Consecutive words, the last one possibly a prefix. */
export type Term = { readonly text: string; readonly isPrefix: boolean }

const maxTerms = 32
const maxTermLength = 256
const maxQueryLength = 4000
/** A phrase costs time per word and occurrence; this many words are specific enough. */
const maxPhraseWords = 32
const wordSet = String.raw`\p{L}\p{N}\p{Co}`
const words = new RegExp(`[${wordSet}]+`, 'gu')
/** Collecting all words with a given first letter takes too long. */
const prefix = new RegExp(`[${wordSet}]{2}$`, 'u')
const longPhrase = new RegExp(`^[^${wordSet}]*[${wordSet}]+(?:[^${wordSet}]+[${wordSet}]+){${maxPhraseWords - 1}}`, 'u')

/** Words, "phrases", prefix*, paths and identifiers. */
export function parseTerms(typed: string): readonly Term[] {
  // By what is searched: a word that is typed twice finds no more, and FTS5 pays for it at every occurrence.
  const terms = new Map<string, Term>()
  const clean = typed.slice(0, maxQueryLength).replaceAll('\0', ' ').normalize('NFC')
  for (const [, quoted, quotedStar, bare] of clean.matchAll(/"([^"]*)"?(\*)?|([^\s"]+)/g)) {
    const text = (quoted ?? bare ?? '').slice(0, maxTermLength)
    const isPrefix = quotedStar !== undefined || bare?.endsWith('*') === true
    for (const term of termsOf(text.replace(/\*+$/, ''), isPrefix)) terms.set(matchOf(term).toLowerCase(), term)
  }
  return [...terms.values()].slice(0, maxTerms)
}

/** Text in a script without spaces is searched by pairs, the rest of the term separately. */
function termsOf(text: string, isPrefix: boolean): readonly Term[] {
  const terms = text.split(unspacedParts).map((part, at, parts): Term => {
    if (at % 2 === 1) {
      const characters = [...part].slice(0, maxPhraseWords + 1)
      const pairs = characters.slice(1).map((character, nth) => `${characters[nth]}${character}`)
      return pairs.length === 0 ? { text: part, isPrefix: true } : { text: pairs.join(' '), isPrefix: false }
    }
    const phrase = longPhrase.exec(part)?.[0] ?? part
    const isLast = at === parts.length - 1 && phrase === part
    return { text: phrase, isPrefix: isPrefix && isLast && prefix.test(part) }
  })
  return terms.filter((term) => wordsOf(term).length > 0)
}

export function wordsOf(term: Term): readonly string[] {
  return term.text.match(words) ?? []
}

/** An FTS5 string, in which only the quote has a meaning. */
export function matchOf(term: Term): string {
  return `"${term.text.replaceAll('"', ' ')}"${term.isPrefix ? ' *' : ''}`
}

export function matchExpression(terms: readonly Term[], operator: 'AND' | 'OR'): string {
  return terms.map(matchOf).join(` ${operator} `)
}
