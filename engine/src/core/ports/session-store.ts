// The port for stores of sessions: in memory, as files in a folder, in a database. Sessions only grow, and one writer at a
// time holds each. testing/stores/contract.ts checks an implementation.
import { describeValue, isObject, type JsonObject } from '../message/json.ts'
import type { Pause } from '../text/slices.ts'
import type { Entry } from '../transcript/format/entry.ts'

/**
 * `id` is the record's uuid, or a new id if it has none. A retry sends the same ids. Otherwise ids are unique within a session:
 * an append that repeats one of `entries`, or one that this writer appended, is refused with the reason `invalid`.
 */
export type StoredRecord = { readonly id: string; readonly record: JsonObject }

/**
 * Calls throw a StoreError if the store cannot be used (unreachable, no permission, full disk). Two calls of a held session never
 * throw: `append` returns the failure, and `release` ignores it.
 */
export type SessionStore = {
  /** Takes the session for writing. */
  readonly open: (id: string, options: OpenOptions) => Promise<OpenResult>
  /** All records, oldest first, without taking the session. Empty if there is no such session. */
  readonly records: (id: string) => AsyncIterable<StoredRecord>
  /** Searches all sessions, best match first. Only stores with an index over them have it. */
  readonly search?: (words: string, limit: number) => Promise<Searched>
  /** Lists sessions by id. */
  readonly list: (options?: ListOptions) => Promise<readonly SessionInfo[]>
  /** Removes sessions and those of their sub-agents for good. Returns the number removed. */
  readonly erase: (which: Erasure) => Promise<number>
  /** Releases connections. Sessions that are still held cannot be written any more. A second call does nothing. */
  readonly close: () => Promise<void>
}

export type OpenOptions = {
  readonly as: 'new' | 'existing'
  /** Name of the writer, shown to others who find the session held. */
  readonly owner?: string | undefined
  /** The user of a new session, for erasure. */
  readonly user?: string | undefined
  /** The parent session of a new sub-agent. */
  readonly parent?: string | undefined
  /** The records come from another store and are stored unchanged, even with duplicate uuids and missing parents. */
  readonly isCopy?: boolean
  /** The writer only appends, so a store that would have to read the records leaves `entries` empty. */
  readonly isAppendOnly?: boolean
}

export type OpenResult =
  | { readonly type: 'opened'; readonly session: HeldSession }
  | { readonly type: 'missing' | 'exists'; readonly why?: string | undefined }
  /** `by` is the name that the owner gave. `holder` is the `cause` of the error that `open()` of an engine throws. */
  | { readonly type: 'held'; readonly by: string; readonly why: string; readonly holder?: unknown }

/** A session that this writer holds. */
export type HeldSession = {
  readonly id: string
  /** The path of the transcript, if it is a file. */
  readonly path?: string | undefined
  /** The version of the session when it was opened. Grows with every append. */
  readonly version: number
  /** All entries, or enough to compute the view, in order. */
  readonly entries: readonly Entry[]
  readonly isWhole: boolean
  /**
   * Adds all records immediately or none. Only for stores that need not wait. The call that added a message then throws if it
   * cannot be stored. Without this function, records are queued and sent in the background with `append`.
   */
  readonly appendNow?: (records: readonly JsonObject[]) => StoreResult
  /**
   * Adds all records after version `expected`, or none. If exactly these records are already there, reports them as stored, so
   * that a retry never stores a record twice.
   */
  readonly append: (records: readonly StoredRecord[], expected: number) => Promise<Appended>
  /** Makes appended records survive a power cut. Called at the end of each call of the session. */
  readonly sync?: () => StoreResult
  /** All entries, oldest first. */
  readonly all: () => Promise<readonly Entry[]>
  /** The ids of the records after this version, oldest first. Only for stores whose versions count records. */
  readonly idsAfter?: (version: number) => Promise<readonly string[]>
  /** A store that reads much text for a search may call `pause` from time to time, so that it does not block the event loop. */
  readonly recall: (words: string, limit: number, pause?: Pause) => Promise<Recalled>
  readonly read: (id: string) => Promise<string | undefined>
  /** Lets others write. Never throws. A session that cannot be released becomes free when its lease ends. */
  readonly release: () => Promise<void>
}

export type Appended =
  | { readonly type: 'stored'; readonly version: number }
  /**
   * Another attempt is useless. The reason is `lost` if another writer has the session or it was erased, `closed` after
   * `release`, and `failed` by default.
   */
  | { readonly type: 'refused'; readonly why: string; readonly reason?: StoreErrorReason | undefined }
  /** It is unknown whether the records were stored. Another attempt may help. */
  | { readonly type: 'unavailable'; readonly why: string }

/** Why an append failed, for a StoreError. */
export function reasonOf(failure: Exclude<Appended, { readonly type: 'stored' }>): StoreErrorReason {
  return failure.type === 'unavailable' ? 'unavailable' : (failure.reason ?? 'failed')
}

