// Names in a summary that occur nowhere in what it was made from: paths, identifiers, hashes, addresses, numbers. They
// may be wrong, and the reader is told once which they are.
import { blocksOf, isText, isToolResult, isToolUse, textOf } from '../../message/block.ts'
import type { ViewMessage } from '../../message/message.ts'

/** An address; a path with a folder and an ending, or with two folders; a hash; an identifier; a number of four digits. */
const names =
  /https?:\/\/[^\s<>"'`)\]]{4,300}|(?<![\w./-])(?:[\w@.~-]{1,80}\/){1,20}[\w@-]{1,80}\.[A-Za-z]\w{0,9}\b|(?<![\w./-])(?:[\w@.~-]{1,80}\/){2,20}[\w@.-]{2,80}|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\b[a-z][a-z0-9]{0,60}(?:[A-Z][a-z0-9]{1,60}){1,20}\b|\b[A-Za-z][a-z0-9]{0,60}(?:_[a-z0-9]{1,60}){1,20}\b|(?<![\w.,-])\d{4,20}(?![\w.,-]*\w)/g

const longestSummary = 200_000
const mostReported = 16

type Source = { readonly messages: readonly ViewMessage[]; readonly known: readonly string[] }

export function unknownNames(summary: string, { messages, known }: Source): readonly string[] {
  const found = [...new Set(summary.slice(0, longestSummary).match(names) ?? [])]
  const missing = new Set(found.flatMap((name) => groundsOf(name).flat()))
  const look = (text: string): void => {
    const small = text.toLowerCase()
    for (const word of missing) if (small.includes(word)) missing.delete(word)
  }
  for (const text of known) look(text)
  // The newest first: that is what summaries mostly speak of.
  for (let at = messages.length - 1; at >= 0 && missing.size > 0; at--) look(sourceText(messages[at]))
  const isKnown = (name: string) => groundsOf(name).some((words) => words.every((word) => !missing.has(word)))
  return found.filter((name) => !isKnown(name)).slice(0, mostReported)
}

/** Sets of words, one of which must be known: the name, or, for a path or a member, all of its parts. */
function groundsOf(name: string): readonly (readonly string[])[] {
  const small = name.toLowerCase()
  const whole = small.replace(/^#|s$/g, '').replace(/[.,;:]+$/, '')
  const parts = small.includes('://') ? [] : small.split(/[/.:#@~]+/).filter((part) => part.length >= 2)
  return parts.length < 2 ? [[whole]] : [[whole], parts]
}

/** What a message says, tool inputs included. Thinking and media are left out. */
export function sourceText(message: ViewMessage | undefined): string {
  return blocksOf(message?.content ?? '')
    .map((block) => {
      if (isText(block)) return block.text
      if (isToolUse(block)) return [block.name, ...wordsIn(block.input)].join('\n')
      return isToolResult(block) ? textOf(block.content) : ''
    })
    .join('\n')
}

function wordsIn(value: unknown): readonly unknown[] {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, part]) => [key, ...wordsIn(part)])
    : [value]
}
