// Makes foreign text safe to quote: one line, no secrets, no control characters, limited length. It never becomes markup.
import { clippedAtWord } from './cut.ts'
import { withoutSecrets } from './secrets.ts'

/** Line ends, control characters, and marks that reverse or hide text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const unsafe = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminal colors start with one
const colors = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g

/** Returns the text on one line, without secrets, cut to `maxLength` characters. Never splits a surrogate pair. */
export function oneLine(text: string, maxLength: number): string {
  // Reads only the part that can be shown, because an output may be megabytes long.
  const part = withoutSecrets(text.length > maxLength * 4 ? text.slice(0, maxLength * 4) : text)
  return clippedAtWord(
    part.replace(colors, '').replace(unsafe, ' ').replace(/\s+/g, ' ').trim().toWellFormed(),
    maxLength,
  )
}

export function withoutColors(text: string): string {
  return text.includes('\u001b') ? text.replace(colors, '') : text
}
