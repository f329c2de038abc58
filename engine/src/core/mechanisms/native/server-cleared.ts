// What the server left out by itself: its report with an answer becomes an edit, so that local counting knows of it. The
// edit changes no message, since the history has to be sent as it is.
import { arrayAt, numberAt, objectAt } from '../../message/json.ts'
import type { Edit } from '../../transcript/format/edits.ts'
import type { View } from '../../transcript/view/fold.ts'

/**
 * What the server says in `context_management.applied_edits` of an answer, as the edit to append; none when it left
 * nothing out. Each answer tells of the whole history, so the newest such edit is the one that counts.
 */
export function appliedEdits(answer: unknown): readonly Edit[] {
  const applied = arrayAt(objectAt(answer, 'context_management'), 'applied_edits')
  const sum = (key: string) => applied.reduce<number>((total, edit) => total + (numberAt(edit, key) ?? 0), 0)
  const found = {
    toolUses: sum('cleared_tool_uses'),
    thinkingTurns: sum('cleared_thinking_turns'),
    tokens: sum('cleared_input_tokens'),
  }
  if (found.toolUses === 0 && found.thinkingTurns === 0 && found.tokens === 0) return []
  return [{ type: 'server-cleared', ...found, mechanism: 'native' }]
}

/** Tokens that are in the view but not in what the model sees. Usage knows of them; an estimate does not. */
export function serverCleared({ edits }: View): number {
  const newest = edits.findLast(({ edit }) => edit.type === 'server-cleared')?.edit
  return newest?.type === 'server-cleared' ? newest.tokens : 0
}
