// What a summary lacks, for hosts that compact by themselves: the user's words, rules, current state and doubts that Everlong
// would have added. Does not repeat the summary. Also counts the items that such a text restores.
import type { Ledger } from '../ledger/facts.ts'
import { defined } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { cautionLine, doubtLeads, pageTitles, standingRulesLead } from '../prompts/page.ts'
import { type Counting, createTextCounter } from '../tokens/estimate/counting.ts'
import { checkSummary, sourceText } from './check.ts'
import { composePage } from './compose.ts'
import { historyOf, ledgerWith } from './history.ts'
import type { CompactionJob } from './job.ts'
import { piecesOf } from './plan.ts'

export type MissingOptions = {
  readonly summary: string
  /** Tokens for the answer. Default: 2,000. */
  readonly maxTokens?: number
}

/** The facts to compare a summary with, as plain JSON, so that they can be read long before the summary exists. */
export type SummarySource = {
  /** Only their text. */
  readonly messages: readonly ViewMessage[]
  readonly ledger: Ledger
  /** Time before which earlier compactions covered the messages. */
  readonly since: number
  readonly earlierSummary?: string
  readonly counting?: Counting
  readonly recall: boolean
}

/** `job` is the compaction as it would run before the summary replaced anything. */
export function summarySource(job: CompactionJob): SummarySource {
  const history = historyOf(job)
  const messages = piecesOf(job.view)
  return {
    messages: messages.map((message) => ({
      role: message.role,
      origin: message.origin,
      content: sourceText(message),
    })),
    ledger: ledgerWith(history, job, messages),
    since: history.carried.messages,
    ...defined({ earlierSummary: history.summary, counting: job.counting }),
    recall: job.recall === true,
  }
}

/** Empty if the summary lacks nothing. */
export function missingFromSummary(
  source: CompactionJob | SummarySource,
  { summary, maxTokens = 2_000 }: MissingOptions,
): string {
  const read = 'view' in source ? summarySource(source) : source
  const { messages, ledger, since, earlierSummary, recall } = read
  const countTokens = createTextCounter(read.counting)
  const page = composePage(
    {
      checked: checkSummary(summary, { messages, ledger }),
      ledger,
      since,
      earlierSummary,
      instructions: '',
      workspace: undefined,
      variant: 'full',
      recall,
      handoverTokens: countTokens(summary) + maxTokens,
      userTokens: maxTokens / 2,
      // The host decides how many of them it keeps, and this text has little room.
      neverShortened: 0,
      countTokens,
    },
    countTokens(summary) + maxTokens,
  )
  return page?.beside ?? ''
}

/** Numbers of items that a text restores after a compaction: list items under the headings and lines that code writes. */
export type GivenBack = {
  /** Rules of the user, verbatim. */
  readonly rules: number
  /** The user's words, state and records. */
  readonly facts: number
  /** Claims in the summary that the conversation does not support. */
  readonly doubts: number
}

const { rules: rulesTitle, doubts: _names, ...factTitles } = pageTitles

const kinds: ReadonlyMap<string, keyof GivenBack> = new Map([
  [standingRulesLead, 'rules'],
  [`## ${rulesTitle}`, 'rules'],
  ...[cautionLine, ...Object.values(doubtLeads)].map((lead) => [lead, 'doubts'] as const),
  ...Object.values(factTitles).map((title) => [`## ${title}`, 'facts'] as const),
])

/** Foreign text cannot imitate the headings (text/neutralize.ts). */
export function countGivenBack(text: string): GivenBack {
  const counts = { rules: 0, facts: 0, doubts: 0 }
  let kind: keyof GivenBack | undefined
  let isQuoted = false
  for (const line of text.split('\n')) {
    if (line === '<user-message>' || line === '</user-message>') isQuoted = line === '<user-message>'
    if (isQuoted) continue
    if (line === '' && kind !== 'facts') kind = undefined
    else if (line.startsWith('## ') || kinds.has(line)) kind = kinds.get(line)
    else if (line.startsWith('- ') && kind !== undefined) counts[kind]++
  }
  return counts
}
