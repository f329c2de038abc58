// A transcript that this process holds, as a store sees it.
import { closeSync, fstatSync, openSync, statSync } from 'node:fs'
import type { Appended, HeldSession, StoredRecord } from '../../core/ports/session-store.ts'
import { readFully } from '../../node/read/lines.ts'
import { recallOnDisk } from '../../node/session/recall-on-disk.ts'
import type { SessionFile } from '../../node/session/session-file.ts'

type OpenedFile = Extract<SessionFile, { readonly type: 'opened' }>

export function heldFile(id: string, path: string, { store, entries, isWhole }: OpenedFile): HeldSession {
  let isReleased = false
  const append = (records: readonly StoredRecord[], expected: number): Appended => {
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) return { type: 'refused', why: `${path} was removed.` }
    if (isReleased) return { type: 'refused', why: `${path} is closed. Open it again to write.` }
    if (size !== expected) return alreadyThere(path, records, expected)
    const result = store.append(records.map(({ record }) => record))
    if (result.type === 'stored') return { type: 'stored', version: statSync(path).size }
    return { type: result.isFinal ? 'refused' : 'unavailable', why: result.why }
  }
  return {
    id,
    path,
    version: statSync(path).size,
    entries,
    isWhole,
    append: async (records, expected) => append(records, expected),
    all: async () => [...(await store.entries())],
    ...recallOnDisk(path, store.entries),
    release: async () => {
      isReleased = true
      await store.close()
    },
  }
}

/** Compares bytes: records without a uuid have no id in the file. */
function alreadyThere(path: string, records: readonly StoredRecord[], expected: number): Appended {
  const sent = Buffer.from(records.map(({ record }) => `${JSON.stringify(record)}\n`).join(''))
  const file = openSync(path, 'r')
  try {
    const found = Buffer.alloc(Math.max(0, Math.min(sent.length, fstatSync(file).size - expected)))
    readFully(file, found, expected)
    if (found.equals(sent)) return { type: 'stored', version: expected + sent.length }
    return { type: 'refused', why: `${path} has changed: it no longer ends where this writer expects it to.` }
  } finally {
    closeSync(file)
  }
}
