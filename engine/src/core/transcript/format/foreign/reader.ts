// Reads records of any known agent as entries in the Claude Code format, which all the rest of the code understands.
// The records of Claude Code pass through as they are; those of others are converted one by one, in file order.
import { isObject, type JsonObject } from '../../../message/json.ts'
import type { RecordReader } from '../entry.ts'
import { createCodexReader } from './codex.ts'
import { createPiReader } from './pi.ts'

export type Format = 'claude-code' | 'pi' | 'codex'

export type TranscriptReader = {
  readonly read: RecordReader
  /** Known from the first record that tells; Claude Code's until then. */
  readonly format: () => Format
}

export function createTranscriptReader(): TranscriptReader {
  let format: Format | undefined
  let read = createRecordReader('claude-code')
  return {
    format: () => format ?? 'claude-code',
    read: (record, position) => {
      if (format === undefined) {
        format = formatOf(record)
        read = createRecordReader(format ?? 'claude-code')
      }
      return read(record, position)
    },
  }
}

export function createRecordReader(format: Format): RecordReader {
  if (format === 'pi') return createPiReader()
  if (format === 'codex') return createCodexReader()
  return (record, position) => [{ record, position }]
}

export function formatOf(record: JsonObject): Format | undefined {
  if ('uuid' in record || 'parentUuid' in record || 'sessionId' in record) return 'claude-code'
  if (record.type === 'summary' && 'leafUuid' in record) return 'claude-code'
  if (isObject(record.payload) && typeof record.timestamp === 'string') return 'codex'
  if (record.type === 'session' && 'cwd' in record) return 'pi'
  if (record.type === 'message' && isObject(record.message) && 'role' in record.message) return 'pi'
  return undefined
}
