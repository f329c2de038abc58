// Usage of keys in the last 60 seconds, counted in this process.

/** A key of a tenant, by its name. Names are unique only within a tenant. */
export type KeyName = { readonly tenant: string; readonly key: string }

export type MinuteLimits = {
  readonly requestsPerMinute?: number | undefined
  readonly tokensPerMinute?: number | undefined
}

export type OverLimit = {
  readonly limit: keyof MinuteLimits
  /** Time until the next counted use expires. */
  readonly waitMs: number
}

export type Uses = {
  /** Counts a request, unless the key has reached one of its limits. */
  readonly enter: (name: KeyName, limits: MinuteLimits) => Promise<OverLimit | undefined>
  /** Counts tokens of an answer. */
  readonly used: (name: KeyName, tokens: number) => Promise<void>
}

const minute = 60_000

type Use = { readonly time: number; readonly requests: number; readonly tokens: number }

export function usesInProcess(now: () => number): Uses {
  const uses = new Map<string, Use[]>()
  const recent = ({ tenant, key }: KeyName): Use[] => {
    const name = JSON.stringify([tenant, key])
    const kept = (uses.get(name) ?? []).filter(({ time }) => time > now() - minute)
    uses.set(name, kept)
    return kept
  }
  return {
    enter: async (name, { requestsPerMinute, tokensPerMinute }) => {
      const all = recent(name)
      const reached = (counted: 'requests' | 'tokens', max: number | undefined): number | undefined => {
        const counting = all.filter((use) => use[counted] > 0)
        const [oldest] = counting
        const sum = counting.reduce((total, use) => total + use[counted], 0)
        return max !== undefined && oldest && sum >= max ? oldest.time + minute - now() : undefined
      }
      const [requestsMs, tokensMs] = [reached('requests', requestsPerMinute), reached('tokens', tokensPerMinute)]
      if (requestsMs !== undefined) return { limit: 'requestsPerMinute', waitMs: requestsMs }
      if (tokensMs !== undefined) return { limit: 'tokensPerMinute', waitMs: tokensMs }
      all.push({ time: now(), requests: 1, tokens: 0 })
      return undefined
    },
    used: async (name, tokens) => void recent(name).push({ time: now(), requests: 0, tokens }),
  }
}
