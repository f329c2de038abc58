// The figures of the recall benchmark, as a page.

export type QueryFigures = {
  readonly name: string
  /** Milliseconds. */
  readonly p50: number
  readonly p95: number
  /** The mean, in time that the processor really gave. */
  readonly cpuMs: number
  readonly scanMs: number
  readonly timesFaster: number
}

export type Figures = {
  readonly node: string
  readonly messages: number
  readonly transcriptMB: number
  readonly databaseMB: number
  readonly buildSeconds: number
  readonly buildCpuSeconds: number
  readonly messagesPerSecond: number
  readonly reopenMs: number
  readonly queries: readonly QueryFigures[]
  readonly readById: { readonly p50: number; readonly p95: number }
}

export function report(figures: Figures): string {
  const { messages, transcriptMB, databaseMB, buildSeconds, buildCpuSeconds, messagesPerSecond, reopenMs, readById } =
    figures
  const rows = figures.queries.map(
    ({ name, p50, p95, cpuMs, scanMs, timesFaster }) =>
      `| ${name} | ${p50} | ${p95} | ${cpuMs} | ${scanMs} | ${timesFaster} |`,
  )
  return [
    '# Recall in a long session',
    '',
    `A made-up session of ${messages.toLocaleString('en')} messages (${transcriptMB} MB), Node ${figures.node}. Ten queries of each kind, three times, warm; ten cards with snippets for each. The scan is \`Buffer.indexOf\` over the whole file in memory, in the same run: it ranks nothing and knows neither case nor words. CPU is the time the processor really gave: others may have been at work on the machine. \`npm run bench -- recall\` makes this page.`,
    '',
    `Building the index took ${buildSeconds} s, of which the processor gave ${buildCpuSeconds} s (${messagesPerSecond.toLocaleString('en')} messages/s). The database has ${databaseMB} MB; opening it again takes ${reopenMs} ms. Reading a tool result by its id: ${readById.p50} ms (p95 ${readById.p95}).`,
    '',
    '| query | p50 ms | p95 ms | CPU mean ms | scan ms | times faster |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
