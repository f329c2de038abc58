// The texts of a message that a model would read, one by one.
import { blocksOf, isText, isThinking, isToolResult, isToolUse, type Message, textOf } from 'everlong'

export function textsOf({ content }: Message): readonly string[] {
  return blocksOf(content).flatMap((block) => {
    if (isText(block)) return [block.text]
    if (isThinking(block)) return [String(block.thinking ?? '')]
    if (isToolUse(block)) return [block.name, JSON.stringify(block.input)]
    return isToolResult(block) ? [textOf(block.content)] : []
  })
}
