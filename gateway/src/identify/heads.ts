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
