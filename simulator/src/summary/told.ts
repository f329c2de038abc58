// Conversations that were written out as one text, as libraries hand them to the model that summarizes: read back into
// messages by the names before what each side said. Calls inside the text stay text.
import type { Message } from 'everlong'

const label = /^\[?(Human|User|AI|Assistant|Tool|Assistant thinking|Assistant tool calls|Tool result)\]?: ?/gm
const earlier = /<previous-summary>\n([\s\S]*?)\n<\/previous-summary>/

const roles: Readonly<Record<string, Message['role']>> = {
  Human: 'user',
  User: 'user',
  AI: 'assistant',
  Assistant: 'assistant',
}

/** The words of people and the assistant, in order. Skips text of tools and thinking. */
export function conversationIn(text: string): readonly Message[] {
  const whole = text.replace(/\n<\/(messages|conversation)>[\s\S]*$/, '')
  const labels = [...whole.matchAll(label)]
  const before = earlier.exec(text)?.[1]
  const said = labels.flatMap((found, at): readonly Message[] => {
    const role = roles[found[1] ?? '']
    const words = whole.slice(found.index + found[0].length, labels[at + 1]?.index).trim()
    return role && words !== '' ? [{ role, content: [{ type: 'text', text: words }] }] : []
  })
  return before === undefined ? said : [{ role: 'user', content: [{ type: 'text', text: before }] }, ...said]
}
