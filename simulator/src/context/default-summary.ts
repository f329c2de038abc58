// The summary that server-side compaction writes when no script is given for it: plain, short, always the same.
import { isToolUse, type Message, textOf } from 'everlong'
import type { Script } from '../script/script.ts'

const longestQuote = 400

export const defaultSummary: Script = (request) => {
  // The last message is the instruction to summarise.
  const messages = request.messages.slice(0, -1)
  const asked = messages
    .filter((message) => message.role === 'user')
    .map(spoken)
    .filter(Boolean)
  const said = messages
    .filter((message) => message.role === 'assistant')
    .map(spoken)
    .filter(Boolean)
  const lines = [
    `${messages.length} messages were summarised.`,
    `First asked: ${quote(asked[0])}`,
    `Last asked: ${quote(asked.at(-1))}`,
    `Tools used: ${toolsUsed(messages)}`,
    `Last said: ${quote(said.at(-1))}`,
  ]
  return { content: [{ type: 'text', text: `<summary>\n${lines.join('\n')}\n</summary>` }] }
}

function spoken(message: Message): string {
  const own = Array.isArray(message.content)
    ? message.content.filter((block) => block.type === 'text')
    : message.content
  return textOf(own).trim()
}

function quote(text: string | undefined): string {
  if (text === undefined || text === '') return '(nothing)'
  return text.length <= longestQuote ? text : `${text.slice(0, longestQuote)}…`
}

function toolsUsed(messages: readonly Message[]): string {
  const counts = new Map<string, number>()
  for (const { content } of messages) {
    if (typeof content === 'string') continue
    for (const use of content.filter(isToolUse)) counts.set(use.name, (counts.get(use.name) ?? 0) + 1)
  }
  const list = [...counts].map(([name, count]) => `${name} ×${count}`).join(', ')
  return list === '' ? 'none' : list
}
