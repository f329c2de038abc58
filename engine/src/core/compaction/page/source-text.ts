// The texts of a message, one by one, tool inputs included. Thinking and media are left out.
import { type Block, blocksOf, isText, isToolResult, isToolUse, textOf } from '../../message/block.ts'
import { isObject } from '../../message/json.ts'
import type { ViewMessage } from '../../message/message.ts'

type Visit = (text: string) => void

export function eachText({ content }: Pick<ViewMessage, 'content'>, visit: Visit): void {
  if (typeof content === 'string') visit(content)
  else for (const block of blocksOf(content)) eachOf(block, visit)
}

function eachOf(block: Block, visit: Visit): void {
  if (isText(block)) visit(block.text)
  else if (isToolResult(block)) visit(typeof block.content === 'string' ? block.content : textOf(block.content))
  else if (isToolUse(block)) {
    visit(block.name)
    eachIn(block.input, visit)
  }
}

function eachIn(value: unknown, visit: Visit): void {
  if (typeof value === 'string') visit(value)
  else if (typeof value === 'number') visit(String(value))
  else if (Array.isArray(value)) for (const part of value) eachIn(part, visit)
  else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      visit(key)
      eachIn(value[key], visit)
    }
  }
}
