// Where the records of one conversation are stored: memory, a file with one writer, or a database. It only grows.
import type { JsonObject } from '../message/json.ts'
import type { Entry } from '../transcript/format/entry.ts'

export type StoreResult =
  | { readonly type: 'stored' }
  /** `isFinal`: trying again is of no use. */
  | { readonly type: 'store-failed'; readonly why: string; readonly isFinal?: boolean }

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

/** Why a session was not opened: there is none, there is one already, another writer has it. */
export type NotOpened = 'missing' | 'exists' | 'held'

/** A record could not be written (full disk, lost lease). Thrown so that no message is lost unnoticed. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  /** If a session could not be opened although the store works. */
  readonly reason: NotOpened | undefined

  constructor(message: string, options: { readonly cause?: unknown; readonly reason?: NotOpened } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.reason = options.reason
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
