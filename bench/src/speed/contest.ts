// Runs contestants over the same work at growing sizes, taking turns. Short work is measured by the clock, long work by the
// time that the processor really gave this thread, so that whatever else the machine does falls on nobody. Who gets too
// slow does not start at the next size.
import { type Sample, stopwatch, typical } from '../timing.ts'

export type Contestant = {
  readonly name: string
  /** ours, a peer, or what no software of this kind can beat. */
  readonly side: 'ours' | 'peer' | 'limit'
  /** What is measured, for one size; making it ready is not measured. */
  readonly ready: (size: number) => Work | Promise<Work>
}

export type Work = {
  readonly run: () => unknown
  /** After each run, not measured: puts back what the run changed. */
  readonly after?: () => void
  readonly end?: () => void
}

export type Contest = {
  readonly name: string
  readonly what: string
  readonly contestants: readonly Contestant[]
  /** The largest size that makes sense for it. */
  readonly upTo?: number
}

export type Row = {
  readonly name: string
  readonly side: Contestant['side']
  /** Milliseconds by size; null where it did not start. */
  readonly milliseconds: readonly (number | null)[]
  /** The power of the size with which the time grew over the last tenfold step: 1 is linear. */
  readonly growth: number | undefined
}

export type ContestReport = {
  readonly name: string
  readonly what: string
  readonly sizes: readonly number[]
  readonly rows: readonly Row[]
}

const enoughMilliseconds = 400
const maxSamples = 60
const minSamples = 3
/** Nobody is waited for longer than this, by what the sizes before foretell. */
export const patience = 6_000

/** Milliseconds by name. */
export type Times = ReadonlyMap<string, number>

export type Holding = {
  readonly sizes: readonly number[]
  /** Lets them take turns at one size. */
  readonly race: (starting: readonly Contestant[], size: number) => Promise<Times>
}

export async function hold(contest: Contest, { sizes, race }: Holding): Promise<ContestReport> {
  const tried = sizes.filter((size) => size <= (contest.upTo ?? Number.POSITIVE_INFINITY))
  const found = new Map<string, (number | undefined)[]>()
  for (const size of tried) {
    const starting = contest.contestants.filter(({ name }) => isStillIn(found.get(name) ?? [], { tried, size }))
    const times = await race(starting, size)
    for (const { name } of contest.contestants) found.set(name, [...(found.get(name) ?? []), times.get(name)])
  }
  const rows = contest.contestants.map(({ name, side }) => {
    const milliseconds = found.get(name) ?? []
    return { name, side, milliseconds: milliseconds.map((time) => time ?? null), growth: growthOf(tried, milliseconds) }
  })
  return { name: contest.name, what: contest.what, sizes: tried, rows }
}

function isStillIn(
  times: readonly (number | undefined)[],
  { tried, size }: { readonly tried: readonly number[]; readonly size: number },
): boolean {
  const last = times.at(-1)
  if (times.length === 0) return true
  if (last === undefined) return false
  const growth = Math.max(1, growthOf(tried, times) ?? 1)
  return last * (size / (tried[times.length - 1] ?? size)) ** growth < patience
}

export type Turns = {
  readonly size: number
  /** The clock of this machine unless said. */
  readonly measure?: (work: Work) => Promise<Sample>
  /** Told whose turn begins, and when it has ended. */
  readonly onTurn?: (name: string | undefined) => void
}

export async function takeTurns(
  contestants: readonly Contestant[],
  { size, measure = once, onTurn }: Turns,
): Promise<Times> {
  const works = new Map<string, Work>()
  for (const { name, ready } of contestants) works.set(name, await ready(size))
  const samples = new Map<string, Sample[]>(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round <= maxSamples; round++) {
    for (const [name, work] of works) {
      const before = samples.get(name) ?? []
      if (isEnough(before)) continue
      onTurn?.(name)
      before.push(await measure(work))
      onTurn?.(undefined)
    }
  }
  for (const { end } of works.values()) end?.()
  return new Map([...samples].map(([name, taken]) => [name, typical(counted(taken))]))
}

/** The first round warms up, and counts only where there was no time for a second. */
function counted(samples: readonly Sample[]): readonly Sample[] {
  return samples.length > 1 ? samples.slice(1) : samples
}

function isEnough(samples: readonly Sample[]): boolean {
  const sum = samples.reduce((all, { clock }) => all + clock, 0)
  if (sum > patience / 2 || (sum > patience / 4 && samples.length > 1)) return true
  return samples.length > minSamples && sum > enoughMilliseconds
}

async function once({ run, after }: Work): Promise<Sample> {
  const elapsed = stopwatch()
  const result = run()
  if (result instanceof Promise) await result
  const sample = elapsed()
  after?.()
  return sample
}

function growthOf(sizes: readonly number[], times: readonly (number | undefined)[]): number | undefined {
  const last = times.findLastIndex((time) => time !== undefined)
  const [small, large] = [times[last - 1], times[last]]
  const [from, to] = [sizes[last - 1], sizes[last]]
  if (small === undefined || large === undefined || from === undefined || to === undefined) return undefined
  return Math.log(large / small) / Math.log(to / from)
}
