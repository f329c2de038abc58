// What is put into the full-text index for a text, and the match expression for what somebody typed. The two belong
// together: a word is found only when both cut it the same way. Nothing typed ever reaches FTS5 as syntax.

/** Scripts written without spaces: the tokenizer would take a whole sentence for one word. */
const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々〆〇]`
/** In bounded runs: a pattern that goes on for megabytes runs out of stack. */
const unspacedRun = new RegExp(`${unspaced}{1,4096}`, 'gu')
const startsUnspaced = new RegExp(`^${unspaced}`, 'u')
/** Cheap to test, and true whenever there may be such a run. */
const maybeUnspaced = /[\u1100-\uffdc\u{16fe0}-\u{3ffff}]/u
const hump = /[a-z0-9][A-Z]/g
const humps = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
/** Encoded bytes in the midst of text: nobody looks for a piece of them, and they would outgrow all words. */
const leastEncoded = 400

/**
 * The text as it is given to the index: runs without spaces as overlapping pairs, encoded bytes left out, and behind
 * it all the parts of camelCase names, so that `limit` finds `rateLimit`. Paths and names_with_underscores need
 * nothing: the tokenizer cuts them into words, and they are looked for as phrases.
 */
export function indexable(text: string): string {
  let cut = withoutEncoded(text)
  const parts = camelParts(cut)
  if (maybeUnspaced.test(cut)) cut = withPairs(cut.normalize('NFC'))
  if (cut.includes('\0')) cut = cut.replaceAll('\0', ' ')
  return parts === '' ? cut : `${cut}\n${parts}`
}

/** By hand, since such a run may be megabytes long. Most texts are passed over in steps of nearly its least length. */
function withoutEncoded(text: string): string {
  const kept: string[] = []
  let done = 0
  for (let start = 0; start + leastEncoded <= text.length; ) {
    let end = start + leastEncoded
    while (end > start && isEncoded(text.charCodeAt(end - 1))) end--
    if (end > start) {
      start = end
      continue
    }
    end = start + leastEncoded
    while (end < text.length && isEncoded(text.charCodeAt(end))) end++
    kept.push(text.slice(done, start), ' ')
    start = done = end
  }
  return done === 0 ? text : `${kept.join('')}${text.slice(done)}`
}

/** Of base64 in either alphabet. */
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

/** Letters and digits of ASCII. */
function isNameCharacter(code: number): boolean {
  return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
}

/** 会話の → 会話 話の の: the last one alone, so that every character begins a word that a prefix can find. */
function withPairs(text: string): string {
  return text.replace(unspacedRun, (run: string, at: number) => {
    const [next = ''] = startsUnspaced.exec(text.slice(at + run.length, at + run.length + 2)) ?? []
    const characters = [...run, next]
    const pairs = characters.slice(0, -1).map((character, nth) => `${character}${characters[nth + 1]}`)
    return ` ${pairs.join(' ')} `
  })
}

/** Something to look for: words in this order, the last of them perhaps only begun. */
export type Term = { readonly text: string; readonly isPrefix: boolean }

const mostTerms = 32
/** Half of all words begin with some single letter: to gather them takes longer than anybody would wait. */
const leastPrefix = 2
const longestTerm = 256
const longestQuery = 4000
/** A phrase costs as much as it has words, at every place where they stand; so many characters in a row say enough. */
const mostPairs = 32

/** Words, "phrases", prefix*, paths and identifiers. Whatever holds no word is left out. */
export function parseTerms(typed: string): readonly Term[] {
  const terms: Term[] = []
  const clean = typed.slice(0, longestQuery).replaceAll('\0', ' ').normalize('NFC')
  for (const [, quoted, quotedStar, word] of clean.matchAll(/"([^"]*)"?(\*)?|([^\s"]+)/g)) {
    const text = (quoted ?? word ?? '').slice(0, longestTerm)
    terms.push(...termsOf(text.replace(/\*+$/, ''), quotedStar !== undefined || (word ?? '').endsWith('*')))
  }
  return terms.slice(0, mostTerms)
}

/** A term in a script without spaces is looked for by its pairs; what stands around it, apart. */
function termsOf(text: string, isPrefix: boolean): readonly Term[] {
  const terms: Term[] = []
  let from = 0
  for (const found of text.matchAll(unspacedRun)) {
    terms.push({ text: text.slice(from, found.index), isPrefix: false })
    const characters = [...found[0]].slice(0, mostPairs + 1)
    const pairs = characters.slice(1).map((character, at) => `${characters[at]}${character}`)
    terms.push(pairs.length === 0 ? { text: found[0], isPrefix: true } : { text: pairs.join(' '), isPrefix: false })
    from = found.index + found[0].length
  }
  const rest = text.slice(from)
  const begun = /[\p{L}\p{N}\p{Co}]+$/u.exec(rest)?.[0] ?? ''
  terms.push({ text: rest, isPrefix: isPrefix && begun.length >= leastPrefix })
  return terms.filter((term) => /[\p{L}\p{N}\p{Co}]/u.test(term.text))
}

/** As a string of FTS5, in which nothing has a meaning but the quote, and that cannot come from a term. */
export function matchOf(term: Term): string {
  return `"${term.text.replaceAll('"', ' ')}"${term.isPrefix ? ' *' : ''}`
}

export function matchAll(terms: readonly Term[]): string {
  return terms.map(matchOf).join(' AND ')
}

export function matchAny(terms: readonly Term[]): string {
  return terms.map(matchOf).join(' OR ')
}
