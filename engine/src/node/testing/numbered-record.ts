// What the processes of a test write, so that it can be told afterwards who wrote what, in what order, and whole.
import { createHash } from 'node:crypto'

export type NumberedRecord = {
  readonly name: string
  readonly seq: number
  readonly token: string
  readonly text: string
  readonly sum: string
}

export function sumOf(record: Omit<NumberedRecord, 'sum'>): string {
  return createHash('sha256').update(`${record.name} ${record.seq} ${record.token} ${record.text}`).digest('hex')
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
