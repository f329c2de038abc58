// Where the records of a conversation are stored: a file with one writer, or memory. It only grows.
import type { JsonObject } from '../message/json.ts'
import type { Entry } from '../transcript/format/entry.ts'

export type StoreResult = { readonly type: 'stored' } | { readonly type: 'store-failed'; readonly why: string }

export type Store = {
  /** If it is a file. */
  readonly path?: string | undefined
  /** Several records are one write: all of them or none. */
  readonly append: (records: readonly JsonObject[]) => StoreResult
  /** Everything, oldest first: for an undo that reaches further back than memory does. */
  readonly entries: () => Iterable<Entry>
  readonly close: () => void
}

/** A record could not be written (full disk, lost lease). Thrown so that no message is lost unnoticed. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

export const noPosition = { line: 0, offset: 0, length: 0, nth: 0 } as const

export function memoryStore(): Store {
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
