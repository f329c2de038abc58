// The default summary of server-side compaction: plain, short, always the same.
import type { Message } from 'everlong'
import { isToolUse, textOf } from 'everlong/internal'
import type { Script } from '../script/script.ts'

const maxQuote = 400

export const defaultSummary: Script = (request) => {
  const messages = withoutInstruction(request.messages)
  const asked = messages
    .filter((message) => message.role === 'user')
    .map(spoken)
    .filter(Boolean)
  const said = messages
    .filter((message) => message.role === 'assistant')
    .map(spoken)
    .filter(Boolean)
  const lines = [
    `${messages.length} messages were summarized.`,
    `First asked: ${quote(asked[0])}`,
    `Last asked: ${quote(asked.at(-1))}`,
    `Tools used: ${toolsUsed(messages)}`,
    `Last said: ${quote(said.at(-1))}`,
  ]
  return { content: [{ type: 'text', text: `<summary>\n${lines.join('\n')}\n</summary>` }] }
}

/** The instruction to summarize is the last block of the last message. */
function withoutInstruction(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1)
  const content = Array.isArray(last?.content) ? last.content.slice(0, -1) : []
  const rest = messages.slice(0, -1)
  return content.length === 0 ? rest : [...rest, { role: 'user', content }]
}

function spoken(message: Message): string {
  const own = Array.isArray(message.content)
    ? message.content.filter((block) => block.type === 'text')
    : message.content
  return textOf(own).trim()
}

function quote(text: string | undefined): string {
  if (text === undefined || text === '') return '(nothing)'
  return text.length <= maxQuote ? text : `${text.slice(0, maxQuote)}…`
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
