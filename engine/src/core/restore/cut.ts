// Cutting texts to so many tokens, at line ends where it can be.

/** The longest head of the text that fits, with the marker behind it; the text itself when it fits whole. */
export function headWithin(
  text: string,
  {
    tokens,
    countTokens,
    marker,
  }: { readonly tokens: number; readonly countTokens: (text: string) => number; readonly marker: string },
): string {
  if (countTokens(text) <= tokens) return text
  const cut = (length: number) => `${atLineEnd(text.slice(0, length))}\n${marker}`
  let fits = 0
  let tooLong = text.length
  while (tooLong - fits > 16) {
    const middle = (fits + tooLong) >>> 1
    if (countTokens(cut(middle)) <= tokens) fits = middle
    else tooLong = middle
  }
  return fits === 0 ? '' : cut(fits)
}

function atLineEnd(text: string): string {
  const end = text.lastIndexOf('\n')
  return end > text.length / 2 ? text.slice(0, end) : text
}
