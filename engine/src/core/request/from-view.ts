// From the view to the messages of a request: repaired, without what only we know of a message, and without thinking that
// the model bound to another prefix. The view stays as it is.
import { modelFacts } from '../catalog/models.ts'
import type { Message } from '../message/message.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Repair } from './draft.ts'
import { repairRequest } from './repair.ts'

export type RequestMessages = {
  readonly messages: readonly Message[]
  readonly repairs: readonly Repair[]
}

export type RequestChoices = {
  /** The model that is asked. An unknown one is taken to bind thinking, which is the safe side. */
  readonly model?: string | undefined
  /** Whether that model binds thinking to the prefix, for who knows better. */
  readonly bindsThinking?: boolean | undefined
  /** What is asked now, where the transcript does not have it yet. */
  readonly next?: readonly Message[] | undefined
}

export function requestMessages(view: View, choices: RequestChoices = {}): RequestMessages {
  const { model, bindsThinking, next = [] } = choices
  const binds = bindsThinking ?? (model === undefined ? true : (modelFacts(model)?.bindsThinking ?? true))
  const messages = [...view.messages, ...next].map(({ role, content }): Message => ({ role, content }))
  return repairRequest(messages, binds ? { thinking: 'strip-changed', changed: voidedIn(view, model) } : {})
}

/** Answers whose thinking is void on a model that binds it: given on another prefix, or by another model. */
function voidedIn({ messages, changed }: View, model: string | undefined): ReadonlySet<number> {
  if (model === undefined) return changed
  const facts = modelFacts(model)
  // Answers name their model more exactly than requests do: a date does not make it another one.
  const isOther = (own: string) => own !== model && (facts === undefined || modelFacts(own) !== facts)
  const others = new Set(messages.map((message) => message.model).filter((own) => own !== undefined && isOther(own)))
  if (others.size === 0) return changed
  const foreign = messages.flatMap(({ role, model: own }, at) => (role === 'assistant' && others.has(own) ? [at] : []))
  return new Set([...changed, ...foreign])
}
