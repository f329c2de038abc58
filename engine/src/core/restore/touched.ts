// The files a session worked on, newest first, off its ledger.
import type { Ledger, Lines } from '../ledger/facts.ts'

export type TouchedFile = {
  readonly path: string
  /** Where the last changes lie, and what was last read; newest last. */
  readonly changed: readonly Lines[]
  readonly seen: readonly Lines[]
}

/** Read or edited; deleted ones too, so that it can be said that they are gone. Found by a search is not enough. */
export function touchedFiles({ files }: Ledger): readonly TouchedFile[] {
  return files
    .filter(({ act, reads, changes }) => act !== 'searched' && reads + changes > 0)
    .toSorted((a, b) => b.last - a.last)
    .map(({ path, changed, seen }) => ({ path, changed, seen }))
}
