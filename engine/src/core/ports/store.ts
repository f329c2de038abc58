// How writing to a session store ends, and why it fails.

export type StoreResult =
  | { readonly type: 'stored' }
  | { readonly type: 'store-failed'; readonly why: string; readonly reason?: StoreErrorReason | undefined }

export type StoreErrorReason =
  /** There is no such session. */
  | 'missing'
  /** There already is a session with this id. */
  | 'exists'
  /** Another writer has the session. */
  | 'held'
  /** This writer no longer has the session: another one took it over, or it was erased. Open it again. */
  | 'lost'
  /** The store cannot be reached, is busy or full. Trying again may help. */
  | 'unavailable'
  /** The login was refused, or a permission is missing. */
  | 'denied'
  /** A newer version of Everlong wrote the tables. */
  | 'newer'
  /** The session was opened with `read()`, which changes nothing. */
  | 'read-only'
  /** The session or the store was closed by this program. */
  | 'closed'
  /** An id, a record, a setting or the answer of a store of your own is not valid. */
  | 'invalid'
  | 'failed'

type StoreErrorOptions = { readonly cause?: unknown; readonly reason?: StoreErrorReason | undefined }

/** A session could not be opened, read or written. Thrown so that no message is lost unnoticed. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly reason: StoreErrorReason

  constructor(message: string, { cause, reason = 'failed' }: StoreErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}

/** Of an entry that is not in a file. */
export const noPosition = { line: 0, offset: 0, length: 0, nth: 0 } as const
