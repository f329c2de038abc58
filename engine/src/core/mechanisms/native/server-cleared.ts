// Records what the server left out by itself as an edit, for counting. The messages are still sent whole.
import { arrayAt, numberAt, objectAt } from '../../message/json.ts'
import type { Edit } from '../../transcript/format/edits.ts'
import type { View } from '../../transcript/view/fold.ts'

/** From `context_management.applied_edits`. Each answer reports the whole history, so the newest such edit counts. */
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

/** Tokens in the view that the model does not see. Usage accounts for them; an estimate does not. */
export function serverCleared({ edits }: View): number {
  const newest = edits.findLast(({ edit }) => edit.type === 'server-cleared')?.edit
  return newest?.type === 'server-cleared' ? newest.tokens : 0
}
