// One line for a part of a message that is folded.
import { clippedAtWord } from 'everlong/internal'
import type { ItemBlock } from '../../data/api.ts'
import { counted, oneLine, visible } from '../format.ts'

export function blockTitle({ type, tool, text, length }: ItemBlock): string {
  const size = length > 400 ? ` (${counted(length, 'character')})` : ''
  if (type === 'image') return '[image]'
  if (type === 'thinking') return text === '' ? 'Thinking, stored without its text' : `Thinking${size}`
  const start = clippedAtWord(oneLine(visible(type === 'call' ? valuesIn(text) : text).slice(0, 400)), 140)
  const name = type === 'call' ? `${tool} ` : type === 'result' && tool !== null ? `${tool} → ` : ''
  return `${oneLine(name)} ${start}${size}`.trim()
}

/** `{ "command": "make" }` reads better as `make`. */
function valuesIn(text: string): string {
  const [, value] = /^\{\s*"\w+":\s*"((?:[^"\\]|\\.)*)"/.exec(text) ?? []
  return value?.replaceAll('\\n', ' ').replaceAll('\\"', '"') ?? text
}
