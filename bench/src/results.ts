// Where results are kept: a page for people and the same as data, both checked in.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './root.ts'

export function writeResults(name: string, report: { readonly markdown: string; readonly json: unknown }): void {
  const folder = join(root, 'bench', 'results')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(report.json, null, 2)}\n`)
  writeFileSync(join(folder, `${name}.md`), report.markdown)
  console.log(report.markdown)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
