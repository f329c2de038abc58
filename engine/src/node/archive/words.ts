// What is indexed for a text, and the match expression for a query. Both must split words the same way. User input
// never reaches FTS5 as syntax.

/** Scripts without spaces: the tokenizer would take a whole sentence as one word. */
const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々〆〇]`
/** In bounded runs: a match over megabytes overflows the stack. */
const unspacedRun = new RegExp(`${unspaced}{1,4096}`, 'gu')
const startsUnspaced = new RegExp(`^${unspaced}`, 'u')
/** A cheap test that never misses such a run. */
const maybeUnspaced = /[\u1100-\uffdc\u{16fe0}-\u{3ffff}]/u
const hump = /[a-z0-9][A-Z]/g
const humps = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
/** Base64 in the middle of text would bloat the index, and nobody searches for it. */
const minEncoded = 400

/**
 * The text as indexed: scripts without spaces as overlapping pairs, base64 removed, and the parts of camelCase names
 * appended, so that `limit` finds `rateLimit`. The tokenizer splits paths and snake_case itself; they are searched as
 * phrases.
 */
export function indexable(text: string): string {
  let cut = withoutEncoded(text)
  const parts = camelParts(cut)
  if (maybeUnspaced.test(cut)) cut = withPairs(cut.normalize('NFC'))
  if (cut.includes('\0')) cut = cut.replaceAll('\0', ' ')
  return parts === '' ? cut : `${cut}\n${parts}`
}

/** Without a regex, because a run may be megabytes long. Most text is skipped in steps of nearly its minimum length. */
function withoutEncoded(text: string): string {
  const kept: string[] = []
  let done = 0
  for (let start = 0; start + minEncoded <= text.length; ) {
    let end = start + minEncoded
    while (end > start && isEncoded(text.charCodeAt(end - 1))) end--
    if (end > start) {
      start = end
      continue
    }
    end = start + minEncoded
    while (end < text.length && isEncoded(text.charCodeAt(end))) end++
    kept.push(text.slice(done, start), ' ')
    start = done = end
  }
  return done === 0 ? text : `${kept.join('')}${text.slice(done)}`
}

function isEncoded(code: number): boolean {
  return isNameCharacter(code) || code === 43 || code === 45 || code === 47 || code === 61 || code === 95
}

function camelParts(text: string): string {
  const names = new Set<string>()
  hump.lastIndex = 0
  for (let found = hump.exec(text); found !== null; found = hump.exec(text)) {
    let start = found.index
    let end = found.index + 2
    while (start > 0 && isNameCharacter(text.charCodeAt(start - 1))) start--
    while (end < text.length && isNameCharacter(text.charCodeAt(end))) end++
    names.add(text.slice(start, end))
    hump.lastIndex = end
  }
  let parts = ''
  for (const name of names) parts += `${name.split(humps).join(' ')} `
  return parts
}

function isNameCharacter(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
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
/** Collecting all words with a given first letter takes too long. */
const minPrefix = 2
const maxTermLength = 256
const maxQueryLength = 4000
/** A phrase costs time per word and occurrence; this many words are specific enough. */
const maxPhraseWords = 32
const wordSet = String.raw`\p{L}\p{N}\p{Co}`
const longPhrase = new RegExp(`^[^${wordSet}]*[${wordSet}]+(?:[^${wordSet}]+[${wordSet}]+){${maxPhraseWords - 1}}`, 'u')

/** Words, "phrases", prefix*, paths and identifiers. */
export function parseTerms(typed: string): readonly Term[] {
  // By what is searched: a word that is typed twice finds no more, and FTS5 pays for it at every occurrence.
  const terms = new Map<string, Term>()
  const clean = typed.slice(0, maxQueryLength).replaceAll('\0', ' ').normalize('NFC')
  for (const [, quoted, quotedStar, word] of clean.matchAll(/"([^"]*)"?(\*)?|([^\s"]+)/g)) {
    const text = (quoted ?? word ?? '').slice(0, maxTermLength)
    const isPrefix = quotedStar !== undefined || (word ?? '').endsWith('*')
    for (const term of termsOf(text.replace(/\*+$/, ''), isPrefix)) terms.set(matchOf(term).toLowerCase(), term)
  }
  return [...terms.values()].slice(0, maxTerms)
}

/** Text in a script without spaces is searched by pairs, the rest of the term separately. */
function termsOf(text: string, isPrefix: boolean): readonly Term[] {
  const terms: Term[] = []
  let from = 0
  for (const found of text.matchAll(unspacedRun)) {
    terms.push({ text: text.slice(from, found.index), isPrefix: false })
    const characters = [...found[0]].slice(0, maxPhraseWords + 1)
    const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
    terms.push(pairs.length === 0 ? { text: found[0], isPrefix: true } : { text: pairs.join(' '), isPrefix: false })
    from = found.index + found[0].length
  }
  const rest = text.slice(from)
  const begun = /[\p{L}\p{N}\p{Co}]+$/u.exec(rest)?.[0] ?? ''
  const phrase = longPhrase.exec(rest)?.[0] ?? rest
  terms.push({ text: phrase, isPrefix: isPrefix && phrase === rest && begun.length >= minPrefix })
  return terms.filter((term) => /[\p{L}\p{N}\p{Co}]/u.test(term.text))
}

/** An FTS5 string, in which only the quote has a meaning. */
export function matchOf(term: Term): string {
  return `"${term.text.replaceAll('"', ' ')}"${term.isPrefix ? ' *' : ''}`
}

export function matchAll(terms: readonly Term[]): string {
  return terms.map(matchOf).join(' AND ')
}

export function matchAny(terms: readonly Term[]): string {
  return terms.map(matchOf).join(' OR ')
}
