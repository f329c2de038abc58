// The facts of a transcript without its view. Reading continues where the last reading ended. For programs that start often and
// must answer at once.
import type { Ledger } from '../../core/ledger/facts.ts'
import { fromJson, toJson } from '../../core/ledger/json.ts'
import { createLedger } from '../../core/ledger/ledger.ts'
import { isObject, type JsonObject, numberAt, stringAt } from '../../core/message/json.ts'
import { messageOf } from '../../core/transcript/format/messages.ts'
import { markAt } from '../index/cache-place.ts'
import { forEachEntry } from './entries.ts'

export type LedgerFile = {
  readonly ledger: Ledger
  /** The position where the next reading continues, as JSON that can be stored anywhere. */
  readonly mark: JsonObject
  readonly bytesRead: number
}

/**
 * Reads everything after the mark of an earlier reading, or the whole file if there is no mark or the mark belongs to another
 * file. Rules are exact in both cases; of older exchanges, a mark keeps only the most important ones.
 */
export function readLedger(path: string, mark?: unknown): LedgerFile {
  const from = startOf(path, mark)
  const book = createLedger(from > 0 && isObject(mark) ? fromJson(mark.ledger) : undefined)
  const known = new Set<unknown>()
  /** Start and end of the last line, which may still grow. */
  let last = { start: from, end: from }
  const { format, bytes } = forEachEntry(
    path,
    ({ record, position }) => {
      last = { start: position.offset, end: position.offset + position.length + 1 }
      if (record.isSidechain === true || known.has(record.uuid ?? record)) return
      known.add(record.uuid ?? record)
      const message = messageOf(record)
      if (message) book.add(message, record)
    },
    { from },
  )
  const ledger = book.ledger()
  // Other formats can only be read from their start.
  const end = format === 'claude-code' ? (last.end <= Math.max(bytes, from) ? last.end : last.start) : 0
  const next = { bytes: end, fingerprint: markAt(path, end), ledger: toJson(ledger) }
  return { ledger, mark: next, bytesRead: Math.max(bytes, from) - from }
}

/** The position to continue from; 0 if the mark does not fit the file. */
function startOf(path: string, mark: unknown): number {
  const bytes = numberAt(mark, 'bytes') ?? 0
  if (!Number.isSafeInteger(bytes) || bytes <= 0) return 0
  return markAt(path, bytes) === stringAt(mark, 'fingerprint') ? bytes : 0
}
