// `npm run bench -- summary`: the targets of every benchmark and whether they were met, from the stored figures.
import { defineBenchmark, type Page, type Target, table } from '../benchmark.ts'
import { benchmarks } from '../benchmarks.ts'

type Found = { readonly benchmark: string; readonly targets: readonly Target[] }

type Figures = {
  readonly node: string
  readonly found: readonly Found[]
} & Ran

/** Of all benchmarks, if they ran just before. */
type Ran = {
  /** Seconds that each took. */
  readonly took: Readonly<Record<string, number>>
  /** From the first to the last: some run at the same time. */
  readonly seconds?: number
  readonly leftOut?: readonly string[]
}

/** Those with targets, in the order of the page. */
const withTargets = [
  'handover',
  'rounds',
  'economy',
  'cost',
  'adapters',
  'clock',
  'windows',
  'loop',
  'speed',
  'compact',
  'memory',
  'engine',
  'soak',
  'tokens',
]

export function summary(ran: Ran) {
  return defineBenchmark<Figures>({
    name: 'summary',
    run: async () => {
      const found: Found[] = []
      for (const name of withTargets) {
        const loaded = await benchmarks[name]?.()
        found.push({ benchmark: name, targets: loaded?.benchmark.targets() ?? [] })
      }
      return { node: process.versions.node, ...ran, found }
    },
    page: summaryPage,
  })
}

export function summaryPage({ found, took, seconds: whole, leftOut = [] }: Figures): Page {
  const all = found.flatMap(({ targets }) => targets)
  const seconds = Object.entries(took)
  const minutes = (whole ?? seconds.reduce((sum, [, time]) => sum + time, 0)) / 60
  const without = leftOut.length === 0 ? '' : ` Not run: ${leftOut.join(', ')}.`
  return {
    title: 'Targets and results',
    parts: [
      'Written by `npm run bench`, or `npm run bench -- summary`, from the stored figures. The pages say how each was measured\nand why something falls short.',
      `**${all.filter(({ met }) => met).length} of ${all.length} targets met.**`,
      table(
        ['benchmark', 'what', 'wanted', 'measured', 'met'],
        found.flatMap(({ benchmark, targets }) =>
          targets.map(({ what, wanted, measured, met }) => {
            return [`[${benchmark}](${benchmark}.md)`, what, wanted, measured, met ? 'yes' : '**no**']
          }),
        ),
      ),
      seconds.length > 0
        ? `Took ${seconds.map(([name, time]) => `${name} ${time.toFixed(0)} s`).join(', ')}; ${minutes.toFixed(1)} minutes in all.${without}`
        : undefined,
    ],
  }
}
