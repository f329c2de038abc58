// Copies of memory files that were injected earlier and stand further down again. It looks at attachments only.
import { textOf } from '../../message/block.ts'
import { isObject, stringAt } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'
import { clearedContext } from '../../transcript/view/effects.ts'
import type { View } from '../../transcript/view/fold.ts'
import type { PlannedItem, Situation } from '../mechanism.ts'

/** nested_memory of Claude Code and its likes: memory, memory_file, relevant_memories … */
const memoryKind = /(^|_)memor(y|ies)(_|$)/

/** All but the newest copy of each file. */
export function supersededMemory(view: View, { weigher }: Situation): readonly PlannedItem[] {
  const pins = new Set(view.pins)
  const later = new Set<string>()
  const found: PlannedItem[] = []
  const isMemory = ({ attachment }: ViewMessage) => attachment !== undefined && memoryKind.test(attachment)
  const copies = view.sources.flatMap(({ pieces }, message) =>
    pieces.some(isMemory) ? pieces.filter(isMemory).map((piece) => ({ message, piece })) : [],
  )
  for (const { message, piece } of copies.toReversed()) {
    const { uuid, attachment = '' } = piece
    if (uuid === undefined || textOf(piece.content) === clearedContext) continue
    const path = pathOfMemory(piece)
    const key = `${attachment} ${path ?? textOf(piece.content)}`
    if (!later.has(key)) later.add(key)
    else if (!pins.has(uuid)) {
      const tokens = weigher.content(piece.content)
      found.push({
        type: 'attachment',
        ...(path === undefined ? {} : { path }),
        uuids: [uuid],
        message,
        tokens: Math.round(tokens),
        frees: tokens - weigher.content(clearedContext),
        why: 'a newer copy stands further down',
      })
    }
  }
  return found.reverse()
}

/** Attachments without text of their own are shown as JSON; the path is in there. */
function pathOfMemory({ content }: ViewMessage): string | undefined {
  const text = textOf(content)
  if (!text.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? stringAt(value, 'path') : undefined
  } catch {
    return undefined
  }
}
