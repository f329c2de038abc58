// What comes in: into the conversation at once, or held while something is under way that it must not disturb.
import type { Desk } from './desk.ts'
import type { GivenMessage } from './given.ts'
import { dequeueRecord, enqueueRecord, type HeldMessage } from './held.ts'
import { messageBodies } from './records.ts'
import { withAnswer, withHuman } from './tracking.ts'

export type Inbox = {
  /** Returns the uuids that the entries have, or will have. */
  readonly add: (message: GivenMessage, options: { readonly isHeld: boolean }) => readonly string[]
  /** Lets in what was held, in its order. */
  readonly release: () => void
}

/** `queued` is what another process left behind. */
export function createInbox(desk: Desk, queued: readonly HeldMessage[] = []): Inbox {
  let held = queued
  const operation = () => ({
    timestamp: new Date(desk.ports.now()).toISOString(),
    sessionId: desk.conversation.place().sessionId,
  })
  const take = ({ message, uuids }: HeldMessage) => {
    desk.conversation.append(messageBodies(message), uuids)
    if (message.role === 'assistant') desk.tracking = withAnswer(desk.tracking)
    if (isHuman(message)) desk.tracking = withHuman(desk.tracking, desk.ports.newId())
  }
  return {
    add: (message, { isHeld }) => {
      const one = { message, uuids: messageBodies(message).map(() => desk.ports.newId()) }
      if (isHeld) {
        desk.conversation.note([enqueueRecord(one, operation())])
        held = [...held, one]
      } else take(one)
      return one.uuids
    },
    release: () => {
      for (;;) {
        const [first, ...others] = held
        if (!first) return
        held = others
        take(first)
        desk.conversation.note([dequeueRecord(operation())])
      }
    },
  }
}

/** Something a person typed; results of tools and what clients inject are not. */
function isHuman({ role, origin, content }: GivenMessage): boolean {
  if (role !== 'user' || (origin !== undefined && origin !== 'human')) return false
  return typeof content === 'string' || content.some(({ type }) => type !== 'tool_result')
}
