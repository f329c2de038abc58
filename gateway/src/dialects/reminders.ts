// Coding agents add their own notes to the user's messages, as blocks in a tag. They are not the user's words, so they become a
// separate message.
import { isText, isToolResult } from 'everlong/internal'
import type { Converted } from 'everlong/internal/wire'

/** `<system-reminder>…</system-reminder>`, which changes with every request. */
export function isReminder(text: string): boolean {
  return text.startsWith('<system-reminder>') && text.endsWith('</system-reminder>')
}

export function withoutReminders(message: Converted): readonly Converted[] {
  const { role, content } = message
  const notes = content.filter((block) => isText(block) && isReminder(block.text.trim()))
  if (role !== 'user' || notes.length === 0 || notes.length === content.length) return [message]
  const said = { ...message, content: content.filter((block) => !notes.includes(block)) }
  const apart: Converted = { role, content: notes, origin: 'meta' }
  // Nothing may come between a call and its result.
  return said.content.some(isToolResult) ? [said, apart] : [apart, said]
}
