// The page of the cost benchmark, and the comparisons on it.
import { type Page, type Table, table } from '../benchmark.ts'
import { versionsInWords } from '../peers/versions.ts'
import type { Ran } from './pool.ts'

export type CostReport = {
  readonly node: string
  readonly versions: Readonly<Record<string, string>>
  /** Sessions of 33 tasks, of everybody. */
  readonly compared: readonly Ran[]
  readonly bound: readonly Ran[]
  readonly promise: readonly Ran[]
}

export function costPage(report: CostReport): Page {
  const { compared, bound, promise } = report
  return {
    title: 'Cost, with the prompt cache counted',
    parts: [
      introduction(report),
      '## 33 tasks',
      verdict(compared),
      whyNoMore,
      priceTable(compared),
      countTable(compared),
      '## A model that binds its thinking to the prefix',
      'Reading much, 33 tasks, `claude-opus-5-5`.',
      countTable(bound),
      '## Weighing against fixed rules',
      promiseWords,
      promiseTable(promise),
    ],
  }
}

const introduction = ({
  node,
  versions,
}: CostReport) => `Written by \`npm run bench -- cost\` with Node ${node}; ${versionsInWords(versions)}. A person asks for 33 changes in a made-up
repository, one after the other (about 300 answers), and the simulator's agent makes them with tools that truly work. It works by
sight: what it does depends on what stands in the request. Before it changes a function it must see it, else it spends an
answer on reading the file; it comes back to files of earlier tasks as often and as late as real sessions do, and reads what
it sees all the same as often as they do (\`returns.ts\`). The person says once how changes are signed, and once for each file
why it is changed; a change without either is *spoilt*. A fifth of the tasks ask which line was written in an earlier task, or
how long a test run took: the answer comes from the request, from reading the file again or, for Everlong, from recall; else
the task is spoilt too. So everybody does the same work, and pays for what was forgotten.

People and tools take the time they take in real sessions (\`gaps.ts\`); prices and cache rules are the documented ones
(\`claude-opus-5\`, 5-minute cache, window 200,000). **Everlong** and the fixed rules are sessions of the engine as a host opens
them: its own client, ladder, cache marks, real compactions with what they restore. **Peers** run their own code; cache marks
at the system prompt and the newest two messages are put there for them, and triggers that they leave to the host are tried at
several sizes. *Reading all* is LangChain with \`trimTokensToSummarize\` lifted: by default its model sees the newest 4,000
tokens only. A model writes at most 4,096 tokens of summary, for everybody. After an overflow the oldest half is cut away,
after a refused signature all thinking.

*The defaults* and *thrifty* are settings of \`economy\`; *claude-code* has the specification's thresholds (compaction at 167,000,
idle after an hour) and takes notes for session memory, which are requests of their own. Rules and settings were chosen on
seeds 1 and 2; the seed here was not looked at before. [economy.md](economy.md) has the goals, and more seeds for the settings. **The best peer** is the cheapest of those that got at least as many
tasks done as ours, whatever its trigger, or where none did, of those that got the most done. *Re-reads* are readings of a task's file that had been read before; *mean* is how
much the model had before it, in thousands of tokens. The handover benchmark measures what else a compaction loses.`

const whyNoMore = `Where results make up the context, a peer whose trigger was found by trying comes near: what is left is mostly the same for
everybody. Tools and system prompt are read with every request, what is new is written once, after a long pause all is
written again, and the model is paid for its words. Pruning takes every older call and result out of the history, and can do
so only while results are what fills it: in long outputs it runs from clearing to clearing.`

const promiseWords = `Sessions of 33 tasks of three kinds: how often weighing (claude-code without notes) cost no more than the cheapest of three fixed
rules (never clear, always by size, by idle time only), and how far they were from it. With a cache that stays warm a rule
can keep the promise; with pauses that nobody foresees a rule can only be right on average: the table shows both.`

const dollars = (price: number) => (Number.isNaN(price) ? '–' : `$${price.toFixed(2)}`)
const keyOf = ({ who, name }: Ran) => `${who}: ${name}`
const kindsIn = (rows: readonly Ran[]) => [...new Set(rows.map(({ setup }) => setup.kind))]
const namesIn = (rows: readonly Ran[]) => [...new Set(rows.map(keyOf))]
const failuresOf = ({ outcome: { failed } }: Ran) => failed.overflow + failed.signature + failed.invalid
const doneOf = (rows: readonly Ran[]) => rows.reduce((sum, { outcome }) => sum + outcome.done, 0)
const doneIn = (rows: readonly Ran[]) => `${doneOf(rows)} of ${rows.reduce((sum, { setup }) => sum + setup.tasks, 0)}`
const isPeer = ({ who }: Ran) => who !== 'Everlong' && who !== 'fixed rule'

