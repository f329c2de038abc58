import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../root.ts'
import type { TokensReport } from './page.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const report = JSON.parse(read('bench/results/tokens.json')) as TokensReport
const percent = (share: number | undefined, digits = 1) => `${(100 * (share ?? Number.NaN)).toFixed(digits)} %`
const mean = (category: string, estimator: 'fitted' | 'charsOver4' = 'fitted') =>
  report.categories.find((found) => found.category === category)?.errors.o200k[estimator].mean

describe('the checked-in results', () => {
  test('are the figures that docs/tokens.md tells', () => {
    const total = typeof report.sessions === 'string' ? undefined : report.sessions.at(-1)?.mean
    const rows = read('docs/tokens.md')
      .replace(/ +/g, ' ')
      .match(/^\| (error (over|on)|the next).*$/gm)
    expect(rows).toEqual([
      `| error over packages kept from the fit, mean | ${percent(report.overall.bySample)} |`,
      `| error over other packages that nothing was fitted to, mean | ${percent(report.fresh.bySample)} |`,
      `| error on real agent text, mean | ${percent(mean('real agent text'))} (length / 4: ${percent(mean('real agent text', 'charsOver4'))}) |`,
      `| error on random Han characters, mean | ${percent(mean('rare-han'))} |`,
      `| the next request's total, foretold on real sessions, mean error | ${percent(total, 2)} |`,
    ])
  })

  test('reach the targets: 5 % over all, 10 % in each category, 0.3 % of the next total', () => {
    expect(report.overall.bySample).toBeLessThan(0.05)
    const over = report.categories.filter(({ errors }) => errors.o200k.fitted.mean > 0.1)
    expect(over.map(({ category }) => category)).toEqual([])
    expect(Array.isArray(report.sessions) ? report.sessions.at(-1)?.mean : 0).toBeLessThan(0.003)
  })
})
