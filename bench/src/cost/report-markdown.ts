// The page of results for people, from the same data that is kept as JSON.
import { versionsInWords } from '../peers/versions.ts'
import type { Ran } from './pool.ts'

export type CostReport = {
  readonly node: string
  readonly versions: Readonly<Record<string, string>>
  /** Sessions of 300 answers: everybody on the first seed, the leaders on all of them. */
  readonly compared: readonly Ran[]
  readonly long: readonly Ran[]
  /** The nearest peers with their trigger moved. */
  readonly moved: readonly Ran[]
  readonly bound: readonly Ran[]
  readonly promise: readonly Ran[]
}

export function costMarkdown(report: CostReport): string {
  const { compared, long, moved, bound, promise } = report
  const seed = compared[0]?.setup.seed
  const first = compared.filter(({ setup }) => setup.seed === seed)
  const sections = [
    introduction(report),
    `## 300 answers\n\n${verdict(compared)}\n\n${seedTable(compared)}`,
    `## 300 answers, everybody\n\nOne seed.\n\n${priceTable(first)}\n\n${countTable(first)}`,
    ...(long.length > 0 ? [`## 1,000 answers\n\n${verdict(long)}\n\n${priceTable(long)}\n\n${countTable(long)}`] : []),
    ...(moved.length > 0
      ? [`## The nearest peers, with their trigger moved\n\n${movedWords}\n\n${movedTable(moved, first)}`]
      : []),
    ...(bound.length > 0
      ? [
          `## A model that binds its thinking to the prefix\n\nReading much, 300 answers, \`claude-opus-5-5\`.\n\n${countTable(bound)}`,
        ]
      : []),
    ...(promise.length > 0 ? [`## Weighing against fixed rules\n\n${promiseWords}\n\n${promiseTable(promise)}`] : []),
  ]
  return `${sections.join('\n\n')}\n`
}

const introduction = ({ node, versions }: CostReport) => `# Cost, with the prompt cache counted

Written by \`npm run bench -- cost\` with Node ${node}; ${versionsInWords(versions)}. The simulator's agent works through tasks in a
made-up repository with tools that truly work; people and tools take the time they take in real sessions (quantiles
measured once, \`gaps.ts\`); prices and cache rules are the documented ones (\`claude-opus-5\`, 5-minute cache, window
200,000). An answer is one request that succeeded. **Everlong** and the fixed rules are sessions of the engine as a host
opens them: its own client, ladder, cache marks, real compactions with what they restore. **Peers** run their own code; cache
marks at the system prompt and the newest two messages are put there for them. A model writes at most 4,096 tokens of
summary, for everybody. After an overflow the oldest half is cut away, after a refused signature all thinking.

*The defaults* are the specification's thresholds (compaction at 167,000, idle after an hour) and take notes for session
memory, which are requests of their own; *thrifty* is the setting \`economy: 'thrifty'\`. Rules and settings were chosen on
seeds 1 and 2; the seeds here were not looked at before. *Done* are tasks ended and bugs mended: what the agent got done in
the same number of answers. It says little about what a model would have forgotten: a compaction loses more than a
clearing, and the fidelity benchmark says how much. *Mean* is how much the model had before it, in thousands of tokens.`

const movedWords = `Their documentation names no size; those above are ours. A host that tries sizes on its own sessions
gets this, on the same seed; each keeps less than it does above. Pruning at 50,000 costs about what thrifty does where
results make up the context: it takes every call and result but those of the last two messages out of the history, and
thrifty found its size by itself.`

const promiseWords = `Sessions of 300 answers of three kinds: how often the defaults (without notes) cost no more than the cheapest of three fixed
rules (never clear, always by size, by idle time only), and how far they were from it. With a cache that stays warm a rule
can keep the promise; with pauses that nobody foresees a rule can only be right on average: the table shows both.`

const dollars = (price: number) => (Number.isNaN(price) ? '–' : `$${price.toFixed(2)}`)
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
  // Whoever was not run on every kind comes last.
  const rank = ({ sum }: { readonly sum: number }) => (Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum)
  const sorted = lines.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
  return [
    `| price | ${columns.join(' | ')} | sum |`,
    `| --- | ${columns.map(() => '---:').join(' | ')} | ---: |`,
    ...sorted.map(({ name, prices, sum }) => `| ${name} | ${prices.map(dollars).join(' | ')} | ${dollars(sum)} |`),
  ].join('\n')
}

function countTable(rows: readonly Ran[]): string {
  const thousands = (tokens: number) => Math.round(tokens / 1_000).toLocaleString('en')
  return [
    '| kind | strategy | price | requests | read k | written k | failed | compactions | clearings | peak k | mean k | done |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
    ...rows.map((row) => {
      const { outcome: o, setup } = row
      const counts = [o.requests, thousands(o.read), thousands(o.written), failuresOf(row), o.compactions, o.clearings]
      const sizes = `${thousands(o.peak)} | ${thousands(o.mean)}`
      return `| ${setup.kind} | ${keyOf(row)} | ${dollars(o.price)} | ${counts.join(' | ')} | ${sizes} | ${o.tasks} / ${o.mended} |`
    }),
  ].join('\n')
}

