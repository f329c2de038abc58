// All compared strategies by name: workers get names, because functions cannot be sent to them.
import { careful, peers } from './peers.ts'
import { nothing, plainRules } from './plain-rules.ts'
import { alwaysMicro, claudeCode, clockRules, defaults, fixedRules, thrifty, weighed } from './rules.ts'
import type { Strategy } from './strategy.ts'

const ours: readonly Strategy[] = [defaults, thrifty, claudeCode, weighed]

export const everybody: readonly Strategy[] = [...ours, ...fixedRules, alwaysMicro, ...plainRules, ...peers]

/** On models that bind thinking. */
export const few: readonly Strategy[] = [defaults, thrifty, weighed, ...careful, nothing]

/** The promise is about these. */
export const promised: readonly Strategy[] = [weighed, ...fixedRules]

export function strategyNamed(who: string, name: string): Strategy {
  const found = [...everybody, ...clockRules].find((strategy) => strategy.who === who && strategy.name === name)
  if (!found) throw new Error(`There is no strategy ${name} of ${who}.`)
  return found
}
