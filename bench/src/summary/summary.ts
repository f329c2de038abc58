// What was wanted and what was measured, from the results of every benchmark, on one page. It measures nothing itself.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeResults } from '../results.ts'
import { root } from '../root.ts'
import { readers } from './readers.ts'
import type { Target } from './target.ts'

type Found = { readonly benchmark: string; readonly targets: readonly Target[] }

/** Seconds that each benchmark took, where they were run just now. */
export function writeSummary(took: Readonly<Record<string, number>> = {}): void {
  const found = Object.entries(readers).flatMap(([benchmark, read]): readonly Found[] => {
    const path = join(root, 'bench/results', `${benchmark}.json`)
    if (!existsSync(path)) return []
    return [{ benchmark, targets: read(JSON.parse(readFileSync(path, 'utf8'))) }]
  })
  writeResults('summary', { markdown: markdown(found, took), json: { node: process.versions.node, took, found } })
}

export function markdown(found: readonly Found[], took: Readonly<Record<string, number>>): string {
  const all = found.flatMap(({ targets }) => targets)
  const seconds = Object.entries(took)
  const rows = found.flatMap(({ benchmark, targets }) =>
    targets.map(
      ({ what, wanted, measured, met }) =>
        `| [${benchmark}](${benchmark}.md) | ${what} | ${wanted} | ${measured} | ${met ? 'yes' : '**no**'} |`,
    ),
  )
  return [
    '# What was wanted, and what was measured',
    '',
    'Written by `npm run bench`, or `npm run bench -- summary`, from the results beside it. The pages say how each was',
    'measured and why something falls short.',
    '',
    `**${all.filter(({ met }) => met).length} of ${all.length} targets met.**`,
    '',
    '| benchmark | what | wanted | measured | met |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
    ...(seconds.length === 0
      ? []
      : [
          `Took ${seconds.map(([name, time]) => `${name} ${time.toFixed(0)} s`).join(', ')}; ` +
            `${(seconds.reduce((sum, [, time]) => sum + time, 0) / 60).toFixed(1)} minutes in all.`,
          '',
        ]),
  ].join('\n')
}
