// The deferred tools that a conversation has loaded: a search for tools answers with references to them.
import { blocksOf, isToolResult } from '../message/block.ts'
import { arrayAt, isObject, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'

export function discoveredTools(messages: readonly ViewMessage[]): readonly string[] {
  const names = new Set<string>()
  for (const { content } of messages) {
    for (const block of blocksOf(content)) {
      if (!isToolResult(block)) continue
      for (const part of arrayAt(block, 'content').filter(isObject)) {
        const name = part.type === 'tool_reference' ? stringAt(part, 'tool_name') : undefined
        if (name !== undefined) names.add(name)
      }
    }
  }
  return [...names]
}
