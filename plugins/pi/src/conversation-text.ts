// A conversation as one text, for a summary that any provider can write: no tools have to be declared for the calls in it.
// What was said or read cannot end its own part or begin another.
import type { Message } from 'everlong'
import { blocksOf, isText, isToolResult, isToolUse } from 'everlong/internal'

/** Characters of a tool result: what matters of longer ones is at their ends. */
const maxResultLength = 2_000
const ourTags = /<(?=\s*\/?\s*(?:conversation|said|tool-call|tool-result)\b)/gi

export function conversationText(messages: readonly Message[]): string {
  return `<conversation>\n${messages.flatMap(partsOf).join('\n\n')}\n</conversation>`
}

function partsOf({ role, content }: Message): readonly string[] {
  return blocksOf(typeof content === 'string' ? [{ type: 'text', text: content }] : content).flatMap((block) => {
    if (isText(block)) return block.text.trim() === '' ? [] : [`<said by="${role}">\n${quoted(block.text)}\n</said>`]
    if (isToolUse(block))
      return [`<tool-call>\n${quoted(`${block.name} ${JSON.stringify(block.input)}`)}\n</tool-call>`]
    if (isToolResult(block)) return [`<tool-result>\n${quoted(shortened(resultText(block.content)))}\n</tool-result>`]
    return []
  })
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content
  return blocksOf(content)
    .map((block) => (isText(block) ? block.text : `[${block.type}]`))
    .join('\n')
}

function shortened(text: string): string {
  if (text.length <= maxResultLength) return text
  const half = maxResultLength / 2
  const left = text.length - maxResultLength
  return `${text.slice(0, half).toWellFormed()}\n[… ${left} characters left out …]\n${text.slice(-half).toWellFormed()}`
}

function quoted(text: string): string {
  return text.replace(ourTags, '&lt;')
}
