// Readings: a person who had only the context answered the questions, then saw the key. They are recorded by hand in
// bench/results/readings.json and shown on the page of the benchmark.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Page, table } from '../benchmark.ts'
import { root } from '../root.ts'

export type Reading = {
  readonly case: string
  readonly context: string
  /** Between 0 and 1. */
  readonly score: number
  /** Answers that were wrong because of what the context said. */
  readonly misled: number
}

export function readReadings(path = join(root, 'bench/results/readings.json')): readonly Reading[] {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
}

export function readingParts(readings: readonly Reading[]): Page['parts'] {
  if (readings.length === 0) return ['No reading has been recorded.']
  const contexts = [...new Set(readings.map(({ context }) => context))]
  const names = [...new Set(readings.map((reading) => reading.case))]
  const cell = (own: readonly Reading[]) => {
    if (own.length === 0) return ''
    const score = own.reduce((sum, reading) => sum + reading.score, 0) / own.length
    return `${score.toFixed(2)} (${own.reduce((sum, { misled }) => sum + misled, 0)})`
  }
  const row = (name: string, own: readonly Reading[]) => [
    name,
    ...contexts.map((context) => cell(own.filter((reading) => reading.context === context))),
  ]
  const ofCase = (name: string) => readings.filter((reading) => reading.case === name)
  return [
    'Readers who had only the context (fresh agents, each with two contexts of different cases) answered the questions, then saw the key and graded themselves. In brackets: answers that were wrong because of something the context said.',
    table(['', ...contexts], [...names.map((name) => row(name, ofCase(name))), row('all', readings)]),
  ]
}
