// Does adding a message cost more when the conversation is long? Scanner and fold, as a session would use them.
import { performance } from 'node:perf_hooks'
import type { Entry } from 'everlong'
import { createFold, createScanner } from 'everlong/internal'
import { generateSession } from 'everlong/internal/testing'
import { median } from '../median.ts'

const batch = 200
const rounds = 15

export type AddingCost = { readonly messages: number; readonly microseconds: number }

/** Microseconds for each message added to conversations of these lengths, taking turns. */
export function addingCosts(lengths: readonly number[]): readonly AddingCost[] {
  const longest = Math.max(...lengths) + batch
  const records = [...generateSession({ seed: 11, turns: Math.ceil(longest / 10) })].slice(0, longest)
  const entries = records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } }))
  const timings = lengths.map(() => [] as number[])
  for (let round = 0; round < rounds; round++) {
    for (const [index, length] of lengths.entries()) timings[index]?.push(timeAdding(entries, length))
  }
  return lengths.map((messages, index) => ({ messages, microseconds: median(timings[index] ?? []) }))
}

function timeAdding(entries: readonly Entry[], length: number): number {
  const scanner = createScanner()
  const fold = createFold()
  const add = (entry: Entry) => {
    scanner.add(entry)
    fold.add(entry)
  }
  // The same messages are added in every case, so that only the length before them differs.
  const added = entries.slice(-batch)
  for (const entry of entries.slice(0, length)) add(entry)
  const began = performance.now()
  for (const entry of added) add(entry)
  return ((performance.now() - began) * 1000) / batch
}
