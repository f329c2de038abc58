// Writes a new file completely or not at all. It never overwrites anything.
import { closeSync, openSync, unlinkSync, writeSync } from 'node:fs'
import type { JsonObject } from '../../core/message/json.ts'

export type Exists = { readonly type: 'refused'; readonly reason: 'exists'; readonly path: string }

export type NewTranscript = { readonly type: 'written'; readonly records: number } | Exists

const batchSize = 500

export function writeNewTranscript(path: string, give: (write: (record: JsonObject) => void) => void): NewTranscript {
  let records = 0
  const exists = writeNewFile(path, (write) =>
    give((record) => {
      records++
      write(`${JSON.stringify(record)}\n`)
    }),
  )
  return exists ?? { type: 'written', records }
}

/** Undefined on success. A failure leaves no file: half of one is worse than none. */
export function writeNewFile(path: string, give: (write: (text: string) => void) => void): Exists | undefined {
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
    writeAll(file, give)
    return undefined
  } catch (error) {
    unlinkSync(path)
    throw error
  } finally {
    closeSync(file)
  }
}

function writeAll(file: number, give: Parameters<typeof writeNewFile>[1]): void {
  let pending: string[] = []
  const flush = (): void => {
    const bytes = Buffer.from(pending.join(''))
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
    pending = []
  }
  give((text) => {
    if (pending.push(text) === batchSize) flush()
  })
  flush()
}
