// From the view to the messages of a request: repaired, without what only we know of a message, and on models that bind
// thinking to the prefix without the thinking that was bound to another one. The view stays as it is.
import { modelFacts } from '../catalog/models.ts'
import type { Message, ViewMessage } from '../message/message.ts'
import { sameStart } from '../message/same-start.ts'
import { createIndexSet } from '../transcript/tree/index-set.ts'
import type { View } from '../transcript/view/fold.ts'
import { createPages } from '../transcript/view/pages.ts'
import type { Repair } from './draft.ts'
import type { RepairOptions } from './repair.ts'
import { createRepairer } from './repairer.ts'

export type RequestMessages = {
  readonly messages: readonly Message[]
  readonly repairs: readonly Repair[]
}

export type RequestChoices = {
  /** The model that is asked; one that nobody knows is taken for one that binds thinking, which is the safe side. */
  readonly model?: string | undefined
  /** Whether that model binds thinking to the prefix, for who knows better. */
  readonly bindsThinking?: boolean | undefined
  /** What is asked now, where the transcript does not have it yet. */
  readonly next?: readonly Message[] | undefined
}

/** One for each conversation: what was made ready for a request before, and is still there, is used again. */
export type Requester = (view: View, choices?: RequestChoices) => RequestMessages

export function requestMessages(view: View, choices: RequestChoices = {}): RequestMessages {
  return createRequester()(view, choices)
}

export function createRequester(): Requester {
  const repair = createRepairer()
  const bare = createBare()
  const voided = createVoided()
  return (view, { model, bindsThinking, next = [] } = {}) => {
    const binds = bindsThinking ?? (model === undefined ? true : (modelFacts(model)?.bindsThinking ?? true))
    const messages = bare(next.length === 0 ? view.messages : [...view.messages, ...next])
    return repair(messages, binds ? { thinking: 'strip-changed', changed: voided(view, model) } : unbound)
  }
}

const unbound: RepairOptions = { thinking: 'strip-unsigned' }

/** What the API knows of a message; the rest is ours. A message that was there before has the same again. */
function createBare(): (messages: readonly Message[]) => readonly Message[] {
  const made = createPages<Message>()
  let known: readonly Message[] = []
  return (messages) => {
    made.cutTo(sameStart(known, messages))
    for (let at = made.length(); at < messages.length; at++) {
      const { role, content } = messages[at] as Message
      made.push({ role, content })
    }
    known = messages
    return made.snapshot().toArray()
  }
}

/**
 * Answers whose thinking is void on a model that binds it: given on another prefix, or by another model. The very same
 * set while they are the same answers.
 */
function createVoided(): (view: View, model: string | undefined) => ReadonlySet<number> {
  const foreign = createIndexSet(foreignFrom)
  let known: { readonly changed: ReadonlySet<number>; readonly foreign: ReadonlySet<number> } | undefined
  let all: ReadonlySet<number> = new Set()
  return ({ messages, changed }, model) => {
    const others = foreign(messages, model)
    if (others.size === 0) return changed
    if (known?.changed !== changed || known.foreign !== others) all = new Set([...changed, ...others])
    known = { changed, foreign: others }
    return all
  }
}

function foreignFrom(messages: readonly ViewMessage[], from: number, model: string | undefined): readonly number[] {
  const found: number[] = []
  const known = new Map<string, boolean>()
  for (let at = from; at < messages.length; at++) {
    const { role, model: own } = messages[at] as ViewMessage
    if (role !== 'assistant' || own === undefined || model === undefined) continue
    const isOther = known.get(own) ?? isAnother(own, model)
    known.set(own, isOther)
    if (isOther) found.push(at)
  }
  return found
}

/** Answers name their model more exactly than requests do: dates do not make it another one. */
function isAnother(own: string, model: string): boolean {
  if (own === model) return false
  const facts = modelFacts(model)
  return facts === undefined || modelFacts(own) !== facts
}
