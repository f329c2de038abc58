// A conversation on disk whose tool results are put beside the session before an edit clears them from the view, where
// people and other clients look for them.

import { blocksOf, isToolResult } from '../../core/message/block.ts'
import type { Conversation } from '../../core/session/conversation.ts'
import type { Edit } from '../../core/transcript/format/edits.ts'
import { originalResults, storeResults } from './stored-results.ts'

/** `onProblem` hears why they could not be kept; the transcript has them all the same. */
export function keepingResults(
  conversation: Conversation,
  transcript: string,
  onProblem: (problem: string) => void,
): Conversation {
  return {
    ...conversation,
    edit: (edits) => {
      const results = clearedBy(conversation, edits)
      const stored = results.length === 0 ? undefined : storeResults(transcript, results)
      if (stored?.type === 'store-failed') onProblem(stored.message)
      return conversation.edit(edits)
    },
  }
}

/** As they were recorded. What left the view earlier was put there then. */
function clearedBy({ view, record }: Conversation, edits: readonly Edit[]) {
  const ids = new Set(edits.flatMap((edit) => (edit.type === 'clear-results' ? edit.toolUseIds : [])))
  if (ids.size === 0) return []
  const { messages, sources } = view()
  const items = messages.flatMap(({ content }, at) =>
    blocksOf(content).flatMap((block) =>
      isToolResult(block) && ids.has(block.tool_use_id)
        ? [{ toolUseId: block.tool_use_id, uuids: sources[at]?.uuids ?? [] }]
        : [],
    ),
  )
  const entry = (uuid: string) => {
    const found = record(uuid)
    return found && { record: found }
  }
  return originalResults({ entry }, items)
}
