// The list of reductions that a session tries, and an explanation of what each would do now. Changes nothing.
import type { Worth } from '../cache/economics.ts'
import type { ReductionChoices } from '../settings/resolve.ts'
import { formatNumber } from '../tokens/figure.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Plan, PlanDeclined, PlanningMechanism, Situation } from './mechanism.ts'
import { microByCacheEdit, microByIdle, microBySize } from './micro.ts'
import { native } from './native.ts'

/** Mechanisms without a model, in the order in which a session tries them and `everlong micro` and `context --explain` show them. */
export const reductions: readonly PlanningMechanism[] = [microByIdle, microByCacheEdit, microBySize, native]

/** Those of a session. `given` is the host's value of the setting `reductions`. */
export function reductionsWith(given: ReductionChoices = {}): readonly PlanningMechanism[] {
  return reductions.filter(({ onlyWith }) => onlyWith === undefined || given[onlyWith] !== undefined)
}

export type ExplainedReduction = {
  readonly mechanism: string
  readonly outcome: Plan | PlanDeclined
  /** The worth of the plan, or of a plan that was too early. */
  readonly worth?: Worth
}

/** Asks each mechanism separately, so two of them may name the same result. */
export function explainReductions(
  view: View,
  situation: Situation,
  mechanisms: readonly PlanningMechanism[] = reductions,
): readonly ExplainedReduction[] {
  const { settings } = situation
  const withoutRules: Situation = {
    ...situation,
    settings: { ...settings, microCompact: 'always', bySize: { ...settings.bySize, minFreed: 0 } },
  }
  return mechanisms.map(({ name, plan }) => {
    const outcome = plan(view, situation)
    const isHeldBack =
      outcome.type === 'declined' && (outcome.reason === 'below-warning' || outcome.reason === 'too-little')
    const { worth } = isHeldBack ? plan(view, withoutRules) : outcome
    return { mechanism: name, outcome, ...(worth === undefined ? {} : { worth }) }
  })
}

/** Savings, costs of writing again and balance, in tokens at the input price and in dollars. */
export function worthInWords(worth: Worth): string {
  const { freed, net, dollars, breakEven } = worth
  if (freed <= 0) return 'Nothing is freed, so nothing is saved.'
  const deferral = Math.round(worth.deferral)
  const parts = [
    gainInWords(worth),
    lossInWords(worth),
    ...(deferral === 0
      ? []
      : [`putting off the next compaction ${deferral > 0 ? 'saves' : 'costs'} ${formatNumber(Math.abs(deferral))}`]),
  ]
  const money = dollars ? ` (${dollars.net < 0 ? '-' : '+'}$${Math.abs(dollars.net).toFixed(3)})` : ''
  const isMatterOfTime = !worth.pays && deferral === 0 && breakEven !== undefined
  const when = isMatterOfTime ? `, it would after ${formatNumber(Math.ceil(breakEven))} turns` : ''
  return `${parts.join('; ')}: ${worth.pays ? `pays by ${formatNumber(net)}${money}` : `does not pay${money}${when}`}.`
}

function gainInWords({ freed, turns, write, cache, saved }: Worth): string {
  const all = `${formatNumber(turns)} ${turns === 1 ? 'turn' : 'turns'}`
  if (cache !== 'cold')
    return `${formatNumber(freed)} tokens × ${all} × ${priceOf(saved, freed * turns)} save ${formatNumber(saved)}`
  const later =
    turns > 1
      ? ` and not read in the ${formatNumber(turns - 1)} after (× ${priceOf(saved - freed * write, freed * (turns - 1))})`
      : ''
  return `${formatNumber(freed)} tokens not written in the next request (× ${write})${later} save ${formatNumber(saved)}`
}

function lossInWords({ suffix, write, read, cache, cost }: Worth): string {
  if (cache === 'cold') return 'the cache is cold, so nothing is lost'
  if (cost === 0) return 'the cached prefix stays, so nothing is lost'
  return `${formatNumber(suffix)} tokens written again × ${roundedToThousandths(write - read)} cost ${formatNumber(cost)}`
}

function priceOf(sum: number, tokens: number): number {
  return tokens === 0 ? 0 : roundedToThousandths(sum / tokens)
}

function roundedToThousandths(value: number): number {
  return Math.round(value * 1_000) / 1_000
}
