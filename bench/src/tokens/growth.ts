// What real sessions grew by from one answer to the next, as the API reported it, beside what everybody would have said of
// the text that was added: by model, before anything is learned, and after one factor for each model.
import { countTokens, type Message } from 'everlong'
import { textsOf } from '../texts.ts'
import { estimators, type Rival, tokenizers } from './rivals.ts'
import type { Answer } from './sessions.ts'

export type ModelGrowth = {
  readonly model: string
  readonly turns: number
  /** Tokens that the API counted. */
  readonly reported: number
  readonly counters: readonly CounterGrowth[]
}

export type CounterGrowth = {
  readonly name: string
  /** Everything together, as a share of what was reported: -0.3 is 30 % too low. */
  readonly sum: number
  /** The mean error of a turn after one factor that makes the sum right. */
  readonly turn: number
}

type Step = { readonly model: string; readonly reported: number; readonly counts: readonly number[] }

/** Turns that add less say little: what frames a message is most of them. */
const fewest = 300

const rivals: readonly Rival[] = [
  ...estimators.slice(1).filter(({ name }) => !name.startsWith('o200k')),
  ...tokenizers.slice(0, 1),
]
const names = ['Everlong', ...rivals.map(({ name }) => name)]

export function growthByModel(sessions: readonly (readonly Answer[])[]): readonly ModelGrowth[] {
  const steps = Map.groupBy(sessions.flatMap(stepsOf), ({ model }) => model)
  return [...steps]
    .filter(([, taken]) => taken.length >= 20)
    .map(([model, taken]) => ({
      model,
      turns: taken.length,
      reported: taken.reduce((sum, { reported }) => sum + reported, 0),
      counters: names.map((name, at) => ({ name, ...errorsOf(taken, at) })),
    }))
}

function stepsOf(answers: readonly Answer[]): readonly Step[] {
  return answers.flatMap((next, index): readonly Step[] => {
    const last = answers[index - 1]
    if (!last || next.isCut || next.input < last.input) return []
    // Old clients stored the first chunk's output count: a stub says less than the answer's own text.
    const isStub = last.output <= 10 && countTokens(last.own) > last.output
    const reported = next.input - last.input - (isStub ? 0 : last.output)
    const added = [...(isStub ? last.own : []), ...next.before]
    if (reported < fewest) return []
    return [{ model: next.model, reported, counts: countsOf(added, next.model) }]
  })
}

function countsOf(added: readonly Message[], model: string): readonly number[] {
  const texts = added.flatMap(textsOf).map((text) => text.toWellFormed())
  const sum = (count: Rival['count']) => texts.reduce((all, text) => all + count(text), 0)
  return [countTokens(added, { model }), ...rivals.map(({ count }) => sum(count))]
}

function errorsOf(steps: readonly Step[], at: number): Omit<CounterGrowth, 'name'> {
  const reported = steps.reduce((sum, step) => sum + step.reported, 0)
  const counted = steps.reduce((sum, step) => sum + (step.counts[at] ?? 0), 0)
  const factor = reported / counted
  const errors = steps.map((step) => Math.abs(((step.counts[at] ?? 0) * factor) / step.reported - 1))
  return { sum: counted / reported - 1, turn: errors.reduce((sum, error) => sum + error, 0) / errors.length }
}
