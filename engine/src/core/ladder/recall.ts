// Search over a conversation that is only in memory: words, newest first. Sessions on disk have an archive for it.
import { textOf } from '../message/block.ts'
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

export function recallFrom(entries: Iterable<Entry>, words: string, limit = 10): Recalled {
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const found: RecallMatch[] = []
  for (const { record } of entries) {
    const message = messageOf(record)
    const text = message ? textOf(message.content) : ''
    const low = text.toLowerCase()
    if (!message?.uuid || wanted.length === 0 || !wanted.every((word) => low.includes(word))) continue
    const at = Math.max(0, low.indexOf(wanted[0] ?? '') - snippetLength / 3)
    const time = message.time === undefined ? undefined : new Date(message.time).toISOString()
    found.push({ id: message.uuid, kind: message.origin, time, snippet: text.slice(at, at + snippetLength) })
  }
  return { matches: found.toReversed().slice(0, limit), more: found.length > limit }
}
