// Names in a summary that occur nowhere in what it was made from: paths, identifiers, hashes, addresses, numbers. They
// may be wrong, and the reader is told once which they are.
import type { ViewMessage } from '../../message/message.ts'
import { createSearch } from './search.ts'
import { eachText } from './source-text.ts'

/** An address; a path with a folder and an ending, or with two folders; a hash; an identifier; a number of four digits. */
const names =
  /https?:\/\/[^\s<>"'`)\]]{4,300}|(?<![\w./-])(?:[\w@.~-]{1,80}\/){1,20}[\w@-]{1,80}\.[A-Za-z]\w{0,9}\b|(?<![\w./-])(?:[\w@.~-]{1,80}\/){2,20}[\w@.-]{2,80}|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b|\b[a-z][a-z0-9]{0,60}(?:[A-Z][a-z0-9]{1,60}){1,20}\b|\b[A-Za-z][a-z0-9]{0,60}(?:_[a-z0-9]{1,60}){1,20}\b|(?<![\w.,-])\d{4,20}(?![\w.,-]*\w)/g

const longestSummary = 200_000
const mostReported = 16

export function unknownNames(
  summary: string,
  { messages, known }: { readonly messages: readonly ViewMessage[]; readonly known: readonly string[] },
): readonly string[] {
  const found = [...new Set(summary.slice(0, longestSummary).match(names) ?? [])].map((name) => ({
    name,
    grounds: groundsOf(name.toLowerCase()),
  }))
  const search = createSearch(found.flatMap(({ grounds }) => grounds.flat()))
  for (const text of known) search.look(text)
  // The newest first: that is what summaries mostly speak of.
  for (let at = messages.length - 1; at >= 0 && !search.isOver(); at--) {
    const message = messages[at]
    if (message) eachText(message, search.look)
  }
  const isKnown = (grounds: Grounds) => grounds.some((words) => words.every((word) => search.found.has(word)))
  return found
    .filter(({ grounds }) => !isKnown(grounds))
    .map(({ name }) => name)
    .slice(0, mostReported)
}

/** Sets of words, each of which bears a name out when all of it is known. */
type Grounds = readonly (readonly string[])[]

/** A path may be given with another beginning, a name with its member or in the plural: every part must be known. */
function groundsOf(name: string): Grounds {
  const whole = name.replace(/^#|s$/g, '').replace(/[.,;:]+$/, '')
  if (name.includes('://')) return [[whole]]
  const parts = name.split(/[/.:#@~]+/).filter((part) => part.length >= 2)
  return parts.length < 2 ? [[whole]] : [[whole], parts]
}
