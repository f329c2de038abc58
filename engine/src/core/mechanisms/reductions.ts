// The reductions that need neither a model nor a word from anybody, and what each of them would do now: its plan or why
// it declines, with the sum of what it saves and what it costs in cache. It shows; it never decides and never performs.
import type { Worth } from '../cache/economics.ts'
import { inWords } from '../tokens/figure.ts'
import type { View } from '../transcript/fold.ts'
import type { Declined, DeclineReason, Mechanism, Plan, Situation } from './mechanism.ts'
import { microByCacheEdit } from './micro/by-cache-edit.ts'
import { microByIdle } from './micro/by-idle.ts'
import { microBySize } from './micro/by-size.ts'
import { native } from './native.ts'

export const reductions: readonly Mechanism[] = [microBySize, microByIdle, microByCacheEdit, native]

export type ExplainedReduction = {
  readonly mechanism: string
  readonly outcome: Plan | Declined
  /** Of the plan; of what a rule held back, as if the rule were not there. Absent when there is nothing to weigh. */
  readonly worth?: Worth
}

/** Pure. Each mechanism is asked by itself: what one of them would take, another may name as well. */
export function explainReductions(
  view: View,
  situation: Situation,
  mechanisms: readonly Mechanism[] = reductions,
): readonly ExplainedReduction[] {
  return mechanisms.map((mechanism) => {
    const outcome = mechanism.plan(view, situation)
    const worth = outcome.worth ?? heldBack(outcome, () => mechanism.plan(view, unruly(situation)))?.worth
    return { mechanism: mechanism.name, outcome, ...(worth === undefined ? {} : { worth }) }
  })
}

/** Rules about when, not about what. */
const rules: ReadonlySet<DeclineReason> = new Set(['below-warning', 'too-little'])

function heldBack(outcome: Plan | Declined, again: () => Plan | Declined): Plan | Declined | undefined {
  return outcome.type === 'declined' && rules.has(outcome.why) ? again() : undefined
}

function unruly(situation: Situation): Situation {
  const { settings } = situation
  return { ...situation, settings: { ...settings, microCompact: 'always', bySize: { ...settings.bySize, least: 0 } } }
}

/** The sum as a sentence: what is saved, what is written again, who wins. In tokens at the input price, then dollars. */
export function worthInWords(worth: Worth): string {
  const { freed, suffix, turns, read, write, cache, saved, cost, net, dollars, breakEven } = worth
  if (freed <= 0) return 'Nothing is freed, so nothing is saved.'
  const all = `${inWords(turns)} ${turns === 1 ? 'turn' : 'turns'}`
  const gain =
    cache === 'cold'
      ? `${inWords(freed)} tokens not written (× ${write}) and not read in ${all} (× ${read}) save ${inWords(saved)}`
      : `${inWords(freed)} tokens × ${all} × ${read} save ${inWords(saved)}`
  const loss =
    cache === 'cold'
      ? 'the cache is cold, so nothing is lost'
      : cost === 0
        ? 'the cached prefix stays, so nothing is lost'
        : `${inWords(suffix)} tokens written again × ${tidy(write - read)} cost ${inWords(cost)}`
  const money = dollars === undefined ? '' : ` (${inDollars(dollars.net)})`
  const when = worth.pays || breakEven === undefined ? '' : `, it would after ${inWords(Math.ceil(breakEven))} turns`
  const verdict = worth.pays ? `pays by ${inWords(net)}${money}` : `does not pay${money}${when}`
  return `${gain}; ${loss}: ${verdict}.`
}

function tidy(value: number): number {
  return Math.round(value * 1_000) / 1_000
}

/** Small sums are the usual case: three digits behind the point, and the sign in front. */
function inDollars(value: number): string {
  return `${value < 0 ? '-' : '+'}$${Math.abs(value).toFixed(3)}`
}