export type Cheapest = {
  readonly kind: string
  readonly name: string
  readonly peer: string
  /** Mean prices over the seeds that both were run on. */
  readonly price: number
  readonly peerPrice: number
  /** How much less than the best peer of each seed: on average, and where it was the least. */
  readonly less: number
  readonly least: number
}

const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length

/** One of our settings against the peer that is the cheapest on average, for each kind of session. */
export function against(rows: readonly Ran[], name: string): readonly Cheapest[] {
  return kindsIn(rows).flatMap((kind) => {
    const own = rows.filter((row) => row.who === 'Everlong' && row.name === name && row.setup.kind === kind)
    const seeds = new Set(own.map(({ setup }) => setup.seed))
    const peers = rows.filter((row) => isPeer(row) && row.setup.kind === kind && seeds.has(row.setup.seed))
    const whole = namesIn(peers)
      .map((peer) => peers.filter((row) => keyOf(row) === peer))
      .filter((group) => group.length === seeds.size)
    const pricesOf = (group: readonly Ran[]) => group.map(({ outcome }) => outcome.price)
    const best = whole.toSorted((a, b) => mean(pricesOf(a)) - mean(pricesOf(b)))[0]
    if (!best?.[0] || own.length === 0) return []
    const shares = own.map(({ outcome, setup }) => {
      const same = peers.filter((row) => row.setup.seed === setup.seed)
      return 1 - outcome.price / Math.min(...pricesOf(same))
    })
    const [price, peerPrice] = [mean(pricesOf(own)), mean(pricesOf(best))]
    return [
      { kind, name, peer: keyOf(best[0]), price, peerPrice, less: 1 - price / peerPrice, least: Math.min(...shares) },
    ]
  })
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`

function verdict(rows: readonly Ran[]): string {
  const names = [...new Set(rows.filter(({ who }) => who === 'Everlong').map(({ name }) => name))]
  const lines = names
    .flatMap((name) => against(rows, name))
    .map(
      ({ kind, name, peer, price, peerPrice, less, least }) =>
        `| ${kind} | ${name} | ${dollars(price)} | ${peer} | ${dollars(peerPrice)} | ${percent(less)} | ${percent(least)} |`,
    )
  return [
    '| kind | Everlong | price | the best peer | its price | less | on the worst seed |',
    '| --- | --- | ---: | --- | ---: | ---: | ---: |',
    ...lines,
  ].join('\n')
}

/** Those that were run on several seeds: mean and worst of each kind. */
function seedTable(rows: readonly Ran[]): string {
  const kinds = kindsIn(rows)
  const groups = namesIn(rows).map((name) => ({ name, own: rows.filter((row) => keyOf(row) === name) }))
  const most = Math.max(...groups.map(({ own }) => own.length))
  const lines = groups
    .filter(({ own }) => own.length === most)
    .map(({ name, own }) => {
      const prices = kinds.map((kind) =>
        own.filter(({ setup }) => setup.kind === kind).map(({ outcome }) => outcome.price),
      )
      const compactions = mean(own.map(({ outcome }) => outcome.compactions)).toFixed(1)
      const cells = prices.map((some) => `${dollars(mean(some))} / ${dollars(Math.max(...some))}`)
      return { sum: mean(prices.map(mean)), line: `| ${name} | ${cells.join(' | ')} | ${compactions} |` }
    })
  return [
    `| price, mean / worst of ${most / kinds.length} seeds | ${kinds.join(' | ')} | compactions, mean |`,
    `| --- | ${kinds.map(() => '---:').join(' | ')} | ---: |`,
    ...lines.toSorted((a, b) => a.sum - b.sum).map(({ line }) => line),
  ].join('\n')
}

function movedTable(moved: readonly Ran[], first: readonly Ran[]): string {
  const names = new Set(moved.map(({ who }) => who))
  const beside = first.filter(
    ({ who, name }) => (who === 'Everlong' && name === 'thrifty') || (names.has(who) && / at \d/.test(name)),
  )
  return priceTable([...beside, ...moved])
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
    const sameAs = ({ setup }: Ran) =>
      group.filter((row) => row.who !== 'Everlong' && row.setup.kind === setup.kind && row.setup.seed === setup.seed)
    // Only where every rule was run.
    const rules = namesIn(group).length - 1
    const ours = group.filter((row) => row.who === 'Everlong' && sameAs(row).length === rules)
    const excess = ours.map(
      (row) => row.outcome.price / Math.min(...sameAs(row).map(({ outcome }) => outcome.price)) - 1,
    )
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
  return [
    '| sessions | not above any fixed rule | against the cheapest: mean | worst | refused requests |',
    '| --- | ---: | ---: | ---: | ---: |',
    ...heldOf(rows).map(
      ({ label, sessions, kept, mean, worst, refused }) =>
        `| ${label} | ${kept} of ${sessions} | ${percent(mean)} | ${percent(worst)} | ${refused} |`,
    ),
  ].join('\n')
}
