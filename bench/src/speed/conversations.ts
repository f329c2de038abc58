// One made-up agent session at any length, in our shape and in everybody else's, each made once.
import type { ViewMessage } from 'everlong'
import { type Entry, foldEntries, type View } from 'everlong/transcript'
import { entriesOf } from '../engine/sessions.ts'
import { toModelMessages } from '../peers/ai-sdk.ts'
import { toLangChain } from '../peers/langchain.ts'
import { toPi, toPiEntries } from '../peers/pi.ts'
import { textsOf } from '../texts.ts'

/** Entries for one message of the view: an answer is written in several lines. */
const entriesEach = 2.7

export type Conversation = {
  readonly entries: readonly Entry[]
  /** How the session went on. */
  readonly later: readonly Entry[]
  readonly view: View
  readonly messages: readonly ViewMessage[]
}

export const conversation = remembered((size): Conversation => {
  const { entries, later, view } = grown(size)
  return { entries, later, view, messages: view.messages }
})
export const inLangChain = remembered((size) => toLangChain(conversation(size).messages))
export const inAiSdk = remembered((size) => toModelMessages(conversation(size).messages))
export const inPi = remembered((size) => toPiEntries(toPi(conversation(size).messages)))
export const texts = remembered((size) => conversation(size).messages.flatMap(textsOf))

/** Everything made, so that nobody pays for it while being measured. */
export function prime(size: number): void {
  for (const make of [conversation, inLangChain, inAiSdk, inPi, texts]) make(size)
}

function remembered<T>(make: (size: number) => T): (size: number) => T {
  const known = new Map<number, T>()
  return (size) => {
    const made = known.get(size) ?? make(size)
    known.set(size, made)
    return made
  }
}

function grown(size: number): Omit<Conversation, 'messages'> {
  const all = entriesOf(Math.ceil(size * entriesEach * 1.1) + 600)
  const last = foldEntries(all).sources[size - 1]?.uuids.at(-1)
  const end = all.findIndex(({ record }) => record.uuid === last) + 1
  if (end === 0) throw new Error(`The session has no ${size} messages.`)
  const entries = all.slice(0, end)
  return { entries, later: all.slice(end), view: foldEntries(entries) }
}
