// Everybody who is compared, by name: workers are told names, since rules cannot be sent to them.
import { aiSdk } from './peers/ai-sdk.ts'
import { langchain } from './peers/langchain.ts'
import { retold } from './peers/retold.ts'
import { plainRules } from './plain-rules.ts'
import { alwaysMicro, fixedRules, settings, weighed } from './rules.ts'
import type { Strategy } from './strategy.ts'

const peers: readonly Strategy[] = [...plainRules, ...langchain, aiSdk, ...retold]

export const compared: readonly Strategy[] = [...settings, ...fixedRules, alwaysMicro, ...peers]

/** The promise is about these. */
export const promised: readonly Strategy[] = [weighed, ...fixedRules]

export function strategyNamed(who: string, name: string): Strategy {
  const found = compared.find((strategy) => strategy.who === who && strategy.name === name)
  if (!found) throw new Error(`There is no strategy ${name} of ${who}.`)
  return found
}
