// The ledger of what the model had seen before a compaction.

import { messagesOf } from 'everlong/internal'
import { createLedger, type Ledger } from 'everlong/internal/compaction'
import type { Case } from './cases.ts'

export function ledgerOf(found: Case): Ledger {
  const book = createLedger()
  for (const entry of found.before) {
    const [message] = messagesOf([entry])
    if (message) book.add(message, entry.record)
  }
  return book.ledger()
}
