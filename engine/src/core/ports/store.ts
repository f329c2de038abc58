// Where the records of one conversation are stored: memory, a file with one writer, or a database. It only grows.
import type { JsonObject } from '../message/json.ts'
import type { Entry } from '../transcript/format/entry.ts'

export type StoreResult =
  | { readonly type: 'stored' }
  | { readonly type: 'store-failed'; readonly why: string; readonly reason?: StoreErrorReason | undefined }

export type Store = {
  /** If it is a file. */
  readonly path?: string | undefined
  /** Several records are one write: all of them or none. A store with `flush` only takes them down, in order. */
  readonly append: (records: readonly JsonObject[]) => StoreResult
  /** Waits until everything appended is stored. A call after a failure tries the same records again. */
  readonly flush?: () => Promise<StoreResult>
  /** Everything, oldest first: for an undo that reaches further back than memory does. Throws a StoreError. */
  readonly entries: () => Iterable<Entry> | Promise<Iterable<Entry>>
  readonly close: () => void | Promise<void>
}

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

export const noPosition = { line: 0, offset: 0, length: 0, nth: 0 } as const

export function memoryStore(): { readonly entries: () => readonly Entry[] } & Store {
  const all: Entry[] = []
  return {
    append: (records) => {
      for (const record of records) all.push({ record, position: noPosition })
      return { type: 'stored' }
    },
    entries: () => all,
    close: () => undefined,
  }
}
