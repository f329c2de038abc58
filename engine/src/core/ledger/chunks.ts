// Finds the chunks of a text that may hold a name: runs of the characters that paths, identifiers and URLs are made of.
// One pass over the characters. Plain words and short numbers, most of any text, are passed over without being cut out.

/** What a character is to a chunk. Separators and marks cannot begin one; a mark at its end belongs to the sentence. */
const kind = { outside: 0, small: 1, capital: 2, digit: 3, separator: 4, hyphen: 5, mark: 6, sign: 7 } as const
type Kind = (typeof kind)[keyof typeof kind]

const kinds: readonly (readonly [string, Kind])[] = [
  ['abcdefghijklmnopqrstuvwxyz', kind.small],
  ['ABCDEFGHIJKLMNOPQRSTUVWXYZ', kind.capital],
  ['0123456789', kind.digit],
  [':+#?=&%', kind.separator],
  ['-', kind.hyphen],
  ['./', kind.mark],
  ['_$~@', kind.sign],
]

/** Of each UTF-16 unit, so that the loop below needs no branch. */
const kindOf = new Uint8Array(65_536)
for (const [characters, is] of kinds) for (const character of characters) kindOf[character.charCodeAt(0)] = is

/** How far a chunk is from telling anything: what was read last, and of digits how many. */
const state = { nothing: 0, small: 1, capital: 2, capitals: 3, digits: 4, marked: 9, telling: 10 } as const
const mostDigits = 5
const kindCount = 8

/** Two capitals before a small letter, a capital behind one, a digit beside a letter, a mark inside: these tell. */
function nextState(now: number, is: number): number {
  if (now === state.telling || is === kind.sign) return state.telling
  if (is === kind.separator) return state.nothing
  if (is === kind.mark || is === kind.hyphen) return state.marked
  if (now === state.marked) return state.telling
  const digits = now >= state.digits ? now - state.digits + 1 : 0
  if (is === kind.digit) {
    const fits = now === state.nothing || (digits > 0 && digits < mostDigits)
    return fits ? state.digits + digits : state.telling
  }
  if (digits > 0) return state.telling
  if (is === kind.small) return now === state.capitals ? state.telling : state.small
  return now === state.small ? state.telling : now === state.nothing ? state.capital : state.capitals
}

const table = new Uint8Array((state.telling + 1) * kindCount)
for (let now = 0; now <= state.telling; now++) {
  for (let is = 1; is < kindCount; is++) table[now * kindCount + is] = nextState(now, is)
}

/** For every character of any text: why it is called by itself is told in tokens/estimate.ts. */
const unitAt = String.prototype.charCodeAt
const leastLength = 3
const hash = '#'.charCodeAt(0)

/** Hands over each chunk in order: of three characters and more, or a reference such as `#482`. */
export function eachChunk(text: string, take: (chunk: string) => void): void {
  const { length } = text
  for (let at = 0; at < length; at++) {
    const first = kindOf[unitAt.call(text, at)] as number
    if (first === kind.outside || first === kind.hyphen) continue
    if (first === kind.separator) {
      const end = text.charCodeAt(at) === hash ? endOfReference(text, at) : 0
      if (end === 0) continue
      take(text.slice(at, end))
      at = end - 1
      continue
    }
    const start = at
    let now = table[first] as number
    for (at++; at < length; at++) {
      const is = kindOf[unitAt.call(text, at)] as number
      if (is === kind.outside) break
      now = table[now * kindCount + is] as number
    }
    if (now === state.telling && at - start >= leastLength) take(text.slice(start, at))
    // What ended the chunk is outside, and the next turn begins behind it.
  }
}

const longestReference = 6

/** Up to six digits and no word behind them; 0 where it is none. */
function endOfReference(text: string, at: number): number {
  let end = at + 1
  while (end < text.length && kindOf[text.charCodeAt(end)] === kind.digit) end++
  const isWord = /\w/.test(text.charAt(end))
  return end > at + 1 && end - at - 1 <= longestReference && !isWord ? end : 0
}
