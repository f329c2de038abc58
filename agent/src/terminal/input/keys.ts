// Key presses by name, independent of the terminal: `enter`, `ctrl+a`, `alt+left`, `text`, `paste`.
import type { Key } from 'ink'

export type Press =
  | { readonly key: 'text' | 'paste'; readonly text: string }
  | { readonly key: Exclude<string, 'text' | 'paste'>; readonly text?: undefined }

const special: readonly (readonly [keyof Key, string])[] = [
  ['return', 'enter'],
  ['escape', 'escape'],
  ['tab', 'tab'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
]

export function pressesOf(input: string, key: Key): readonly Press[] {
  if (key.eventType === 'release') return []
  const name = special.find(([field]) => key[field])?.[1]
  if (name !== undefined) return [{ key: `${modifiersOf(key)}${name}` }]
  if (key.ctrl || key.meta)
    return input === '' ? [] : [{ key: `${modifiersOf({ ...key, shift: false })}${input.toLowerCase()}` }]
  return isPaste(input) ? [{ key: 'paste', text: input }] : pieces(input)
}

function modifiersOf({ ctrl, meta, shift }: Pick<Key, 'ctrl' | 'meta' | 'shift'>): string {
  return `${ctrl ? 'ctrl+' : ''}${meta ? 'alt+' : ''}${shift ? 'shift+' : ''}`
}

/** A terminal that does not mark pastes sends several lines at once, and nobody types that fast. */
function isPaste(input: string): boolean {
  return /[\r\n]+[^\r\n]/.test(input)
}

/** Keys of one chunk: text, and its control characters one by one. */
function pieces(input: string): readonly Press[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are keys here
  return (input.match(/[\u0000-\u001f\u007f]|[^\u0000-\u001f\u007f]+/g) ?? []).map((piece): Press => {
    const code = piece.charCodeAt(0)
    if (piece === '\r') return { key: 'enter' }
    if (piece === '\n') return { key: 'ctrl+j' }
    if (piece === '\t') return { key: 'tab' }
    if (code === 0x7f || code === 0x08) return { key: 'backspace' }
    if (code === 0x1b) return { key: 'escape' }
    if (code === 0x1f) return { key: 'ctrl+_' }
    return code < 0x20 ? { key: `ctrl+${String.fromCharCode(code + 0x60)}` } : { key: 'text', text: piece }
  })
}
