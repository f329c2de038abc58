// How long the agent worked, and what that cost, with its sub-agents.
import { performance } from 'node:perf_hooks'
import type { Agent } from '../../app.ts'

export type Bill = {
  readonly begin: () => void
  /** The cost of a sub-agent so far. Unknown if one of its prices is. */
  readonly note: (subagent: string, cost: number | undefined) => void
  readonly end: () => { readonly tookMs: number; readonly cost?: number }
}

export function createBill(agent: Agent): Bill {
  const subagents = new Map<string, number | undefined>()
  const costs = () => [...Object.values(agent.session().spent()).map(({ cost }) => cost), ...subagents.values()]
  const total = () =>
    costs().reduce((sum, cost) => (sum === undefined || cost === undefined ? undefined : sum + cost), 0)
  let start: { readonly at: number; readonly cost: number | undefined } = { at: 0, cost: undefined }
  return {
    begin: () => {
      start = { at: performance.now(), cost: total() }
    },
    note: (subagent, cost) => subagents.set(subagent, cost),
    end: () => {
      const cost = total()
      const isPriced = start.cost !== undefined && cost !== undefined
      return {
        tookMs: performance.now() - start.at,
        ...(isPriced ? { cost: cost - (start.cost ?? 0) } : {}),
      }
    },
  }
}
