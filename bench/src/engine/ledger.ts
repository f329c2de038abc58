// How long the ledger of a conversation of 200,000 tokens takes: reading it off, and putting it on a page.
import { createLedger, estimateTokens, type Ledger, renderLedger } from 'everlong'
import { messagesOf } from 'everlong/transcript'
import { median } from '../results.ts'
import { timed, upTo } from './sessions.ts'

const tokens = 200_000
const rounds = 15

/** Milliseconds: of the first time in this process, and the median of those after it. */
type Times = { readonly first: number; readonly later: number }
export type LedgerTimes = {
  readonly tokens: number
  readonly messages: number
  readonly read: Times
  readonly page4000: Times
  readonly page16000: Times
}

export function measureLedger(): LedgerTimes {
  const entries = upTo(tokens)
  const messages = entries.flatMap((entry) => {
    const [message] = messagesOf([entry])
    return message ? [{ message, record: entry.record }] : []
  })
  let ledger: Ledger = createLedger().ledger()
  const read = () => {
    const book = createLedger()
    for (const { message, record } of messages) book.add(message, record)
    ledger = book.ledger()
  }
  const page = (budget: number) => () => renderLedger(ledger, { budget, countTokens: estimateTokens })
  const found = { read: [] as number[], page4000: [] as number[], page16000: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    found.read.push(timed(read))
    found.page4000.push(timed(page(4_000)))
    found.page16000.push(timed(page(16_000)))
  }
  const times = ([first = Number.NaN, ...later]: readonly number[]): Times => ({ first, later: median(later) })
  return {
    tokens,
    messages: messages.length,
    read: times(found.read),
    page4000: times(found.page4000),
    page16000: times(found.page16000),
  }
}
