// Makes foreign text harmless for a terminal: no escape sequences, no control characters, no marks that change the direction of
// writing.
import { stripVTControlCharacters } from 'node:util'

/** C0 and C1 controls, DEL, line and paragraph separators, and the marks that reorder or hide what is shown. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** One line without escape sequences. Runs of white space become one space, every other control character a visible �. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text).replace(/\s+/g, ' ').trim().replace(unsafe, '�').toWellFormed()
}

/** A name or a message, unchanged except for control characters, which show as �. */
export function visible(text: string): string {
  return text.replace(unsafe, '�').toWellFormed()
}

/**
 * Several lines without escape sequences. Tabs become spaces, line ends are normalized, every other control character becomes a
 * visible �.
 */
export function safeText(text: string): string {
  const lines = stripVTControlCharacters(text).replace(/\r\n?/g, '\n').replace(/\t/g, '    ').split('\n')
  return lines.map(visible).join('\n')
}

/** JSON for people and programs: the same value, with every unsafe character written as an escape. */
export function safeJson(value: unknown): string {
  // No field is omitted: an undefined one is null, so that the shape is always the same.
  const text = JSON.stringify(value, (_, item: unknown) => (item === undefined ? null : item), 2)
  return text.replace(/[^\n\u0020-\u007e]/g, (character) => (isUnsafe(character) ? escaped(character) : character))
}

function isUnsafe(character: string): boolean {
  return character.replace(unsafe, '') === ''
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
