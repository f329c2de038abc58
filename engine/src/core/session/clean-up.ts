// Whoever keeps something that describes the state before a compaction registers how to clear it, and whether it belongs
// to one conversation or to all. Which skills have been listed already is deliberately kept: listing them again costs
// thousands of tokens for nothing.
import { callNow } from '../ports/guarded.ts'

export type CleanUp = {
  readonly name: string
  readonly scope: 'conversation' | 'all'
  /** `tokens`: the size after the compaction. */
  readonly clear: (after: { readonly tokens: number }) => void
}

export type CleanUps = {
  /** Returns how to take it out again. */
  readonly register: (owner: CleanUp) => () => void
  /** Clears what a compaction made void, in the order of registration. */
  readonly run: (after: { readonly tokens: number }) => void
}

/**
 * Of one conversation. `shared` holds what belongs to all of an engine's conversations; a sub-agent is given none, so
 * that its compaction clears only its own.
 */
export function createCleanUps(
  shared: Set<CleanUp>,
  { isSubagent, onProblem }: { readonly isSubagent: boolean; readonly onProblem: (problem: string) => void },
): CleanUps {
  const own = new Set<CleanUp>()
  return {
    register: (owner) => {
      const home = owner.scope === 'all' ? shared : own
      home.add(owner)
      return () => {
        home.delete(owner)
      }
    },
    run: (after) => {
      const owners = [...own, ...(isSubagent ? [] : shared)]
      // The compaction is in the transcript by now: a clean-up that breaks must not keep the others from running.
      for (const owner of owners)
        callNow(
          () => owner.clear(after),
          (why) => onProblem(`${owner.name}: ${why}`),
        )
    },
  }
}
