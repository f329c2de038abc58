// Fits how strange each pair of letters is: texts in languages that vocabularies hold little of have to come out as far
// above zero as their estimate is too low, and all other text below.
import {
  ballast,
  gap,
  letterBits,
  letterOf,
  maxExtra,
  scoreOfLevel,
} from '../../../engine/src/core/tokens/estimate/estimate.ts'
import { levelOfScore } from './packing.ts'
import type { Sample } from './sample.ts'
import { type Observation, solve } from './solve.ts'
import { countExactly } from './truth.ts'

/** Only these may be strange. */
const strange = ['rare-languages', 'little-known']
/** How far below zero all other text should stay: farther where it is of a language, and mistaken more easily. */
const slack = 0.03
const slackOf: Readonly<Record<string, number>> = { 'well-known': 0.08, 'latin-languages': 0.08, prose: 0.08 }
const weightOf: Readonly<Record<string, number>> = { 'little-known': 2, 'well-known': 3, 'latin-languages': 3 }
const pull = 1e-5
const reweightings = 6

/** One score for each pair of letters. */
export function fitStrangeness(samples: readonly Sample[], estimate: (text: string) => number): Float64Array {
  const observations = observe(samples, estimate)
  const prior = new Float64Array(1 << (2 * letterBits))
  const problem = { prior, pull, least: Number.NEGATIVE_INFINITY }
  let scores = solve({ ...problem, observations })
  for (let round = 0; round < reweightings; round++) {
    scores = solve({ ...problem, observations: reweigh(observations, scores), start: scores })
  }
  return solve({ ...problem, observations: reweigh(observations, scores), start: scores.map(snap), snap, rounds: 20 })
}

/** Every category weighs the same but for those above, and of the rare languages every package. */
function observe(samples: readonly Sample[], estimate: (text: string) => number): readonly Observation[] {
  const shelfOf = ({ category, source }: Sample) => (category === 'rare-languages' ? `${category} ${source}` : category)
  const shelves = Map.groupBy(samples, shelfOf)
  return samples.map((sample) => {
    const short = countExactly(sample.text, 'o200k') / estimate(sample.text) - 1
    const extra =
      strange.includes(sample.category) && short > 0 ? Math.min(maxExtra, short) : -(slackOf[sample.category] ?? slack)
    const weight = (weightOf[sample.category] ?? 1) / (shelves.get(shelfOf(sample))?.length ?? 1)
    return { counts: countLetters(sample.text), truth: extra, weight, unit: 1 }
  })
}

/** The share of each pair of letters. */
function countLetters(text: string): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  let last = gap
  for (let index = 0; index < text.length; index++) {
    const letter = letterOf[text.charCodeAt(index)] ?? 0
    const pair = (last << letterBits) | letter
    counts.set(pair, (counts.get(pair) ?? 0) + 1 / (text.length + ballast))
    last = letter
  }
  return counts
}

/** What already is below zero and should be is left alone; of the rest, the farthest off steer less. */
function reweigh(observations: readonly Observation[], scores: Float64Array): readonly Observation[] {
  return observations.map((seen) => {
    let score = 0
    for (const [pair, share] of seen.counts) score += (scores[pair] ?? 0) * share
    if (seen.truth < 0 && score < seen.truth) return { ...seen, weight: 0 }
    const error = Math.abs(Math.max(score, 0) - Math.max(seen.truth, 0))
    return { ...seen, weight: (seen.weight * 0.05) / Math.max(error, 0.02) }
  })
}

function snap(score: number): number {
  return scoreOfLevel(levelOfScore(score))
}
