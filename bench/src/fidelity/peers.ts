// What peers leave after a compaction, by the rules they document, each with the recorded summary as its model's answer.
// Their rules know no budget for the whole: what would not fit is left out from the oldest end.
import { messagesOf } from 'everlong/transcript'
import { shownIn } from './cases.ts'
import { ledgerOf } from './ledger-of.ts'
import { countTokens } from './measure.ts'
import { type Contender, endOf, recordedSummary, startOf, truncated } from './parts.ts'

/** The summary, cut at its end where it is too long alone, and something newer in the rest. */
function summaryAnd(newer: Contender): Contender {
  return async (found, budget) => {
    const summary = startOf(recordedSummary(found), budget)
    const left = budget - countTokens(summary) - 4
    const rest = left > 0 ? await newer(found, left) : ''
    return rest === '' ? summary : `${summary}\n\n${rest}`
  }
}

export const peers: Readonly<Record<string, Contender>> = {
  // The history is replaced by the summary.
  'rule of the Anthropic SDK’s runner': summaryAnd(async () => ''),
  // Summary, then the last 20 messages.
  'rule of LangChain’s middleware': summaryAnd(async (found, budget) => truncated(found, { budget, most: 20 })),
  // Summary, lists of files read and changed, then the newest messages up to 20,000 tokens.
  'rule of pi': summaryAnd(async (found, budget) => {
    const { files } = ledgerOf(found)
    const changed = files.filter(({ changes }) => changes > 0).map(({ path }) => path)
    const read = files.filter(({ changes, reads }) => changes === 0 && reads > 0).map(({ path }) => path)
    const lists = startOf(`Read:\n${read.join('\n')}\n\nModified:\n${changed.join('\n')}`, budget)
    const left = Math.min(20_000, budget - countTokens(lists) - 4)
    return left > 0 ? `${lists}\n\n${truncated(found, { budget: left, most: Number.POSITIVE_INFINITY })}` : lists
  }),
  // What people typed, the newest up to 20,000 tokens, then the summary.
  'rule of Codex': (found, budget) =>
    summaryAnd(async (_, left) => {
      const typed = messagesOf(found.before)
        .filter(({ origin }) => origin === 'human')
        .map(shownIn)
      return endOf(typed.join('\n\n'), Math.min(left, 20_000))
    })(found, budget),
}
