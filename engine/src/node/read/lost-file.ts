// What the compactions of a transcript lost. Reads nothing on this machine but the file.
import { type Lost, lostIn } from '../../core/compaction/lost/lost.ts'
import { type JsonObject, stringAt } from '../../core/message/json.ts'
import type { Entry } from '../../core/transcript/format/entry.ts'
import type { Format } from '../../core/transcript/format/foreign/reader.ts'
import { entriesOfRecords } from './session-at.ts'
import { type LoadOptions, loadEntries, withoutTornCompaction } from './view-file.ts'

export type LostFile = Lost & {
  readonly path: string
  readonly format: Format
  readonly sessionId: string | undefined
  /** False if nothing in the file belongs to a conversation. */
  readonly isTranscript: boolean
}

/** At the start of a large file only the beginnings of long texts are compared. */
export function readLost(path: string, options: Pick<LoadOptions, 'onProgress'> = {}): LostFile {
  const { entries, format } = loadEntries(path, options)
  return lostFile(entries, { path, format })
}

/** The same for records that somebody holds in memory; `path` is where they are stored. */
export function lostOfRecords(records: readonly JsonObject[], path: string): LostFile {
  const { entries, format } = entriesOfRecords(records)
  return lostFile(entries, { path, format })
}

function lostFile(entries: readonly Entry[], file: Pick<LostFile, 'path' | 'format'>): LostFile {
  const last = entries.findLast(({ record }) => typeof record.uuid === 'string')?.record
  return {
    ...file,
    sessionId: stringAt(last, 'sessionId'),
    isTranscript: last !== undefined,
    ...lostIn(withoutTornCompaction(entries)),
  }
}
