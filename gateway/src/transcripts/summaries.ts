// Recognizes a conversation that the client has compacted: one of its first messages begins like a client's summary.
import { isText } from 'everlong/internal'
import type { Asked } from '../dialects/dialect.ts'

const beginnings: readonly RegExp[] = [
  // Claude Code
  /^This session is being continued from a previous conversation/,
  // Everlong
  /^This conversation continues from an earlier one/,
  // Codex
  /^Another language model started to solve this problem and produced a summary/,
  // pi
  /^The conversation history before this point was compacted into the following summary/,
]

export function isClientSummary(messages: Asked['messages']): boolean {
  return messages
    .slice(0, 3)
    .some(({ content }) =>
      content.some((block) => isText(block) && beginnings.some((beginning) => beginning.test(block.text.trimStart()))),
    )
}
