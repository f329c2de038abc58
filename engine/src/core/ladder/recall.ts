// Search over a conversation that is only in memory: words, newest first. Sessions on disk have an archive for it.
import { textOf } from '../message/block.ts'
import { headOf, tailOf } from '../text/cut.ts'
import { wellFormed } from '../text/well-formed.ts'
import type { Entry } from '../transcript/entry.ts'
import { messageOf } from '../transcript/messages.ts'

export type RecallMatch = {
  readonly id: string
  readonly kind: string
  readonly time: string | undefined
  readonly snippet: string
}

export type Recalled = { readonly matches: readonly RecallMatch[]; readonly more: boolean }

const snippetLength = 300
/** A question has no more words than this; a pasted book would be looked for word by word. */
const mostWords = 32
const longestQuestion = 4_000

export function recallFrom(entries: Iterable<Entry>, words: string, limit = 10): Recalled {
  const wanted = headOf(words, longestQuestion)
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, mostWords)
  const found: RecallMatch[] = []
  for (const { record } of entries) {
    const message = messageOf(record)
    const text = message ? textOf(message.content) : ''
    const low = text.toLowerCase()
    if (!message?.uuid || wanted.length === 0 || !wanted.every((word) => low.includes(word))) continue
    const at = Math.max(0, low.indexOf(wanted[0] ?? '') - snippetLength / 3)
    const time = message.time === undefined ? undefined : new Date(message.time).toISOString()
    found.push({
      id: message.uuid,
      kind: message.origin,
      time,
      snippet: wellFormed(headOf(tailOf(text, text.length - at), snippetLength)),
    })
  }
  return { matches: found.toReversed().slice(0, limit), more: found.length > limit }
}
