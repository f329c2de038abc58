// How long it takes to read the ledger off a conversation of 200,000 tokens.
import { messagesOf } from 'everlong/internal'
import { createLedger } from 'everlong/internal/compaction'
import { median } from '../median.ts'
import { timed, upTo } from './sessions.ts'

const tokens = 200_000
const rounds = 15

/** Milliseconds: of the first time in this process, and the median of those after it. */
type Times = { readonly first: number; readonly later: number }
export type LedgerTimes = {
  readonly tokens: number
  readonly messages: number
  readonly read: Times
}

export function measureLedger(): LedgerTimes {
  const entries = upTo(tokens)
  const messages = entries.flatMap((entry) => {
    const [message] = messagesOf([entry])
    return message ? [{ message, record: entry.record }] : []
  })
  const read = () => {
    const book = createLedger()
    for (const { message, record } of messages) book.add(message, record)
    book.ledger()
  }
  const found = Array.from({ length: rounds + 1 }, () => timed(read))
  const times = ([first = Number.NaN, ...later]: readonly number[]): Times => ({ first, later: median(later) })
  return {
    tokens,
    messages: messages.length,
    read: times(found),
  }
}
