// The page of the built-ins benchmark, and the tables that the documentation shows. Figures, no text of the transcripts.
import { markdownTable, type Page, type Table, table } from '../benchmark.ts'
import { versionsInWords } from '../peers/versions.ts'

export type Row = {
  readonly case: string
  readonly sdk: string
  readonly contender: string
  readonly limit: number
  /** Tokens of the conversation before, and of what was sent instead. */
  readonly before: number
  readonly tokens: number
  /** Share of the questions that the context answers, between 0 and 1. */
  readonly score: number
  readonly weighted: number
  /** US dollars: the reduction with the request that follows it, and these with all later requests. */
  readonly reduction: number
  readonly price: number
  readonly requests: number
  readonly summaries: number
  readonly refused: number
}

export type BuiltInsReport = {
  readonly cases: number
  readonly probes: number
  readonly limits: readonly number[]
  readonly versions: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
}

export function builtInsPage(report: BuiltInsReport): Page {
  const { cases, probes, versions } = report
  return {
    title: "What each SDK's built-in leaves, and what it costs",
    parts: [
      `Written by \`npm run bench -- built-ins\` with ${versionsInWords(versions)}.`,
      `${cases} recorded sessions at the moment of a compaction, with the ${probes} questions of [handover.md](handover.md). Each is held through
the real SDK, which has to get the conversation down to a number of tokens before the next request, with its own means or
with Everlong's adapter. The questions are asked of what the model then gets. After that the recorded work continues for up to
20 requests.

- **Answered** is the share of the questions that the context answers, as in handover.md. What is over the limit is graded
  as if it were cut there: the summary stays, and the newest part of the rest.
- **Tokens** is the mean size of what was really sent. A built-in without a limit of its own gets the setting that keeps
  the most within the limit: tokens for \`summarizationMiddleware\`, the newest results for \`contextEditingMiddleware\`, the
  newest messages for \`pruneMessages\`. Where no setting is small enough, it gets the smallest one. The rule of
  \`OpenAIResponsesCompactionSession\` has no setting for size.
- **Price** is the mean for one session: the summary, the request after it and those that follow, with the prompt cache, at
  the prices of claude-sonnet-4-5. The conversation before is in the cache and costs nothing here, nor do answers. Everybody's
  requests carry the same cache marks. On chat completions (OpenAI Agents) the cache needs none, and writing to it is free.
- **Refused** counts requests that the API would not take, for all sessions together. They are repaired and sent again.
- All summaries are the same: a strong model's answer to our own request for one. \`summarizationMiddleware\` may read the whole
  conversation for it; by default it reads 4,000 tokens. The compaction session's server is replaced by the same summary after
  all messages of the user, and compacts once.
- Everlong runs with \`autoCompactAt\` and \`target\` at these sizes, keeps no messages (\`keep: 0\`) and clears nothing before
  (\`reductions.microCompact: false\`). *No model* writes its summary without one. Nothing was tuned for this benchmark, but the
  questions and summaries are those that Everlong's compaction was developed with.

`,
      limitTables(report),
      '## By session',
      caseTable(report),
      'In brackets: tokens and price.',
    ],
  }
}

/** One table for each limit, as the documentation has them. */
export function limitTables({ limits, rows }: BuiltInsReport): string {
  const parts = limits.flatMap((limit) => {
    const own = rows.filter((row) => row.limit === limit)
    const cells = contendersOf(own).map(([sdk, contender]) =>
      cellsOf(own.filter((row) => row.sdk === sdk && row.contender === contender)),
    )
    const columns = ['SDK', 'by', 'answered', 'tokens', 'summaries', 'refused', 'price']
    return [`At most ${limit.toLocaleString('en')} tokens:`, markdownTable(table(columns, cells))]
  })
  return parts.join('\n\n')
}

function contendersOf(rows: readonly Row[]): readonly (readonly [sdk: string, contender: string])[] {
  const names = rows.map(({ sdk, contender }) => JSON.stringify([sdk, contender]))
  return [...new Set(names)].map((name) => JSON.parse(name) as [string, string])
}

function cellsOf(rows: readonly Row[]) {
  const total = (of: (row: Row) => number) => rows.reduce((sum, row) => sum + of(row), 0)
  const mean = (of: (row: Row) => number) => total(of) / Math.max(1, rows.length)
  return [
    rows[0]?.sdk,
    nameOf(rows[0]?.contender ?? ''),
    `${(100 * mean(({ score }) => score)).toFixed(1)} %`,
    Math.round(mean(({ tokens }) => tokens)).toLocaleString('en'),
    total(({ summaries }) => summaries),
    total(({ refused }) => refused),
    `$${mean(({ price }) => price).toFixed(2)}`,
  ]
}

function nameOf(contender: string): string {
  return contender.startsWith('Everlong') ? `**${contender}**` : `\`${contender}\``
}

function caseTable({ rows }: BuiltInsReport): Table {
  const names = [...new Set(rows.map((row) => row.case))]
  const limits = [...new Set(rows.map(({ limit }) => limit))]
  const line = ([sdk, contender]: readonly [string, string], limit: number) => {
    const own = rows.filter((row) => row.sdk === sdk && row.contender === contender && row.limit === limit)
    const cells = names.map((name) => {
      const row = own.find((candidate) => candidate.case === name)
      return row && `${row.score.toFixed(2)} (${row.tokens.toLocaleString('en')}, $${row.price.toFixed(2)})`
    })
    return [`${sdk}: ${contender}`, limit.toLocaleString('en'), ...cells]
  }
  return table(
    ['', 'limit', ...names],
    contendersOf(rows).flatMap((name) => limits.map((limit) => line(name, limit))),
  )
}
