// How fast the estimate is, beside counting bytes and an exact tokenizer: all in one process, taking turns, so that a
// busy machine slows them alike. Read the ratios; the MB/s are this machine's.
import { performance } from 'node:perf_hooks'
import { estimateTokens } from 'everlong'
import type { Sample } from './sample.ts'
import { countExactly } from './truth.ts'

export type Speed = {
  readonly text: string
  readonly name: string
  /** Megabytes of UTF-8 a second: the median of the rounds, and the best. */
  readonly median: number
  readonly best: number
}

type Contender = { readonly name: string; readonly count: (text: string) => number; readonly repeats: number }

const contenders: readonly Contender[] = [
  { name: 'Everlong', count: estimateTokens, repeats: 8 },
  { name: 'Buffer.byteLength / 4', count: (text) => Buffer.byteLength(text) / 4, repeats: 8 },
  { name: 'gpt-tokenizer o200k', count: (text) => countExactly(text, 'o200k'), repeats: 1 },
]
const rounds = 15

export function measureSpeed(samples: readonly Sample[]): readonly Speed[] {
  const long = samples.map(({ text }) => text).filter((text) => text.length >= 2_000)
  const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)
  return [
    ...race('ASCII', long.filter(isAscii).slice(0, 150)),
    ...race('beyond ASCII', long.filter((text) => !isAscii(text)).slice(0, 150)),
  ]
}

function race(label: string, texts: readonly string[]): readonly Speed[] {
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const found = contenders.map(({ name }) => ({ text: label, name, speeds: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const began = performance.now()
      let sum = 0
      for (let repeat = 0; repeat < contender.repeats; repeat++) for (const text of texts) sum += contender.count(text)
      const seconds = (performance.now() - began) / 1_000
      // The first rounds compile; using the sum keeps the work from being left out.
      if (round >= 3 && sum > 0) found[index]?.speeds.push((bytes * contender.repeats) / 1e6 / seconds)
    }
  }
  return found.map(({ text, name, speeds }) => {
    const sorted = speeds.toSorted((a, b) => a - b)
    return { text, name, median: sorted[Math.floor(sorted.length / 2)] ?? 0, best: sorted.at(-1) ?? 0 }
  })
}
