// Cuts texts without splitting a surrogate pair, so that what was well formed stays so.

export function headOf(text: string, most: number): string {
  return text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')
}

/** Long text loses its middle. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const half = Math.floor((longest - 5) / 2)
  return `${headOf(text, half)} […] ${text.slice(text.length - half).replace(/^[\uDC00-\uDFFF]/, '')}`
}