function priceTable(rows: readonly Ran[]): Table {
  const columns = kindsIn(rows)
  const lines = namesIn(rows).map((name) => {
    const own = rows.filter((row) => keyOf(row) === name)
    const prices = columns.map((kind) => own.find(({ setup }) => setup.kind === kind)?.outcome.price ?? Number.NaN)
    return { name, prices, sum: prices.reduce((sum, price) => sum + price, 0), done: doneIn(own) }
  })
  // Strategies that were not run on every kind come last.
  const rank = ({ sum }: { readonly sum: number }) => (Number.isNaN(sum) ? Number.POSITIVE_INFINITY : sum)
  const sorted = lines.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
  return table(
    ['price', ...columns, 'sum', 'tasks done'],
    sorted.map(({ name, prices, sum, done }) => [name, ...prices.map(dollars), dollars(sum), done]),
  )
}

function countTable(rows: readonly Ran[]): Table {
  const thousands = (tokens: number) => Math.round(tokens / 1_000).toLocaleString('en')
  const counts = ['answers', 're-reads', 'requests', 'read k', 'written k', 'failed', 'compactions', 'clearings']
  return table(
    ['kind', 'strategy', 'price', 'tasks done', ...counts, 'peak k', 'mean k'],
    rows.map((row) => {
      const { outcome: o, setup } = row
      const work = [doneIn([row]), o.answers, o.rereads, o.requests, thousands(o.read), thousands(o.written)]
      const rest = [failuresOf(row), o.compactions, o.clearings, thousands(o.peak), thousands(o.mean)]
      return [setup.kind, keyOf(row), dollars(o.price), ...work, ...rest]
    }),
  )
}

export type Cheapest = {
  readonly kind: string
  readonly name: string
  readonly peer: string
  /** Tasks done by ours and by the peer, in words. */
  readonly done: string
  readonly peerDone: string
  readonly price: number
  readonly peerPrice: number
  /** How much less than the best peer's price. */
  readonly less: number
}

/**
 * One of our settings against the cheapest peer that got as much done, for each kind of session; where none did, against
 * the cheapest of those that got the most done.
 */
export function against(rows: readonly Ran[], name: string): readonly Cheapest[] {
  return kindsIn(rows).flatMap((kind) => {
    const own = rows.find((row) => row.who === 'Everlong' && row.name === name && row.setup.kind === kind)
    if (!own) return []
    const peers = rows.filter((row) => isPeer(row) && row.setup.kind === kind)
    const price = own.outcome.price
    const [best] = asMuchDone(peers, own.outcome.done).toSorted((a, b) => a.outcome.price - b.outcome.price)
    if (!best) return []
    const peerPrice = best.outcome.price
    const [done, peerDone] = [doneIn([own]), doneIn([best])]
    return [{ kind, name, peer: keyOf(best), price, peerPrice, less: 1 - price / peerPrice, done, peerDone }]
  })
}

function asMuchDone(rows: readonly Ran[], wanted: number): readonly Ran[] {
  const enough = Math.min(wanted, Math.max(...rows.map(({ outcome }) => outcome.done)))
  return rows.filter(({ outcome }) => outcome.done >= enough)
}

const percent = (share: number) => `${(100 * share).toFixed(1)} %`

function verdict(rows: readonly Ran[]): Table {
  const names = [...new Set(rows.filter(({ who }) => who === 'Everlong').map(({ name }) => name))]
  return table(
    ['kind', 'Everlong', 'price', 'done', 'the best peer', 'its price', 'done', 'less'],
    names
      .flatMap((name) => against(rows, name))
      .map(({ kind, name, peer, price, peerPrice, less, done, peerDone }) => {
        return [kind, name, dollars(price), done, peer, dollars(peerPrice), peerDone, percent(less)]
      }),
  )
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

function promiseTable(rows: readonly Ran[]): Table {
  return table(
    ['sessions', 'not above any fixed rule', 'against the cheapest: mean', 'worst', 'refused requests'],
    heldOf(rows).map(({ label, sessions, kept, mean, worst, refused }) => {
      return [label, `${kept} of ${sessions}`, percent(mean), percent(worst), refused]
    }),
  )
}
