// The figures of `npm run bench -- speed` as a page, and what was wanted of them.
import { versionsInWords } from '../peers/versions.ts'
import type { Target } from '../summary/target.ts'
import type { ContestReport, Row } from './contest.ts'

export type SpeedReport = {
  readonly node: string
  readonly versions: Readonly<Record<string, string>>
  readonly targets: readonly Target[]
  readonly contests: readonly ContestReport[]
}

/** Ahead of every peer at the largest size that both did; and no steeper than the size itself, with room for noise. */
export function targetsOf(contests: readonly ContestReport[]): readonly Target[] {
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
  const at = ours.milliseconds.findLastIndex(
    (time, index) => time !== undefined && peer.milliseconds[index] !== undefined,
  )
  const [own, other] = [ours.milliseconds[at], peer.milliseconds[at]]
  return own === undefined || other === undefined ? undefined : { name: peer.name, ratio: other / own }
}

export function figure(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

export function markdown({ node, versions, targets, contests }: SpeedReport): string {
  return `# Speed, beside the peers

Written by \`npm run bench -- speed\` with Node ${node}, ${versionsInWords(versions)}.

One made-up agent session at each length, handed to everybody in their own shape; turning it into that shape is not
measured. Each contest at each length has a process of its own, in whose memory is only what its contestants work on; there
everybody takes turns, at first for a while that is not counted and at most at 1,000 messages, so that code is as warm as in
a program that goes on running. Work of less than 5 ms is the median by the clock, longer work the mean of the time that the
processor gave to the thread, so that what else the machine did does not count. Milliseconds are this machine's; the number
in brackets says how many times as long as ours it took, and that is what counts. Who would take more than 6 seconds, by how
it grew, does not start at that size, and who takes more than a minute for one turn is taken out. *Growth* is the power of the size
over the last tenfold step: 1 is linear.

| what | wanted | measured | met |
| --- | --- | --- | --- |
${targets.map(({ what, wanted, measured, met }) => `| ${what} | ${wanted} | ${measured} | ${met ? 'yes' : '**no**'} |`).join('\n')}

${contests.map(section).join('\n\n')}

## How to read it

*Counting*: LangChain and pi divide a length by four, which does not look at the text at all, so nothing that reads the
text can be as fast, and they stand beside our own baseline, which does nearly the same: it
also measures thinking with its signature, as the specification wants it, where pi looks at the words alone. What dividing
costs in truth is in [tokens](tokens.md). Before a request it does not matter: we count what is new and they count everything.
*Clearing*: pruneMessages takes everything older than the last two messages away by its place in the list; it counts nothing,
decides nothing and cannot give it back. Ours and LangChain's weigh what there is.
*Folding*: pi's session has no edits, no undo and no split answers; ours reads the several lines of an answer into one,
finds side branches, and applies what was cleared.
*Compaction*: pi flattens the messages into one prompt and LangChain keeps 4,000 tokens of them; ours reads every message
for its files, commands, outcomes and the person's words, and holds the summary against them.
`
}

function section({ name, what, sizes, rows }: ContestReport): string {
  const ours = rows.find(({ side }) => side === 'ours')
  const cells = (row: Row) =>
    sizes.map((_, at) => {
      const [time, own] = [row.milliseconds[at], ours?.milliseconds[at]]
      if (time === undefined) return 'too slow'
      if (row === ours || own === undefined) return figure(time)
      return `${figure(time)} (${figure(time / own)} ×)`
    })
  const line = (row: Row) =>
    `| ${row.name} | ${cells(row).join(' | ')} | ${row.growth === undefined ? '' : row.growth.toFixed(2)} |`
  return `## ${name[0]?.toUpperCase()}${name.slice(1)}

${what} Milliseconds by messages, and times ours.

| | ${sizes.map((size) => size.toLocaleString('en')).join(' | ')} | growth |
| --- |${sizes.map(() => ' --- |').join('')} --- |
${rows.map(line).join('\n')}`
}
