// `npm run bench -- speed [--sizes 100,1000]`: our speed compared with the peers' on the same work, and how each grows.
import { parseArgs } from 'node:util'
import { defineBenchmark, figure, type Page, type Target, table, targetTable } from '../benchmark.ts'
import { versionsInWords, versionsOf } from '../peers/versions.ts'
import { type ContestReport, type Holding, hold, type Row } from './contest.ts'
import { contestOf, contests } from './contests.ts'
import { raceApart } from './race.ts'

type SpeedReport = {
  readonly node: string
  readonly versions: Readonly<Record<string, string>>
  readonly targets: readonly Target[]
  readonly contests: readonly ContestReport[]
}

export const benchmark = defineBenchmark({ name: 'speed', run, page, targets: ({ targets }) => targets })

async function run(args: readonly string[]): Promise<SpeedReport> {
  const { values } = parseArgs({
    args: [...args],
    options: { sizes: { type: 'string', default: '100,1000,10000,100000' }, only: { type: 'string' } },
  })
  const sizes = values.sizes.split(',').map(Number)
  const reports: ContestReport[] = []
  for (const name of values.only === undefined ? Object.keys(contests) : [values.only]) {
    console.error(`${name} …`)
    const race: Holding['race'] = (starting, size) =>
      raceApart({ contest: name, size, starting: starting.map((contestant) => contestant.name) })
    reports.push(await hold(await contestOf(name), { sizes, race }))
  }
  return {
    node: process.versions.node,
    versions: versionsOf([
      ...['langchain', '@langchain/core', 'ai', 'tokenx', 'gpt-tokenizer', 'js-tiktoken', 'minisearch'],
      ...['@mariozechner/pi-coding-agent', '@mastra/core'],
    ]),
    targets: targetsOf(reports),
    contests: reports,
  }
}

/** Ahead of every peer at the largest size that both did; and no steeper than the size itself, with room for noise. */
function targetsOf(contests: readonly ContestReport[]): readonly Target[] {
  const found = contests.flatMap(({ name, rows }): readonly Target[] => {
    const [ours] = rows.filter(({ side }) => side === 'ours')
    if (!ours) return []
    const steps = rows.filter(({ side }) => side === 'peer').flatMap((peer) => rivalry(ours, peer) ?? [])
    const closest = steps.toSorted((a, b) => a.ratio - b.ratio)[0]
    const growth = ours.growth ?? Number.NaN
    return [
      ...(closest
        ? [
            {
              what: `${name}: ahead of every peer`,
              wanted: 'more than 1 × as fast',
              measured: `${figure(closest.ratio)} × (${closest.name})`,
              met: closest.ratio > 1,
            },
          ]
        : []),
      {
        what: `${name}: growth`,
        wanted: 'linear: power 1.15 at most',
        measured: growth.toFixed(2),
        met: growth <= 1.15,
      },
    ]
  })
  return found
}

/** How many times as fast as a peer we are at the largest size that both did. */
function rivalry(ours: Row, peer: Row): { readonly name: string; readonly ratio: number } | undefined {
  const ratios = ours.milliseconds.map((own, at) => own && (peer.milliseconds[at] ?? 0) / own)
  const ratio = ratios.findLast(Boolean)
  return ratio ? { name: peer.name, ratio } : undefined
}

function page({ node, versions, targets, contests }: SpeedReport): Page {
  return {
    title: 'Speed, compared with the peers',
    parts: [
      `Written by \`npm run bench -- speed\` with Node ${node}, ${versionsInWords(versions)}.`,
      `One generated agent session at each length, handed to everybody in their own format; the conversion is not measured. Each
contest at each length has a process of its own, with nothing in its memory but the contestants' work. There everybody takes
turns, first for a warm-up that does not count (with at most 1,000 messages), so that code is as warm as in a long-running
program. Work of less than 5 ms is the median by the clock, longer work the mean of the thread's processor time, so that
other work on the machine does not count. Milliseconds are of this machine. What counts is the number in brackets: how many
times as long as ours it took. Whoever would take more than 6 seconds at a size, judging by the growth so far, does not start
there, and whoever takes more than a minute for one turn is taken out. *Growth* is the power of the size over the last
tenfold step: 1 is linear.`,
      targetTable(targets),
      ...contests.flatMap(section),
      '## How to read it',
      `*Counting*: LangChain and pi divide a length by four without looking at the text. Nothing that reads the text can be as
fast, so they are compared with our own baseline, which does nearly the same: it also counts thinking with its signature, as
the specification demands, where pi counts the words alone. What dividing costs in accuracy is in [tokens](tokens.md). Before
a request it does not matter: we count what is new and they count everything.
*Clearing*: pruneMessages removes everything older than the last two messages by its place in the list; it counts nothing,
decides nothing and cannot restore it. Ours and LangChain's weigh what there is.
*Folding*: pi's session has no edits, no undo and no split answers; ours joins the lines of an answer, finds side branches,
and applies what was cleared.
*Compaction*: pi flattens the messages into one prompt and LangChain keeps 4,000 tokens of them; ours reads every message
for its files, commands, outcomes and the person's words, and checks the summary against them.`,
    ],
  }
}

function section({ name, what, sizes, rows }: ContestReport): Page['parts'] {
  const ours = rows.find(({ side }) => side === 'ours')
  const cells = (row: Row) =>
    sizes.map((_, at) => {
      const [time, own] = [row.milliseconds[at], ours?.milliseconds[at]]
      if (typeof time !== 'number') return 'too slow'
      if (row === ours || !own) return figure(time)
      return `${figure(time)} (${figure(time / own)} ×)`
    })
  return [
    `## ${name[0]?.toUpperCase()}${name.slice(1)}`,
    `${what} Milliseconds by messages, and times ours.`,
    table(
      ['', ...sizes.map((size) => size.toLocaleString('en')), 'growth'],
      rows.map((row) => [row.name, ...cells(row), row.growth?.toFixed(2)]),
    ),
  ]
}
