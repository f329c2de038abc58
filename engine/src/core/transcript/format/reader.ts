// Reads the records of any known agent as entries in the Claude Code format, the only one that the rest of the code knows.
// Records of Claude Code and Everlong pass through unchanged; others are converted one by one, in file order.
import { isObject, type JsonObject } from '../../message/json.ts'
import type { RecordReader } from './entry.ts'
import { createCodexReader } from './foreign/codex.ts'
import { createCopilotReader } from './foreign/copilot.ts'
import { createCursorReader } from './foreign/cursor.ts'
import { createGeminiReader } from './foreign/gemini.ts'
import { createOpencodeReader } from './foreign/opencode.ts'
import { createPiReader } from './foreign/pi.ts'

const readers = {
  'claude-code': (): RecordReader => (record, position) => [{ record, position }],
  pi: createPiReader,
  codex: createCodexReader,
  copilot: createCopilotReader,
  gemini: createGeminiReader,
  cursor: createCursorReader,
  opencode: createOpencodeReader,
} as const

export type Format = keyof typeof readers

export type TranscriptReader = {
  readonly read: RecordReader
  /** Decided by the first record that identifies a format; Claude Code until then. */
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
  return readers[format]()
}

export function formatOf(record: JsonObject): Format | undefined {
  if ('projectHash' in record && 'sessionId' in record) return 'gemini'
  if ('uuid' in record || 'parentUuid' in record || 'sessionId' in record) return 'claude-code'
  if (record.type === 'summary' && 'leafUuid' in record) return 'claude-code'
  if (isObject(record.info) && Array.isArray(record.messages)) return 'opencode'
  if (isObject(record.payload) && typeof record.timestamp === 'string') return 'codex'
  if (isObject(record.data) && typeof record.type === 'string' && 'parentId' in record) return 'copilot'
  if (record.type === undefined && typeof record.role === 'string' && isObject(record.message)) return 'cursor'
  if (record.type === 'session' && 'cwd' in record) return 'pi'
  if (record.type === 'message' && isObject(record.message) && 'role' in record.message) return 'pi'
  return undefined
}
