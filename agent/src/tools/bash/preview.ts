// Keeps a long output small: all of it while it is short, otherwise its first lines, the lines that look like errors, and
// its last lines.
import { stripVTControlCharacters } from 'node:util'
import { shortened } from '../read-range.ts'

export const maxInline = 30_000
const maxHead = 4_000
const maxTail = 10_000
const maxErrors = 20
const maxLineLength = 1_000

const looksWrong =
  /\b(?:error|errors|fail|failed|failure|fatal|panic|exception|traceback|denied|cannot|undefined reference)\b|(?:Error|Exception):/i

export type Preview = {
  readonly add: (line: string) => void
  readonly isLong: () => boolean
  readonly text: () => string
  readonly size: () => { readonly characters: number; readonly lines: number }
}

export function createPreview(): Preview {
  let all: string[] = []
  const head: string[] = []
  let headSize = 0
  const tail: string[] = []
  let tailSize = 0
  const errors: string[] = []
  let characters = 0
  let lines = 0
  const add = (line: string) => {
    lines++
    characters += line.length + 1
    if (characters <= maxInline) all.push(line)
    else all = []
    const short = shortened(line, maxLineLength)
    if (headSize < maxHead) {
      head.push(short)
      headSize += short.length + 1
      return
    }
    if (errors.length < maxErrors && looksWrong.test(short)) errors.push(`${lines}: ${shortened(line, 300)}`)
    tail.push(short)
    tailSize += short.length + 1
    while (tailSize > maxTail && tail.length > 1) {
      tailSize -= (tail.shift()?.length ?? 0) + 1
    }
  }
  const isLong = () => characters > maxInline
  const cut = () => {
    const between = lines - head.length - tail.length
    const inBetween = errors.filter((line) => Number.parseInt(line, 10) <= lines - tail.length)
    return [
      ...head,
      ...(between > 0 ? [`\n… ${between} lines are left out here …`] : []),
      ...(inBetween.length > 0 ? ['Lines among them that look like errors:', ...inBetween] : []),
      ...(between > 0 ? [''] : []),
      ...tail,
    ].join('\n')
  }
  return { add, isLong, text: () => (isLong() ? cut() : all.join('\n')), size: () => ({ characters, lines }) }
}

/** Removes colors, and keeps only the last state of a progress bar. */
export function cleanLine(line: string): string {
  const plain = stripVTControlCharacters(line).replace(/\r+$/, '')
  return plain.slice(plain.lastIndexOf('\r') + 1)
}
