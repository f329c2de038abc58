// What a summary lacks, for hosts that compact by themselves: the user's words, rules, current state and doubts that
// Everlong would have put next to it. The summary itself is not repeated.
import { createTextCounter } from '../tokens/estimate/counting.ts'
import { checkSummary } from './check.ts'
import { composePage } from './compose.ts'
import { historyOf, ledgerWith } from './history.ts'
import { type CompactionJob, defaultCompaction } from './job.ts'
import { piecesOf } from './plan.ts'

export type MissingOptions = {
  readonly summary: string
  /** What the answer may use. Default 2,000. */
  readonly maxTokens?: number
}

/** Empty if the summary lacks nothing. `job` is the compaction as it would be run before the summary replaced anything. */
export function missingFromSummary(job: CompactionJob, { summary, maxTokens = 2_000 }: MissingOptions): string {
  const history = historyOf(job)
  const messages = piecesOf(job.view)
  const ledger = ledgerWith(history, job, messages)
  const countTokens = createTextCounter(job.counting)
  const { summaryTokens, userTokens } = { ...defaultCompaction, ...job.settings }
  const page = composePage(
    {
      checked: checkSummary(summary, { messages, ledger }),
      ledger,
      since: history.carried.messages,
      earlierSummary: history.summary,
      instructions: '',
      workspace: undefined,
      variant: 'full',
      recall: job.recall === true,
      summaryTokens,
      userTokens: Math.min(userTokens, maxTokens / 2),
      // The host has its own idea of what to keep of them, and little room for this.
      neverShortened: 0,
      offlineTokens: 0,
      countTokens,
    },
    countTokens(summary) + maxTokens,
  )
  return page?.beside ?? ''
}