export type ListOptions = {
  readonly user?: string
  /** Only ids after this one, for the next page. */
  readonly after?: string
  /** Default: 1,000. */
  readonly limit?: number
}

export type SessionInfo = {
  readonly id: string
  readonly user?: string
  readonly parent?: string
  /** Time of the last append, ISO. */
  readonly changed: string
  readonly isHeld: boolean
}

/** Sessions by id, all sessions of a user, or sessions that nobody holds and that have not changed for this number of days. */
export type Erasure =
  | { readonly sessions: readonly string[] }
  | { readonly user: string }
  | { readonly unchangedForDays: number }

/** Results of a search, unless the caller sets a limit. */
export const defaultRecallLimit = 10

/** What a search of a session returns. */
export type Recalled = { readonly matches: readonly RecallMatch[]; readonly more: boolean }

/** What a search of all sessions returns. */
export type Searched = {
  readonly matches: readonly (RecallMatch & { readonly session: string })[]
  readonly more: boolean
}

export type RecallMatch = {
  readonly id: string
  readonly kind: string
  readonly time: string | undefined
  /** Set for a tool call or its result: `read` with this id returns the result. */
  readonly toolUseId?: string | undefined
  readonly snippet: string
}

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

/** The position of an entry that is not in a file. */
export const noPosition = { line: 0, offset: 0, length: 0, nth: 0 } as const

/** Turns records of a store into the entries of a session, for `HeldSession.entries` and `all()`. */
export function entriesOf(records: readonly Pick<StoredRecord, 'record'>[]): readonly Entry[] {
  return records.map(({ record }) => ({ record, position: noPosition }))
}

const plainName = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/

/** In a folder, the files of a session "x.jsonl" would be where the session "x" has its transcript. */
export const transcriptName = /\.jsonl/i

const subagents = '/subagents/'

/** The id of a sub-agent's own session. */
export function subagentId(session: string, name: string): string {
  return `${session}${subagents}${name}`
}

/** Throws a StoreError unless a new session may have this id. A copy keeps the id that it has in the other store. */
export function checkNewSessionId(id: string, { parent, isCopy }: Pick<OpenOptions, 'parent' | 'isCopy'> = {}): void {
  if (isCopy) return
  const start = parent === undefined ? '' : subagentId(parent, '')
  const name = id.startsWith(start) ? id.slice(start.length) : ''
  if (plainName.test(name) && !transcriptName.test(name)) return
  const shown = JSON.stringify(id.length > 100 ? `${id.slice(0, 100)}…` : id)
  const where = parent === undefined ? '' : ` after "${start.slice(0, 200)}"`
  throw new StoreError(
    `${shown} cannot be the id of a session. Use 1 to 128 letters, digits, ".", "_" and "-"${where}, with a letter or digit first and without ".jsonl".`,
    { reason: 'invalid' },
  )
}

/** Throws a StoreError if the result has the wrong shape. */
export async function openIn(store: Pick<SessionStore, 'open'>, id: string, options: OpenOptions): Promise<OpenResult> {
  const result: unknown = await store.open(id, options)
  if (isOpenResult(result)) return result
  throw new StoreError(
    `open() of the session store returned ${shapeOf(result)}. It must return { type } with "opened" and a session, "missing", "exists" or "held".`,
    { reason: 'invalid' },
  )
}

export async function appendTo(
  session: HeldSession,
  records: readonly StoredRecord[],
  expected: number,
): Promise<Appended> {
  const result: unknown = await session.append(records, expected)
  if (isAppended(result)) return result
  const why = `append() of the session store returned ${shapeOf(result)}. It must return { type } with "stored" and a version, or "refused" or "unavailable" and why.`
  return { type: 'refused', why, reason: 'invalid' }
}

function isOpenResult(value: unknown): value is OpenResult {
  if (!isObject(value)) return false
  const { type, session, by, why } = value
  if (type === 'opened') return isHeldSession(session)
  if (type === 'held') return typeof by === 'string' && typeof why === 'string'
  return type === 'missing' || type === 'exists'
}

const calls = ['append', 'all', 'recall', 'read', 'release'] as const

function isHeldSession(value: unknown): value is HeldSession {
  if (!isObject(value)) return false
  const { version, entries, isWhole } = value
  const hasCalls = calls.every((name) => typeof value[name] === 'function')
  return hasCalls && typeof version === 'number' && Array.isArray(entries) && typeof isWhole === 'boolean'
}

function isAppended(value: unknown): value is Appended {
  if (!isObject(value)) return false
  const { type, version, why } = value
  if (type === 'stored') return typeof version === 'number'
  return (type === 'refused' || type === 'unavailable') && typeof why === 'string'
}

function shapeOf(value: unknown): string {
  return isObject(value)
    ? `an object with ${Object.keys(value).slice(0, 10).join(', ') || 'no fields'}`
    : describeValue(value)
}
