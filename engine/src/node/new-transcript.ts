// Writes records into a file that does not exist yet, whole or not at all. It never overwrites anything.
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import type { JsonObject } from '../core/message/json.ts'

export type NewTranscript =
  | { readonly type: 'written'; readonly records: number }
  | { readonly type: 'refused'; readonly reason: 'exists'; readonly path: string }

const together = 500

export function writeNewTranscript(path: string, give: (write: (record: JsonObject) => void) => void): NewTranscript {
  let file: number
  try {
    file = openSync(path, 'wx', 0o600)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      return { type: 'refused', reason: 'exists', path }
    }
    throw error
  }
  try {
    return { type: 'written', records: writeAll(file, give) }
  } catch (error) {
    unlinkSync(path) // Half a session is worse than none.
    throw error
  } finally {
    closeSync(file)
  }
}

function writeAll(file: number, give: Parameters<typeof writeNewTranscript>[1]): number {
  let count = 0
  let pending: string[] = []
  const flush = (): void => {
    const bytes = Buffer.from(pending.join(''))
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    pending = []
  }
  give((record) => {
    count++
    if (pending.push(`${JSON.stringify(record)}\n`) === together) flush()
  })
  flush()
  return count
}
