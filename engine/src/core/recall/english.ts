// What is known about English words in a question: which of them carry no topic, and how the others are inflected. Other
// languages are searched as typed; the rarity of their words has to be enough.

/**
 * The closed classes: articles, pronouns, question words, auxiliary verbs, conjunctions, prepositions. They occur in
 * nearly every text and say nothing about its topic. Words of open classes are never listed, however common they are.
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
export function withoutPossessive(word: string): string {
  return word.replace(/(?<=\p{L})['’]s$/iu, '')
}

const inflectable = /^(?:[A-Z]?[a-z]{2,29}|[A-Z]{3,30})$/

/**
 * The other inflections of a word: plural, third person, past, -ing. Empty for what may be an identifier (digits,
 * underscores, camelCase) or another language. Some forms are no words: those are in no text, so they find nothing.
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

/** The word, and what it may be an inflection of: paintings, painting, paint. */
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

/** Without -ed or -ing. */
function presentsOf(word: string): readonly string[] {
  if (/ied$/.test(word)) return [`${word.slice(0, -3)}y`]
  const cut = /^(.*[^e])ed$|^(.+)ing$/.exec(word)
  const stem = cut?.[1] ?? cut?.[2]
  if (stem === undefined) return []
  return [stem, `${stem}e`, ...(doubled.test(stem) ? [stem.slice(0, -1)] : [])]
}

const doubled = /([bdgklmnprt])\1$/
const mayDouble = /[aeiou][bdgklmnprt]$/

function formsOf(base: string): readonly string[] {
  const last = base.at(-1) ?? ''
  if (last === 'e') return [base, `${base}s`, `${base}d`, `${base.slice(0, -1)}ing`]
  const stem = /[^aeiou]y$/.test(base) ? `${base.slice(0, -1)}i` : base
  const plural = stem !== base || /(?:s|x|z|ch|sh|o)$/.test(base) ? `${stem}es` : `${base}s`
  const twice = mayDouble.test(base) ? [`${base}${last}ed`, `${base}${last}ing`] : []
  return [base, plural, `${stem}ed`, `${base}ing`, ...twice]
}
