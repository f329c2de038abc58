// Reads the terms of a query, and prepares texts for the search. Both must split words the same way. Drops English function words
// and searches the other words in all inflections; words of other languages are searched as typed.

/**
 * The closed word classes: articles, pronouns, question words, auxiliary verbs, conjunctions, prepositions. They occur in nearly
 * every text and say nothing about its topic. Words of open classes are never listed, even if they are common.
 */
const functionWords: ReadonlySet<string> = new Set(
  [
    'a an the this that these those any some',
    'i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs',
    'who whom whose what which when where why how there here',
    'am is are was were be been being do does did have has had will would shall should can could may might must',
    'and or but nor if than then so as not no',
    'of at by for with about to from in on into',
  ].flatMap((words) => words.split(' ')),
)

const contraction = /(?:n['’]t|['’](?:s|re|ll|ve|d|m|t))$/iu

export function isFunctionWord(word: string): boolean {
  const low = word.toLowerCase()
  // "can't" is "can" and "'t"; "don't" is "do" and "n't".
  return [low, low.replace(contraction, ''), low.replace(/['’]t$/u, '')].some((each) => functionWords.has(each))
}

/** Caroline's → Caroline */
function withoutPossessive(word: string): string {
  return word.replace(/(?<=\p{L})['’]s$/iu, '')
}

const inflectable = /^(?:[A-Z]?[a-z]{2,29}|[A-Z]{3,30})$/

/**
 * The other inflections of a word: plural, third person, past, -ing. Empty for a possible identifier (digits, underscores,
 * camelCase) or another language. Some forms are not words; they occur in no text and find nothing.
 */
export function inflectionsOf(word: string): readonly string[] {
  if (!inflectable.test(word)) return []
  const low = word.toLowerCase()
  const forms = new Set(basesOf(low).flatMap(formsOf))
  forms.delete(low)
  return [...forms]
}

const minBase = 3
const vowel = /[aeiouy]/

/** The word and its possible base forms: paintings, painting, paint. */
function basesOf(word: string): readonly string[] {
  const bases = [word, ...singularsOf(word)]
  return bases.flatMap((base) => [base, ...presentsOf(base)]).filter((base) => base === word || isBase(base))
}

function isBase(text: string): boolean {
  return text.length >= minBase && vowel.test(text)
}

function singularsOf(word: string): readonly string[] {
  if (/ies$/.test(word)) return [`${word.slice(0, -3)}y`]
  const short = /(?:s|x|z|ch|sh|o)es$/.test(word) ? [word.slice(0, -2)] : []
  return /[^sui]s$/.test(word) ? [...short, word.slice(0, -1)] : short
}

/** The forms without -ed or -ing. */
function presentsOf(word: string): readonly string[] {
  if (/ied$/.test(word)) return [`${word.slice(0, -3)}y`]
  const cut = /^(.*[^e])ed$|^(.+)ing$/.exec(word)
  const stem = cut?.[1] ?? cut?.[2]
  if (stem === undefined) return []
  return [stem, `${stem}e`, ...(doubledConsonant.test(stem) ? [stem.slice(0, -1)] : [])]
}

const doubledConsonant = /([bdgklmnprt])\1$/
const mayDouble = /[aeiou][bdgklmnprt]$/

function formsOf(base: string): readonly string[] {
  const last = base.at(-1) ?? ''
  if (last === 'e') return [base, `${base}s`, `${base}d`, `${base.slice(0, -1)}ing`]
  const stem = /[^aeiou]y$/.test(base) ? `${base.slice(0, -1)}i` : base
  const plural = stem !== base || /(?:s|x|z|ch|sh|o)$/.test(base) ? `${stem}es` : `${base}s`
  const twice = mayDouble.test(base) ? [`${base}${last}ed`, `${base}${last}ing`] : []
  return [base, plural, `${stem}ed`, `${base}ing`, ...twice]
}

/** Scripts without spaces: the tokenizer would take a whole sentence as one word. */
const scripts = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer']
const unspaced = `[${scripts.map((script) => `\\p{Script=${script}}`).join('')}ー々〆〇]`
/** Runs are bounded, because a match over megabytes overflows the stack. */
const unspacedRun = new RegExp(`${unspaced}{1,4096}`, 'gu')
const unspacedParts = new RegExp(`(${unspaced}+)`, 'u')
const startsUnspaced = new RegExp(`^${unspaced}`, 'u')
/** A cheap test that never misses such a run. */
const maybeUnspaced = /[\u0e00-\uffdc\u{16fe0}-\u{3ffff}]/u
const caseChange = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/
const camelCase = /(?<![A-Za-z0-9])[A-Za-z0-9]*[a-z0-9][A-Z][A-Za-z0-9]*/g
/** Base64 inside text would bloat the index, and nobody searches for it. */
const encoded = /(?<![\w+/=-])[\w+/=-]{400}[\w+/=-]*/g

/**
 * The text for the index: scripts without spaces as overlapping pairs, no base64, and the parts of camelCase names appended, so
 * that `limit` finds `rateLimit`. The tokenizer splits paths and snake_case itself; they are searched as phrases.
 */
export function indexable(text: string): string {
  const cut = text.replace(encoded, ' ')
  const names = [...new Set(cut.match(camelCase))].map((name) => `${name.split(caseChange).join(' ')} `)
  const spaced = (maybeUnspaced.test(cut) ? withPairs(cut.normalize('NFC')) : cut).replaceAll('\0', ' ')
  return names.length === 0 ? spaced : `${spaced}\n${names.join('')}`
}

/** 会話の → 会話 話の の. The last character also stands alone, so that a prefix can find every character. */
function withPairs(text: string): string {
  return text.replace(unspacedRun, (run: string, at: number) => {
    const [next = ''] = startsUnspaced.exec(text.slice(at + run.length, at + run.length + 2)) ?? []
    const characters = [...run, next]
    const pairs = characters.slice(0, -1).map((character, nth) => `${character}${characters[nth + 1]}`)
    return ` ${pairs.join(' ')} `
  })
}

/** Consecutive words, the last one possibly a prefix. */
export type Term = {
  readonly text: string
  readonly isPrefix: boolean
  /** Quoted or with a star. Matches must contain it as typed. */
  readonly isExact: boolean
  /** Its inflections, which match too. */
  readonly forms: readonly string[]
}

const maxTerms = 32
const maxTermLength = 256
const maxQueryLength = 4000
/** A phrase takes time per word and occurrence. This many words are specific enough. */
const maxPhraseWords = 32
const wordSet = String.raw`\p{L}\p{N}\p{Co}`
const words = new RegExp(`[${wordSet}]+`, 'gu')
const isWord = new RegExp(`^[${wordSet}]+$`, 'u')
const outerPunctuation = new RegExp(`^[^${wordSet}]+|[^${wordSet}]+$`, 'gu')
/** Collecting all words with a given first letter takes too long. */
const prefix = new RegExp(`[${wordSet}]{2}$`, 'u')
const longPhrase = new RegExp(`^[^${wordSet}]*[${wordSet}]+(?:[^${wordSet}]+[${wordSet}]+){${maxPhraseWords - 1}}`, 'u')

/**
 * Reads words, "phrases", prefix*, paths and identifiers. Drops function words unless there are no others, because a question is
 * not a list of words that must all occur.
 */
export function parseTerms(typed: string): readonly Term[] {
  const clean = typed.slice(0, maxQueryLength).replaceAll('\0', ' ').normalize('NFC')
  const parts = [...clean.matchAll(/"([^"]*)"?(\*)?|([^\s"]+)/g)].map(([, quoted, star, bare]): TypedTerm => {
    const text = (quoted ?? bare ?? '').slice(0, maxTermLength)
    const isPrefix = star !== undefined || bare?.endsWith('*') === true
    return { text: text.replace(/\*+$/, ''), isPrefix, isExact: isPrefix || quoted !== undefined }
  })
  const telling = distinct(parts.filter(({ text, isExact }) => isExact || !isFunctionWord(bareWord(text))))
  return telling.length > 0 ? telling : distinct(parts)
}

type TypedTerm = Omit<Term, 'forms'>

/** Searches a word only once if it is typed twice or in two forms. A second search finds nothing new and takes time. */
function distinct(parts: readonly TypedTerm[]): readonly Term[] {
  const terms = new Map<string, Term>()
  const covered = new Set<string>()
  for (const term of parts.flatMap(termsOf)) {
    const low = term.text.toLowerCase()
    const key = `${low} ${term.isPrefix} ${term.isExact}`
    if (terms.has(key) || (!term.isExact && covered.has(low))) continue
    terms.set(key, term)
    for (const form of term.forms) covered.add(form)
    if (terms.size === maxTerms) break
  }
  return [...terms.values()]
}

/** Removes punctuation around the word. */
function bareWord(text: string): string {
  return text.replace(outerPunctuation, '')
}

/** Searches text in a script without spaces by pairs, and the rest of the term separately. */
function termsOf({ text, isPrefix, isExact }: TypedTerm): readonly Term[] {
  const terms = text.split(unspacedParts).map((part, at, parts): Term => {
    if (at % 2 === 1) {
      const characters = [...part].slice(0, maxPhraseWords + 1)
      const pairs = characters.slice(1).map((character, nth) => `${characters[nth]}${character}`)
      const isSingle = pairs.length === 0
      return { text: isSingle ? part : pairs.join(' '), isPrefix: isSingle, isExact, forms: [] }
    }
    if (!isExact) {
      const word = withoutPossessive(bareWord(part))
      if (isWord.test(word)) return { text: word, isPrefix: false, isExact, forms: inflectionsOf(word) }
    }
    const phrase = longPhrase.exec(part)?.[0] ?? part
    const isLast = at === parts.length - 1 && phrase === part
    return { text: phrase, isPrefix: isPrefix && isLast && prefix.test(part), isExact, forms: [] }
  })
  return terms.filter((term) => wordsOf(term).length > 0)
}

export function isUnspaced(text: string): boolean {
  return startsUnspaced.test(text)
}

export function wordsOf(term: Term): readonly string[] {
  return term.text.match(words) ?? []
}
