// Data of a gateway next to the sessions: the books, heads of unnamed conversations, and notes about sessions.
import type { Books, Row } from '../books/book.ts'
import type { Heads } from '../identify/heads.ts'
import type { Uses } from '../limits/uses.ts'

/**
 * `watch`: the prompt cache of the session. `alone`: its sizes without the gateway. `compacted`: who wrote the newest summary that its
 * client asked for.
 */
export type NoteKind = 'watch' | 'alone' | 'compacted'

/** A short text per session and kind, which the next request of the session may need in any process. */
export type Notes = {
  readonly get: (tenant: string, session: string, kind: NoteKind) => Promise<string | undefined>
  readonly put: (tenant: string, session: string, kind: NoteKind, text: string) => Promise<void>
  readonly remove: (tenant: string, session: string, kind: NoteKind) => Promise<void>
}

export type Expiry = {
  readonly tenant: string
  /** Rows of the books before this time are removed, in milliseconds since 1970. */
  readonly before: number
}

export type State = {
  readonly books: Books
  readonly heads: Heads
  readonly notes: Notes
  /** Usage of keys, counted for all processes. Undefined if there is only one. */
  readonly uses?: Uses
  /** Tenants that have rows in the books. */
  readonly tenants: () => Promise<readonly string[]>
  /** A user's sessions according to the books. */
  readonly sessionsOf: (tenant: string, user: string) => Promise<readonly string[]>
  /** Removes data about sessions: heads and notes. Returns the number of rows. */
  readonly forget: (tenant: string, sessions: readonly string[]) => Promise<number>
  /** Removes the user, the key and the session from the rows of a user. Returns the number of rows. */
  readonly anonymize: (tenant: string, user: string) => Promise<number>
  /** Removes old rows of the books. Returns the number of rows. */
  readonly expire: (expiry: Expiry) => Promise<number>
  readonly close: () => Promise<void>
}

/** The columns of the books, in order. */
export const rowColumns = [
  ...['id', 'time', 'kind', 'tenant', 'key', 'user', 'session', 'api', 'upstream', 'model', 'level', 'status'],
  ...['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWriteHour', 'cost', 'cache', 'missCost', 'removed'],
  ...['saved', 'ms'],
] as const satisfies readonly (keyof Row)[]

/** A row of a database as a value: without columns that are NULL. */
export function withoutNulls(row: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}
