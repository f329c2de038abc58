// A real tokenizer with a public vocabulary (o200k), so that estimates meet a count that they do not know. Counts are cached by
// content, so a repeated conversation is not tokenized again.
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { digestOf } from './digest.ts'

export type Tokenizer = {
  /** Counts a text; the same text is counted once. */
  readonly count: (text: string) => number
  /** Caches the result of `measure` under a key that identifies the content. */
  readonly remember: (key: string, measure: () => number) => number
  /** The longest beginning of a text that has at most this many tokens. */
  readonly cut: (text: string, tokens: number) => string
}

/** Every byte-pair encoder is quadratic on text without breaks, so no chunk is longer than this. */
const maxPiece = 4_096
/** A count of a shorter text is cheaper than its hash. */
const worthRemembering = 256
const maxRemembered = 200_000
const plain = { disallowedSpecial: new Set<string>() }

export function createTokenizer(): Tokenizer {
  const known = new Map<string, number>()
  const remember = (key: string, measure: () => number): number => {
    const found = known.get(key)
    if (found !== undefined) return found
    const tokens = measure()
    if (known.size >= maxRemembered) forgetOldest(known)
    known.set(key, tokens)
    return tokens
  }
  const count = (text: string): number => {
    if (text.length < worthRemembering) return countTokens(text, plain)
    return remember(digestOf(text), () => countPieces(text))
  }
  return { count, remember, cut: (text, tokens) => cutAt(text, tokens) }
}

function forgetOldest(known: Map<string, number>): void {
  const drop = known.size / 4
  let dropped = 0
  for (const key of known.keys()) {
    if (dropped++ >= drop) return
    known.delete(key)
  }
}

function countPieces(text: string): number {
  let tokens = 0
  for (const piece of pieces(text)) tokens += countTokens(piece, plain)
  return tokens
}

function* pieces(text: string): Generator<string> {
  let start = 0
  while (start < text.length) {
    const end = safeEnd(text, start + maxPiece)
    yield text.slice(start, end)
    start = end
  }
}

/** The position itself, or one less where it would part a surrogate pair. */
function safeEnd(text: string, position: number): number {
  if (position >= text.length) return text.length
  const code = text.charCodeAt(position - 1)
  return code >= 0xd800 && code <= 0xdbff ? position - 1 : position
}

function cutAt(text: string, tokens: number): string {
  if (tokens <= 0) return ''
  let left = tokens
  let kept = ''
  for (const piece of pieces(text)) {
    const size = countTokens(piece, plain)
    if (size > left) return kept + cutPiece(piece, left)
    kept += piece
    left -= size
  }
  return kept
}

function cutPiece(piece: string, tokens: number): string {
  let low = 0
  let high = piece.length
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (countTokens(piece.slice(0, middle), plain) <= tokens) low = middle
    else high = middle - 1
  }
  return piece.slice(0, low === 0 ? 0 : safeEnd(piece, low))
}
