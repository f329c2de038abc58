// Truncates texts without splitting surrogate pairs. Lengths are in UTF-16 code units.

export function headOf(text: string, most: number): string {
  if (text.length <= most) return text
  const end = Math.max(0, Math.floor(most))
  return text.slice(0, splitsPair(text, end) ? end - 1 : end)
}

export function tailOf(text: string, most: number): string {
  if (text.length <= most) return text
  const start = text.length - Math.max(0, Math.floor(most))
  return text.slice(splitsPair(text, start) ? start + 1 : start)
}

/** At most `most` characters, ending in an ellipsis if truncated. */
export function clipped(text: string, most: number): string {
  return text.length <= most ? text : `${headOf(text, most - 1)}…`
}

/** A cut between words may cost up to the rest of the limit. */
const minKept = 0.4

/** Like `clipped`, but between two words if possible: half a name is a name that nobody wrote. */
export function clippedAtWord(text: string, most: number): string {
  if (text.length <= most) return text
  const part = headOf(text, most - 1)
  const space = /\s/.test(text[part.length] ?? '') ? part.length : part.search(/\s\S*$/)
  return `${(space > most * minKept ? part.slice(0, space) : part).trimEnd()}…`
}

export type MiddleCut = {
  /** Characters kept; the marker is extra. */
  readonly most: number
  readonly headShare?: number
  readonly marker?: (missing: number) => string
}

export function withoutMiddle(text: string, { most, headShare = 0.6, marker = missingMarker }: MiddleCut): string {
  if (text.length <= most) return text
  const head = headOf(text, Math.ceil(most * headShare))
  const tail = tailOf(text, most - Math.ceil(most * headShare))
  return `${head}${marker(text.length - head.length - tail.length)}${tail}`
}

function missingMarker(missing: number): string {
  return `\n[… ${missing} characters left out …]\n`
}

export type TokenLimit = {
  readonly tokens: number
  readonly countTokens: (text: string) => number
}

/** No counter finds fewer tokens; this avoids counting a whole book to show a page. */
const charactersPerToken = 16

/** The longest head that fits, ending at a line break if that costs less than half of it. */
export function headWithin(text: string, { tokens, countTokens }: TokenLimit): string {
  let tooLong = Math.min(text.length, Math.max(0, tokens) * charactersPerToken)
  if (tooLong === text.length && countTokens(text) <= tokens) return text
  let fits = 0
  tooLong++
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >>> 1
    if (countTokens(text.slice(0, middle)) <= tokens) fits = middle
    else tooLong = middle
  }
  const lineEnd = fits === 0 ? 0 : text.lastIndexOf('\n', fits - 1) + 1
  return lineEnd > fits / 2 ? text.slice(0, lineEnd) : headOf(text, fits)
}

/** The text if it fits, else the longest head that fits with the marker; '' if none does. */
export function markedHeadWithin(
  text: string,
  { tokens, countTokens, marker }: TokenLimit & { readonly marker: string },
): string {
  if (countTokens(text) <= tokens) return text
  const head = headWithin(text, { tokens, countTokens: (part) => countTokens(`${part}\n${marker}`) })
  return head === '' ? '' : `${head.endsWith('\n') ? head : `${head}\n`}${marker}`
}

function splitsPair(text: string, at: number): boolean {
  return (text.codePointAt(at - 1) ?? 0) > 0xffff
}
