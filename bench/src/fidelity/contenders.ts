// Those that are measured: each makes, from what came before a compaction, the text that it would leave for the model
// within a number of tokens. A peer is one more line here.
import { composeSummary } from 'everlong'
import { messagesOf } from 'everlong/transcript'
import type { Case } from './cases.ts'
import { ledgerOf } from './ledger-of.ts'
import { countTokens } from './measure.ts'
import { type Contender, recordedSummary, truncated } from './parts.ts'
import { peers } from './peers.ts'

export const contenders: Readonly<Record<string, Contender>> = {
  'ours, offline': (found, budget) => ours(found, { budget }),
  'ours, recorded summary': (found, budget) => ours(found, { budget, prose: recordedSummary(found) }),
  ...peers,
  'newest that fit': (found, budget) => truncated(found, { budget, most: Number.POSITIVE_INFINITY }),
  'last 10 messages': (found, budget) => truncated(found, { budget, most: 10 }),
}

function ours(
  found: Case,
  { budget, prose }: { readonly budget: number; readonly prose?: string | undefined },
): string {
  const { text } = composeSummary({
    source: { messages: messagesOf(found.before), ledger: ledgerOf(found), kept: [] },
    ...(prose === undefined ? {} : { prose }),
    budget,
    ledgerBudget: budget,
    countTokens,
  })
  return text
}
