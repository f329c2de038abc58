// The port for stores of sessions: in memory, as files in a folder, in a database. Sessions only grow, and one writer at a
// time holds each. testing/stores/contract.ts checks an implementation.
import type { JsonObject } from '../message/json.ts'
import type { Entry } from '../transcript/format/entry.ts'
import type { StoreErrorReason, StoreResult } from './store.ts'

/**
 * `id` is the record's uuid, or a new id if it has none. A retry sends the same ids. Otherwise ids are unique within a session: a
 * store may refuse an append that repeats an id (with the reason `invalid`). The contract does not test repeated ids.
 */
export type StoredRecord = { readonly id: string; readonly record: JsonObject }

/**
 * When the store cannot be used (unreachable, no permission, full disk), calls throw a StoreError. Two calls of a held session
 * never throw: `append` returns the failure, and `release` ignores it.
 */
export type SessionStore = {
  /** Takes the session for writing. */
  readonly open: (id: string, options: OpenOptions) => Promise<OpenResult>
  /** Everything, oldest first, without taking the session. Nothing when there is no such session. */
  readonly records: (id: string) => AsyncIterable<StoredRecord>
  /** By id. */
  readonly list: (options?: ListOptions) => Promise<readonly SessionInfo[]>
  /** Removes sessions for good, and those of their sub-agents. Returns how many. */
  readonly erase: (which: Erasure) => Promise<number>
  /** Releases connections. Sessions that are still held cannot be written any more. */
  readonly close: () => Promise<void>
}

export type OpenOptions = {
  readonly as: 'new' | 'existing'
  /** Who writes, for those who find the session held. */
  readonly owner?: string | undefined
  /** Whose session it is, for erasure. Only when it is new. */
  readonly user?: string | undefined
  /** The session whose sub-agent this is. Only when it is new. */
  readonly parent?: string | undefined
  /** The records come from another store and are taken as they are: twice the same uuid, parents that are not there. */
  readonly isCopy?: boolean
}

export type OpenResult =
  | { readonly type: 'opened'; readonly session: HeldSession }
  | { readonly type: 'missing' | 'exists'; readonly why?: string | undefined }
  /** `by` is the owner as it called itself. `holder` is the `cause` of the error that `open()` of an engine throws. */
  | { readonly type: 'held'; readonly by: string; readonly why: string; readonly holder?: unknown }

/** A session that this writer holds. */
export type HeldSession = {
  readonly id: string
  /** Of the transcript, if it is a file. */
  readonly path?: string | undefined
  /** The version the session had when it was opened. It grows with every append. */
  readonly version: number
  /** In order: all, or enough to compute the view. */
  readonly entries: readonly Entry[]
  readonly isWhole: boolean
  /**
   * Adds records at once: all of them or none. Only for stores that need not wait. The call that added a message then
   * throws if it cannot be stored; without it, records are queued and sent in the background with `append`.
   */
  readonly appendNow?: (records: readonly JsonObject[]) => StoreResult
  /**
   * Adds records after the `expected` version: all of them or none. If exactly these are there already, they are
   * reported as stored, so that a retry never stores a record twice.
   */
  readonly append: (records: readonly StoredRecord[], expected: number) => Promise<Appended>
  /** Everything, oldest first. */
  readonly all: () => Promise<readonly Entry[]>
  readonly recall: (words: string, limit: number) => Promise<Recalled>
  readonly read: (id: string) => Promise<string | undefined>
  /** Lets others write. Never throws: a session that cannot be released is free when its lease ends. */
  readonly release: () => Promise<void>
}

export type Appended =
  | { readonly type: 'stored'; readonly version: number }
  /**
   * Trying again is of no use. The reason is `lost` if another writer has the session or it was erased, `closed` after
   * `release`, and `failed` if none is given.
   */
  | { readonly type: 'refused'; readonly why: string; readonly reason?: StoreErrorReason | undefined }
  /** Whether the records were stored is unknown. Trying again may help. */
  | { readonly type: 'unavailable'; readonly why: string }

/** Why an append failed, for a StoreError. */
export function reasonOf(failure: Exclude<Appended, { readonly type: 'stored' }>): StoreErrorReason {
  return failure.type === 'unavailable' ? 'unavailable' : (failure.reason ?? 'failed')
}

export type ListOptions = {
  readonly user?: string
  /** Only ids behind this one, for the next page. */
  readonly after?: string
  /** Default: 1,000. */
  readonly limit?: number
}

export type SessionInfo = {
  readonly id: string
  readonly user?: string
  readonly parent?: string
  /** Of the last append, ISO. */
  readonly changed: string
  readonly isHeld: boolean
}

/** Sessions by id, all of a user, or those that nobody holds and that have not changed for so many days. */
export type Erasure =
  | { readonly sessions: readonly string[] }
  | { readonly user: string }
  | { readonly unchangedForDays: number }

/** What a search of a session returns. */
export type Recalled = { readonly matches: readonly RecallMatch[]; readonly more: boolean }

export type RecallMatch = {
  readonly id: string
  readonly kind: string
  readonly time: string | undefined
  readonly snippet: string
}
