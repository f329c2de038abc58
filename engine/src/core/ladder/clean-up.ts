// Whoever keeps something that describes the state before a compaction registers how to clear it, and whether it belongs
// to one conversation or to all. Which skills have been listed already is deliberately kept: listing them again costs
// thousands of tokens for nothing.

export type CleanUp = {
  readonly name: string
  readonly scope: 'conversation' | 'all'
  /** `tokens`: the size after the compaction. */
  readonly clear: (after: { readonly tokens: number }) => void
}

export type CleanUps = {
  /** Returns how to take it out again. */
  readonly register: (owner: CleanUp) => () => void
  /** Clears what a compaction made void, in the order of registration. Returns the names. */
  readonly run: (after: { readonly tokens: number }) => readonly string[]
}

/**
 * Of one conversation. `shared` holds what belongs to all of an engine's conversations; a sub-agent is given none, so
 * that its compaction clears only its own.
 */
export function createCleanUps(shared: Set<CleanUp>, { isSubagent }: { readonly isSubagent: boolean }): CleanUps {
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
      for (const { clear } of owners) clear(after)
      return owners.map(({ name }) => name)
    },
  }
}
