// The ledger of what the model had seen before a compaction.
import { createLedger, type Ledger } from 'everlong/mechanisms'
import { messagesOf } from 'everlong/transcript'
import type { Case } from './cases.ts'

export function ledgerOf(found: Case): Ledger {
  const book = createLedger()
  for (const entry of found.before) {
    const [message] = messagesOf([entry])
    if (message) book.add(message, entry.record)
  }
  return book.ledger()
}
