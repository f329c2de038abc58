// The user's messages in the context that a compaction replaced, and whether the context after it still contains them.
import type { Entry } from 'everlong'
import { messageOf } from 'everlong/internal'
import { contextsOf, createLedger, topicOf } from 'everlong/internal/compaction'
import type { UserWords } from './api.ts'
import { momentOf } from './moment.ts'

type Place = { readonly uuid: string; readonly line: number }
type Context = ReturnType<typeof contextsOf>[number]

/** The contexts before and right after a compaction. */
export function contextsAround(entries: readonly Entry[], place: Place) {
  const { end } = momentOf(entries, place)
  const contexts = contextsOf(entries.slice(0, end))
  return { before: contexts.at(-2), after: contexts.at(-1) }
}

/** Oldest first, without text that is not the user's own: commands of the client, pasted blocks. */
export function wordsBefore(entries: readonly Entry[], before: Context | undefined) {
  const book = createLedger()
  const seen = new Set<unknown>()
  for (const { record } of entries) {
    const { uuid } = record
    const message =
      typeof uuid === 'string' && before?.uuids.has(uuid) && !seen.has(uuid) ? messageOf(record) : undefined
    if (message === undefined) continue
    seen.add(uuid)
    if (message.origin !== 'summary') book.add(message, record)
  }
  return book.ledger().exchanges.filter(({ kind, text }) => kind === 'message' && text.trim() !== '')
}

export function howFound(text: string, context: Context | undefined): UserWords['found'] {
  if (context === undefined) return 'missing'
  if (context.holds(text)) return 'verbatim'
  return context.says(topicOf(text)) ? 'similar' : 'missing'
}
