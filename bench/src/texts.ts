// The texts of a message that a model would read, one by one.
import type { Message } from 'everlong'
import { blocksOf, isText, isThinking, isToolResult, isToolUse, textOf } from 'everlong/internal'

export function textsOf({ content }: Message): readonly string[] {
  return blocksOf(content).flatMap((block) => {
    if (isText(block)) return [block.text]
    if (isThinking(block)) return [String(block.thinking ?? '')]
    if (isToolUse(block)) return [block.name, JSON.stringify(block.input)]
    return isToolResult(block) ? [textOf(block.content)] : []
  })
}
