// The page of results for people, from the same data that is kept as JSON.
import type { Ran } from './pool.ts'

export type CostReport = {
  readonly node: string
  readonly compared: readonly Ran[]
  readonly bound: readonly Ran[]
  readonly promise: readonly Ran[]
}

export function costMarkdown(report: CostReport): string {
  const lengths = [...new Set(report.compared.map(({ setup }) => setup.answers))]
  return [
    introduction(report.node),
    ...lengths.map((answers) => {
      const rows = report.compared.filter(({ setup }) => setup.answers === answers)
      return `## ${answers.toLocaleString('en')} answers\n\n${verdict(rows)}\n\n${priceTable(rows)}\n\n${countTable(rows)}`
    }),
    `## A model that binds its thinking to the prefix\n\nReading much, 300 answers, \`claude-opus-5-5\`.\n\n${countTable(report.bound)}`,
    `## Weighing against fixed rules\n\n${promiseWords}\n\n${promiseTable(report.promise)}`,
  ]
    .join('\n\n')
    .concat('\n')
}

const introduction = (node: string) => `# Cost, with the prompt cache counted

Written by \`npm run bench -- cost\` with Node ${node}. The simulator's agent works through tasks in a made-up repository with
tools that truly work; people and tools take the time they take in real sessions (quantiles measured once, \`gaps.ts\`);
prices and cache rules are the documented ones (\`claude-opus-5\`, 5-minute cache, window 200,000). An answer is one
request that succeeded. Everybody has the same system prompt, tools and cache marks. Where a strategy has no compaction
of its own, the model is asked for a summary at the threshold (167,000 tokens) on the same cached prefix. LangChain's
and the AI SDK's own code is run; pi's and Mastra's rules are retold. After an overflow the oldest half is cut away, after a
refused signature all thinking. *Done* are tasks ended and bugs mended: what the agent got done in the same number of
answers. It says little about what a model would have forgotten: see the fidelity benchmark for that.`

const promiseWords = `Sessions of 300 answers of three kinds: how often weighing cost no more than the cheapest of three fixed rules (never clear,
always by size, by idle time only), and how far it was from it. With a cache that stays warm a rule can keep the promise; with pauses that
nobody foresees a rule can only be right on average: the table shows both.`

const dollars = (price: number) => `$${price.toFixed(2)}`
const keyOf = ({ who, name }: Ran) => `${who}: ${name}`
const kindsIn = (rows: readonly Ran[]) => [...new Set(rows.map(({ setup }) => setup.kind))]
const namesIn = (rows: readonly Ran[]) => [...new Set(rows.map(keyOf))]
const failuresOf = ({ outcome: { failed } }: Ran) => failed.overflow + failed.signature + failed.invalid
const isPeer = ({ who }: Ran) => who !== 'Everlong' && who !== 'fixed rule'

function priceTable(rows: readonly Ran[]): string {
  const columns = kindsIn(rows)
  const lines = namesIn(rows).map((name) => {
    const own = rows.filter((row) => keyOf(row) === name)
    const prices = columns.map((kind) => own.find(({ setup }) => setup.kind === kind)?.outcome.price ?? Number.NaN)
    return { name, prices, sum: prices.reduce((sum, price) => sum + price, 0) }
  })
  const sorted = lines.toSorted((a, b) => a.sum - b.sum)
  return [
    `| price | ${columns.join(' | ')} | sum |`,
    `| --- | ${columns.map(() => '---:').join(' | ')} | ---: |`,
    ...sorted.map(({ name, prices, sum }) => `| ${name} | ${prices.map(dollars).join(' | ')} | ${dollars(sum)} |`),
  ].join('\n')
}

function countTable(rows: readonly Ran[]): string {
  const thousands = (tokens: number) => Math.round(tokens / 1_000).toLocaleString('en')
  return [
    '| kind | strategy | price | requests | read k | written k | failed | compactions | clearings | peak k | done |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map((row) => {
      const { outcome: o, setup } = row
      const counts = [o.requests, thousands(o.read), thousands(o.written), failuresOf(row), o.compactions, o.clearings]
      return `| ${setup.kind} | ${keyOf(row)} | ${dollars(o.price)} | ${counts.join(' | ')} | ${thousands(o.peak)} | ${o.tasks} / ${o.mended} |`
    }),
  ].join('\n')
}

export type Cheapest = { readonly ours: Ran; readonly peer: Ran }

/** Our cheapest setting and the cheapest peer, for each length and kind of session. */
export function cheapestOf(rows: readonly Ran[]): readonly Cheapest[] {
  const groups = Map.groupBy(rows, ({ setup }) => `${setup.answers} ${setup.kind}`)
  const cheapest = (some: readonly Ran[]) => some.toSorted((a, b) => a.outcome.price - b.outcome.price)[0]
  return [...groups.values()].flatMap((group) => {
    const ours = cheapest(group.filter(({ who }) => who === 'Everlong'))
    const peer = cheapest(group.filter(isPeer))
    return ours && peer ? [{ ours, peer }] : []
  })
}

function verdict(rows: readonly Ran[]): string {
  const lines = cheapestOf(rows).map(({ ours, peer }) => {
    const less = 100 * (1 - ours.outcome.price / peer.outcome.price)
    const theirs = `the best peer (${keyOf(peer)}) ${dollars(peer.outcome.price)}`
    return `- **${ours.setup.kind}**: ${ours.name} ${dollars(ours.outcome.price)}, ${theirs}: ${less.toFixed(0)} % less.`
  })
  return lines.join('\n')
}

export type Held = {
  readonly label: string
  readonly sessions: number
  readonly kept: number
  readonly worst: number
  readonly mean: number
  readonly refused: number
}

/** For each group of sessions: in how many weighing was not above the cheapest fixed rule, and the worst and mean excess. */
export function heldOf(rows: readonly Ran[]): readonly Held[] {
  const label = ({ setup }: Ran) =>
    `${setup.pauses === 'none' ? 'warm all the time' : 'pauses as in real sessions'}, ${setup.lifetime}, ${setup.model}`
  return [...new Set(rows.map(label))].map((name) => {
    const group = rows.filter((row) => label(row) === name)
    const ours = group.filter(({ who }) => who === 'Everlong')
    const excess = ours.map((row) => {
      const same = group.filter(
        ({ who, setup }) => who !== 'Everlong' && setup.kind === row.setup.kind && setup.seed === row.setup.seed,
      )
      return row.outcome.price / Math.min(...same.map(({ outcome }) => outcome.price)) - 1
    })
    return {
      label: name,
      sessions: ours.length,
      kept: excess.filter((share) => share <= 0).length,
      worst: Math.max(...excess),
      mean: excess.reduce((sum, share) => sum + share, 0) / excess.length,
      refused: ours.reduce((sum, row) => sum + failuresOf(row), 0),
    }
  })
}

function promiseTable(rows: readonly Ran[]): string {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`
  return [
    '| sessions | not above any fixed rule | against the cheapest: mean | worst | refused requests |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...heldOf(rows).map(
      ({ label, sessions, kept, mean, worst, refused }) =>
        `| ${label} | ${kept} of ${sessions} | ${percent(mean)} | ${percent(worst)} | ${refused} |`,
    ),
  ].join('\n')
}
