// Messages as the next request would carry them, and what each came from.
import type { Content } from './block.ts'
import type { Usage } from './usage.ts'

export type Role = 'user' | 'assistant'

/** Who put a message into the conversation. */
export type Origin =
  | 'human' // typed by a person
  | 'agent' // asked of a sub-agent by the agent that started it
  | 'assistant'
  | 'tool-result'
  | 'summary' // written by a compaction
  | 'attachment' // context the client injected as an attachment record
  | 'meta' // any other text the client injected: command output, caveats, reminders

/** What the conversation is for: a person's words, or in a sub-agent's conversation those of another agent. */
export function isRequest(origin: Origin): boolean {
  return origin === 'human' || origin === 'agent'
}

export type Message = {
  readonly role: Role
  readonly content: Content
}

export type ViewMessage = Message & {
  readonly origin: Origin
  readonly uuid?: string
  /** Milliseconds since 1970, when the record has a readable timestamp. */
  readonly time?: number
  /** The API's id: messages that share it are pieces of one answer. */
  readonly messageId?: string
  readonly model?: string
  /** As reported with the answer. Absent on synthetic messages, whose zeros mean nothing. */
  readonly usage?: Usage
  readonly attachment?: string
}
