// Writes a generated session into a file, a megabyte at a time.
import { closeSync, openSync, writeSync } from 'node:fs'
import { type SessionOptions, serialize, streamWithTruth } from 'everlong/internal/testing'

/** Returns how many entries its live window has. */
export function writeSession(path: string, options: SessionOptions): { readonly live: number } {
  const { records, truth } = streamWithTruth(options)
  const file = openSync(path, 'w')
  let pending = ''
  for (const record of records) {
    pending += serialize(record)
    if (pending.length < 1 << 20) continue
    writeSync(file, pending)
    pending = ''
  }
  writeSync(file, pending)
  closeSync(file)
  return { live: truth().live.uuids.length }
}
