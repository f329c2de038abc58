// The last compaction of a transcript, and whether the conversation continued after it.

import { type JsonObject, objectAt, readBoundary, stringAt } from 'everlong/internal'
import { forEachEntry } from 'everlong/internal/node'

export type LastCompaction = {
  readonly boundary: string
  /** The last entry of the conversation before it. */
  readonly before: string | undefined
  readonly isContinued: boolean
  /** Common fields of all records of the session. */
  readonly envelope: JsonObject
}

/** Undefined if there was none. */
export function lastCompaction(transcript: string): LastCompaction | undefined {
  let found: LastCompaction | undefined
  forEachEntry(transcript, ({ record }) => {
    const uuid = stringAt(record, 'uuid')
    if (record.isSidechain === true || uuid === undefined) return
    if (readBoundary(record)) found = { boundary: uuid, isContinued: false, ...placeOf(record) }
    else if (found && isAnswer(record)) found = { ...found, isContinued: true }
  })
  return found
}

function placeOf(record: JsonObject): Pick<LastCompaction, 'before' | 'envelope'> {
  const { cwd, sessionId, version, gitBranch, userType } = record
  return { before: stringAt(record, 'logicalParentUuid'), envelope: { cwd, sessionId, version, gitBranch, userType } }
}

/** Claude Code itself writes user messages after a boundary (the summary and kept messages), and its own text in the agent's name. */
function isAnswer(record: JsonObject): boolean {
  return record.type === 'assistant' && stringAt(objectAt(record, 'message'), 'model') !== '<synthetic>'
}
