// Any mechanism as a rung: plan, then perform. Nothing of its own.
import type { Mechanism } from '../mechanisms/mechanism.ts'
import type { Rung } from './rung.ts'

export function mechanismRung(mechanism: Mechanism): Rung {
  return {
    name: mechanism.name,
    run: async ({ view, situation, ports, signal }) => {
      const plan = mechanism.plan(view, situation)
      if (plan.type === 'declined') return { type: 'declined', why: `${plan.why}: ${plan.detail}` }
      const done = await mechanism.perform(plan, ports, signal)
      const results = plan.items.length
      if (done.type === 'failed') {
        return { type: 'failed', reason: done.reason === 'aborted' ? 'aborted' : 'no_progress', why: done.reason }
      }
      if (done.type === 'delegated') return { type: 'delegated', request: done.request, freed: done.freed, results }
      return { type: 'reduced', edits: done.edits, freed: done.freed, results }
    },
  }
}
