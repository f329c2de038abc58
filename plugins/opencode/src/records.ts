// The messages of an opencode session as records in the Claude Code format, in which the archive reads them.
import { createTranscriptReader, type JsonObject } from 'everlong/internal'
import type { SessionMessage } from './opencode-api.ts'

const position = { line: 1, offset: 0, length: 0, nth: 0 }

export function recordsOf(messages: readonly SessionMessage[]): readonly JsonObject[] {
  // The session in the form of `opencode export`.
  const exported = { info: { id: messages[0]?.info.sessionID }, messages }
  const [, ...entries] = createTranscriptReader().read(exported, position)
  return entries.map(({ record }) => record)
}
