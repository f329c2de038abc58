// Fits the weights of the token estimator on open text and writes them into the engine. Same packages, same weights.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Automaton,
  buildAutomaton,
  hanCount,
  hanFirst,
  nextState,
  tokensOfLevel,
} from '../../../engine/src/core/tokens/estimate/estimate.ts'
import { root } from '../root.ts'
import { samplesOf } from './corpus.ts'
import { declarations } from './declarations.ts'
import { charOf, levelOfScore, levelOfTokens, packRarities, packRows } from './packing.ts'
import type { Sample } from './sample.ts'
import { type Observation, solve } from './solve.ts'
import { fitStrangeness } from './strangeness.ts'
import { countExactly } from './truth.ts'

/** Shapes that must not break the estimator, but must not bend it for ordinary text either. */
const unusual = ['letter-runs', 'rare-han', 'base64-text']
/** These may not move what ASCII weighs: their words would, and everybody's English and code would pay for it. */
const rare = ['rare-scripts', 'rare-languages']
const pulls = { single: 1e-3, pair: 1e-4, full: 1e-4 }
const reweightings = 4

export function run(): void {
  const rarities = hanRarities()
  const automaton = buildAutomaton(Uint8Array.from(rarities))
  const samples = samplesOf('train')
  const observations = observe(samples, automaton)
  const common = observations.filter((_, index) => !rare.includes(samples[index]?.category ?? ''))
  const weights = extend(fit(common, automaton), { observations, automaton })
  const known = [...samples, ...declarations()]
  const scores = fitStrangeness(known, (text) => weigh(countPairs(text, automaton), weights))
  const packed = {
    pairWeights: packRows(Array.from(weights, levelOfTokens), automaton.classCount),
    letterScores: Array.from(scores, (score) => charOf(levelOfScore(score))).join(''),
    hanRarity: packRarities(rarities),
  }
  writeFileSync(join(root, 'engine/src/core/tokens/estimate/weights.ts'), moduleText(packed))
  console.log(`${observations.length} samples, ${weights.length} weights, ${automaton.states.length} states`)
}

/** 0, 1 or 2: how many tokens more than one a character alone costs. */
function hanRarities(): readonly number[] {
  return Array.from({ length: hanCount }, (_, offset) =>
    Math.min(2, countExactly(String.fromCharCode(hanFirst + offset), 'o200k') - 1),
  )
}

/** Every category weighs the same, however many samples it has. */
function observe(samples: readonly Sample[], automaton: Automaton): readonly Observation[] {
  const sizes = new Map<string, number>()
  for (const { category } of samples) sizes.set(category, (sizes.get(category) ?? 0) + 1)
  return samples.map(({ category, text }) => ({
    counts: countPairs(text, automaton),
    truth: countExactly(text, 'o200k'),
    weight: (unusual.includes(category) ? 0.3 : 1) / (sizes.get(category) ?? 1),
  }))
}

function countPairs(text: string, automaton: Automaton): ReadonlyMap<number, number> {
  const counts = new Map<number, number>()
  let state = automaton.states[0]
  for (let index = 0; index < text.length && state; index++) {
    const to = automaton.classOf[text.charCodeAt(index)] ?? 0
    const pair = state.row * automaton.classCount + to
    counts.set(pair, (counts.get(pair) ?? 0) + 1)
    state = automaton.states[nextState(state, to, automaton.firstStates)]
  }
  return counts
}

/** From coarse to fine: one weight a class, one a pair of classes, one a state and class; each the prior of the next. */
function fit(observations: readonly Observation[], automaton: Automaton): Float64Array {
  const { classCount, classOfRow } = automaton
  const pairOf = (index: number) =>
    ((classOfRow[Math.floor(index / classCount)] ?? -1) + 1) * classCount + (index % classCount)
  const single = solve({
    observations: regroup(observations, (index) => index % classCount),
    prior: new Float64Array(classCount).fill(0.3),
    pull: pulls.single,
  })
  const pair = solve({
    observations: regroup(observations, pairOf),
    prior: Float64Array.from({ length: (classCount + 1) * classCount }, (_, index) => single[index % classCount] ?? 0),
    pull: pulls.pair,
  })
  const prior = Float64Array.from({ length: classOfRow.length * classCount }, (_, index) => pair[pairOf(index)] ?? 0)
  let weights = solve({ observations, prior, pull: pulls.full })
  // Least squares lets a few odd samples steer; weighing those down comes near to the least absolute error.
  for (let round = 0; round < reweightings; round++) {
    weights = solve({ observations: reweigh(observations, weights), prior, pull: pulls.full })
  }
  return solve({
    observations: reweigh(observations, weights),
    prior,
    pull: pulls.full,
    start: weights.map(snap),
    snap,
    rounds: 20,
  })
}

/** The weights beyond ASCII, fitted with the rare languages and scripts beside the rest; those of ASCII as they are. */
function extend(
  weights: Float64Array,
  { observations, automaton }: { readonly observations: readonly Observation[]; readonly automaton: Automaton },
): Float64Array {
  const { classCount, classOfRow, classOf } = automaton
  const ascii = new Set([-1, ...classOf.subarray(0, 128)])
  const held = (index: number) =>
    ascii.has(index % classCount) && ascii.has(classOfRow[Math.floor(index / classCount)] ?? -1)
  const joint = fit(observations, automaton)
  const prior = joint.map((weight, index) => (held(index) ? (weights[index] ?? 0) : weight))
  const problem = { prior, pull: pulls.full, held }
  const free = solve({ ...problem, observations: reweigh(observations, prior) })
  return solve({ ...problem, observations: reweigh(observations, free), start: free.map(snap), snap, rounds: 20 })
}

function snap(weight: number): number {
  return tokensOfLevel(levelOfTokens(weight))
}

function regroup(observations: readonly Observation[], groupOf: (index: number) => number): readonly Observation[] {
  return observations.map((seen) => {
    const counts = new Map<number, number>()
    for (const [index, count] of seen.counts) counts.set(groupOf(index), (counts.get(groupOf(index)) ?? 0) + count)
    return { ...seen, counts }
  })
}

function reweigh(observations: readonly Observation[], weights: Float64Array): readonly Observation[] {
  return observations.map((seen) => {
    const error = Math.abs(weigh(seen.counts, weights) - seen.truth) / seen.truth
    return { ...seen, weight: (seen.weight * 0.03) / Math.max(error, 0.01) }
  })
}

function weigh(counts: ReadonlyMap<number, number>, weights: Float64Array): number {
  let sum = 0
  for (const [index, count] of counts) sum += (weights[index] ?? 0) * count
  return sum
}

function moduleText({ pairWeights, letterScores, hanRarity }: Readonly<Record<string, string>>): string {
  return `// Written by \`npm run bench -- fit-estimator\`: do not edit. How to read it: estimate.ts.

/** One weight for each row of states and each class. */
export const pairWeights =
  ${JSON.stringify(pairWeights)}

/** How strange each pair of letters is. */
export const letterScores =
  ${JSON.stringify(letterScores)}

/** How rare each character from U+4E00 to U+9FFF is. */
export const hanRarity =
  ${JSON.stringify(hanRarity)}
`
}
