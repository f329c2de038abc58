// From the view to the messages of a request: repaired, without what only we know of a message, and on models that bind
// thinking to the prefix without the thinking that was bound to another one. The view stays as it is.
import { modelFacts } from '../catalog/models.ts'
import type { Content } from '../message/block.ts'
import type { Repair } from '../message/draft.ts'
import type { Message, Role } from '../message/message.ts'
import { repairRequest } from '../message/repair.ts'
import type { View } from './fold.ts'

export type RequestMessages = {
  readonly messages: readonly { readonly role: Role; readonly content: Content }[]
  readonly repairs: readonly Repair[]
}

export type RequestChoices = {
  /** The model that is asked; one that nobody knows is taken for one that binds thinking, which is the safe side. */
  readonly model?: string | undefined
  /** What is asked now, where the transcript does not have it yet. */
  readonly next?: readonly Message[] | undefined
}

export function requestMessages(view: View, { model, next = [] }: RequestChoices = {}): RequestMessages {
  const binds = model === undefined ? true : (modelFacts(model)?.bindsThinking ?? true)
  const { messages, repairs } = repairRequest([...view.messages, ...next], {
    thinking: binds ? 'strip-changed' : 'strip-unsigned',
    changed: view.changed,
  })
  return { messages: messages.map(({ role, content }) => ({ role, content })), repairs }
}
