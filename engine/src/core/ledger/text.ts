// Making foreign text safe to quote: one line, no secrets, no control characters, a cap. It never becomes markup.
import { withoutSecrets } from './secrets.ts'

/** Line ends, controls, and the marks that reverse or hide text. Matched to be replaced, so controls are meant. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const unsafe = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals' colours start with one
const colours = /\u001b\[[0-9;?]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?/g

/** The text on one line without secrets, cut at its end to `longest` characters. Never splits a surrogate pair. */
export function oneLine(text: string, longest: number): string {
  // Only the part that can be shown is looked at: an output may be megabytes long.
  const part = withoutSecrets(text.length > longest * 4 ? text.slice(0, longest * 4) : text)
  return cut(part.replace(colours, '').replace(unsafe, ' ').replace(/\s+/g, ' ').trim().toWellFormed(), longest)
}

const leastKept = 0.4

/** Where it can, between two words: half a name would be a name that nobody wrote. */
export function cut(text: string, longest: number): string {
  if (text.length <= longest) return text
  const end = isHighSurrogate(text.charCodeAt(longest - 2)) ? longest - 2 : longest - 1
  const part = text.slice(0, end)
  const space = /\s/.test(text[end] ?? '') ? end : part.search(/\s\S*$/)
  return `${(space > longest * leastKept ? part.slice(0, space) : part).trimEnd()}…`
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

export function withoutColours(text: string): string {
  return text.includes('\u001b') ? text.replace(colours, '') : text
}

/** Blocks that a person pasted rather than said: fenced code, quoted lines, tagged or indented stretches. */
const pasted =
  /^(?:```|~~~)[\s\S]*?(?:^(?:```|~~~)\s*$|(?![\s\S]))|^<([\w-]+)\b[^>]*>[\s\S]*?(?:^<\/\1>|<\/\1>|(?![\s\S]))|^(?: {4,}|\t|>|\|).*$/gm

export function withoutPasted(text: string): string {
  return text.replace(pasted, '\n')
}

const longestSentence = 800

/** People who type in small letters end their sentences too; "e.g." ends none. */
const sentenceEnd =
  /(?<=[.!?]["')\]]?)(?<!\b(?:e\.g|i\.e|etc|vs|cf|ca|bzw|approx|resp)\.)\s+(?=[\p{L}"'(¡¿])|(?<=[。！？])/u

/** Sentences and list items as they stand, marks of lists removed. Those too long to be one are left out. */
export function sentencesOf(text: string): readonly string[] {
  const found: string[] = []
  for (const line of unwrapped(text)) {
    const bare = line.replace(/^\s*(?:[-*+•]|\d+[.)]|#+)\s+/, '').trim()
    if (bare === '') continue
    for (const sentence of bare.split(sentenceEnd)) {
      const whole = sentence.trim()
      if (whole.length >= 4 && whole.length <= longestSentence) found.push(whole)
    }
  }
  return found
}

/** Lines; long ones that go on in small letters were broken by an editor, not by their writer, and are one again. */
function unwrapped(text: string): readonly string[] {
  const lines: string[] = []
  let isBroken = false
  for (const line of text.split('\n')) {
    if (isBroken && /^[a-z(]/.test(line)) lines.push(`${lines.pop() ?? ''} ${line}`)
    else lines.push(line)
    isBroken = line.length >= 60 && !/[.!?:;]\s*$/.test(line)
  }
  return lines
}
