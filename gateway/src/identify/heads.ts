// Where conversations ended that no client named: the digest of everything said, and the session that it is in. A request that
// continues such an end continues its session.
export type Head = {
  readonly session: string
  /** Nothing was said in the session after it. */
  readonly isTip: boolean
}

/** Every call names the tenant: a digest of one tenant means nothing for another. */
export type Heads = {
  readonly find: (tenant: string, digest: string) => Promise<Head | undefined>
  /** The session now ends here. */
  readonly put: (tenant: string, digest: string, session: string) => Promise<void>
}

/** For tests and gateways without a folder. Of each tenant, the `max` newest are known. */
export function memoryHeads(max = 100_000): Heads {
  const tenants = new Map<string, { readonly heads: Map<string, string>; readonly tips: Map<string, string> }>()
  const of = (tenant: string) => {
    const known = tenants.get(tenant) ?? { heads: new Map(), tips: new Map() }
    tenants.set(tenant, known)
    return known
  }
  return {
    find: async (tenant, digest) => {
      const { heads, tips } = of(tenant)
      const session = heads.get(digest)
      return session === undefined ? undefined : { session, isTip: tips.get(session) === digest }
    },
    put: async (tenant, digest, session) => {
      const { heads, tips } = of(tenant)
      heads.delete(digest)
      heads.set(digest, session)
      tips.set(session, digest)
      const [oldest] = heads.keys()
      if (heads.size > max && oldest !== undefined) {
        const owner = heads.get(oldest)
        heads.delete(oldest)
        if (owner !== undefined && tips.get(owner) === oldest) tips.delete(owner)
      }
    },
  }
}
