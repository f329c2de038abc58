// How fast the estimate is, compared with counting bytes, other estimates and exact tokenizers: all in one process, taking turns, so that a
// busy machine slows them alike. Read the ratios; the MB/s are this machine's.
import { performance } from 'node:perf_hooks'
import { estimators, ours, type Rival, tokenizers } from './rivals.ts'
import type { Sample } from './sample.ts'

export type Speed = {
  readonly text: string
  readonly name: string
  /** Megabytes of UTF-8 a second: the median of the rounds, and the best. */
  readonly median: number
  readonly best: number
}

type Contender = Rival & {
  readonly repeats: number
  /** The slow ones get the first of the texts only. */
  readonly most?: number
}

const contenders: readonly Contender[] = [
  { ...ours, repeats: 8 },
  { name: 'Buffer.byteLength / 4', count: (text) => Buffer.byteLength(text) / 4, repeats: 8 },
  ...estimators
    .filter(({ name }) => name === 'tokenx' || name.includes('Gemini'))
    .map((one) => ({ ...one, repeats: 1 })),
  ...tokenizers.map((one) => ({ ...one, repeats: 1, ...(one.name.startsWith('js') ? { most: 8 } : {}) })),
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
  const found = contenders.map(({ name }) => ({ text: label, name, speeds: [] as number[] }))
  for (let round = 0; round < rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const given = texts.slice(0, contender.most ?? texts.length)
      const bytes = given.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
      const began = performance.now()
      let sum = 0
      for (let repeat = 0; repeat < contender.repeats; repeat++) for (const text of given) sum += contender.count(text)
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
