// Heads of conversations that no client named: the digest of everything up to a message, and its session. A request that
// continues such a conversation continues its session.

export type Head = {
  readonly digest: string
  readonly session: string
  /** The last answered point of the session: the digest of the newest answered message, and its depth. */
  readonly tip: Place | undefined
}

/** A message in its conversation: `depth` counts the messages up to it. */
export type Place = { readonly digest: string; readonly depth: number }

export type Claim = {
  readonly tenant: string
  /** From the first message to the last, each once. Never empty. */
  readonly places: readonly Place[]
  readonly newId: () => string
}

export type Claimed = {
  readonly session: string
  /** The session with the same beginning, if it continues differently. */
  readonly forkedFrom: string | undefined
}

/** Every call names the tenant, because digests are only valid within one tenant. */
export type Heads = {
  /**
   * The session of a conversation: an existing one that it continues, or a new one. Its messages lead there from now on. Of
   * several claims for the same conversation, in any order and from any process, all get the same session.
   */
  readonly claim: (claim: Claim) => Promise<Claimed>
  /** Records that the session was answered up to here. An earlier place changes nothing. */
  readonly answered: (tenant: string, session: string, place: Place) => Promise<void>
}

export type Decision = Claimed & {
  /** Places without a session so far. */
  readonly added: readonly Place[]
}

/** `known` are the heads that exist for digests of the claim. */
export function decide({ places, newId }: Claim, known: readonly Head[]): Decision {
  const byDigest = new Map(known.map((head) => [head.digest, head]))
  const at = places.findLastIndex(({ digest }) => byDigest.has(digest))
  const place = places[at]
  const head = place && byDigest.get(place.digest)
  const added = places.slice(at + 1)
  if (!place || !head) return { session: newId(), forkedFrom: undefined, added }
  // The whole request is known, so it is a repetition.
  const isRepeated = at === places.length - 1
  // Nothing was answered after the place that it continues.
  const { tip } = head
  const isNewest = tip === undefined || tip.digest === place.digest || place.depth > tip.depth
  if (isRepeated || isNewest) return { session: head.session, forkedFrom: undefined, added }
  return { session: newId(), forkedFrom: head.session, added }
}
