// The page that compares `economy: 'thrifty'` with the default, from the same data that is kept as JSON.
import type { Ran } from '../cost/pool.ts'
import type { Kept } from './play.ts'
import type { Answered } from './probes.ts'

export type EconomyReport = {
  /** Sessions of the cost benchmark. */
  readonly ran: readonly Ran[]
  readonly turns: number
  readonly kept: readonly Kept[]
  readonly probes: readonly Answered[]
}

export function economyMarkdown({ ran, turns, kept, probes }: EconomyReport): string {
  return `# Economy: \`'thrifty'\` beside the default

Written by \`npm run bench -- economy\`. A thrifty session clears and compacts as soon as that pays; the default lets the context
fill up to the threshold ([cost.md](../../docs/cost.md#the-setting-economy)). Both without notes.

## What it costs, and what gets done

Sessions of 33 tasks as in [cost.md](cost.md), one seed. A task counts as done when the rule that was told once and the
reason for its file were kept. For \`pruneMessages\` of the AI SDK the triggers are lower than in cost.md. It then drops every
call with its result, in the middle of a turn too, and keeps no record of what was done. The agent of this benchmark works on
one file at a time and is never asked what it did, so only re-reads count against that.

| kind | strategy | price | tasks done | compactions | re-reads | mean k |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
${ran.map(priceLine).join('\n')}

## What it forgets

${turns} turns with ${kept[0]?.planted ?? 0} facts of ten kinds, each told once ([rounds.md](rounds.md)), through a session of the engine in a window of
200,000 tokens; summaries by the simulator's summarizer, in at most 4,096 tokens. A fact is kept when its words are in the
request at the end. Originals are in the transcript either way, where recall finds them.

| economy | compactions | rules kept | facts in the context | tokens of a request, mean |
| --- | ---: | ---: | ---: | ---: |
${kept.map(keptLine).join('\n')}

## What one compaction hands over

${probeTable(probes)}
`
}

function priceLine({ setup, who, name, outcome }: Ran): string {
  const { price, done, compactions, rereads, mean } = outcome
  const cells = [`$${price.toFixed(2)}`, `${done} of ${setup.tasks}`, compactions, rereads, Math.round(mean / 1_000)]
  return `| ${[setup.kind, `${who}: ${name}`, ...cells].join(' | ')} |`
}

function keptLine({ economy, compactions, constraints, inContext, planted, mean }: Kept): string {
  const cells = [compactions, constraints.join(' of '), `${inContext} of ${planted}`, mean.toLocaleString('en')]
  return `| \`'${economy}'\` | ${cells.join(' | ')} |`
}

function probeTable(probes: readonly Answered[]): string {
  const [all] = probes
  if (!all) return 'Not measured: the recorded sessions were not at hand.'
  const room = (limit: number | undefined) =>
    limit === undefined
      ? 'no limit'
      : `${limit.toLocaleString('en')} tokens, the least that a thrifty session leaves it`
  return [
    `The questions of [handover.md](handover.md) about ${all.cases} recorded compactions, with a strong model's summary.`,
    '',
    '| room for the new context | questions answered |',
    '| --- | ---: |',
    ...probes.map(({ limit, score }) => `| ${room(limit)} | ${(100 * score).toFixed(1)} % |`),
  ].join('\n')
}
