// Which files a stretch of messages shows as they are now. A pointer to an older read, a cleared result, a part of a
// file, or a read that was changed since does not count.
import { blocksOf, isToolResult, isToolUse, type ToolUseBlock, textOf } from '../message/block.ts'
import { isObject, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { fileEventOf } from '../tokens/file-reads.ts'
import { isPointer } from '../tokens/stale-reads.ts'
import { clearedText } from '../transcript/messages.ts'

export function visibleFiles(messages: readonly ViewMessage[]): ReadonlySet<string> {
  const visible = new Set<string>()
  const calls = new Map<string, ToolUseBlock>()
  for (const message of messages) {
    const attached = attachedFile(message)
    if (attached !== undefined) visible.add(attached)
    for (const block of blocksOf(message.content)) {
      if (isToolUse(block)) calls.set(block.id, block)
      const call = isToolResult(block) ? calls.get(block.tool_use_id) : undefined
      const event = call && isToolResult(block) ? fileEventOf({ call, result: block }) : undefined
      if (event?.type === 'changed') for (const path of event.paths) visible.delete(path)
      if (event?.type !== 'read') continue
      const isWhole = event.read.from === 1 && event.read.to === Number.POSITIVE_INFINITY
      const isCleared = textOf([event.read.result]).startsWith(clearedText)
      if (isWhole && !isCleared && !isPointer(event.read.result)) visible.add(event.read.path)
    }
  }
  return visible
}

/** A file that a client injected: its record comes as JSON. */
function attachedFile({ attachment, content }: ViewMessage): string | undefined {
  if (attachment !== 'file' || typeof content !== 'string') return undefined
  try {
    const value: unknown = JSON.parse(content)
    return isObject(value) ? stringAt(value, 'filename') : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
