// Where a conversation's records go, as core sees it: a file with one writer, or memory. It only ever grows.
import type { JsonObject } from '../message/json.ts'
import type { Entry } from '../transcript/format/entry.ts'

export type StoreResult = { readonly type: 'stored' } | { readonly type: 'store-failed'; readonly why: string }

export type Store = {
  /** Where it lies, when it is a file. */
  readonly path?: string | undefined
  /** Several records together are one write: all of them or none. */
  readonly append: (records: readonly JsonObject[]) => StoreResult
  /** Everything, oldest first: for an undo that reaches further back than what is held in memory. */
  readonly entries: () => Iterable<Entry>
  readonly close: () => void
}

/** A record could not be written: a full disk, a lost lease. Thrown, so that no message is lost unnoticed. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

export const noPosition = { line: 0, offset: 0, length: 0, nth: 0 } as const

/** For conversations that nobody wants on disk. */
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
