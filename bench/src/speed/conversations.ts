// One generated agent session at any length, in our format and in everybody else's, each made once, when somebody
// asks for it: ask before the work that is measured.
import type { Entry } from 'everlong'
import { foldEntries, type ViewMessage } from 'everlong/internal'
import { entriesOf } from '../engine/sessions.ts'
import { toModelMessages } from '../peers/ai-sdk.ts'
import { toLangChain } from '../peers/langchain.ts'
import { forgetOrigins } from '../peers/origins.ts'
import { toPi, toPiEntries } from '../peers/pi.ts'
import { textsOf } from '../texts.ts'

/** Entries for one message of the view: an answer is written in several lines. */
const entriesEach = 2.7

/** A window, in tokens, that holds every session here: usage that is more than any model accepts is not believed. */
export const longestSession = 100_000_000

export type Conversation = {
  readonly entries: readonly Entry[]
  /** How the session went on. */
  readonly later: readonly Entry[]
}

export const conversation = remembered((size): Conversation => {
  const all = entriesOf(Math.ceil(size * entriesEach * 1.1) + 600)
  const last = foldEntries(all).sources[size - 1]?.uuids.at(-1)
  const end = all.findIndex(({ record }) => record.uuid === last) + 1
  if (end === 0) throw new Error(`The session has no ${size} messages.`)
  return { entries: all.slice(0, end), later: all.slice(end) }
})
export const view = remembered((size) => foldEntries(conversation(size).entries))
export const inLangChain = inShape(toLangChain)
export const inAiSdk = inShape(toModelMessages)
export const inPi = inShape((messages) => toPiEntries(toPi(messages)))
export const texts = inShape((messages) => messages.flatMap(textsOf))

/** The view that a shape is made of is let go again, so that only those who work on it carry it. */
function inShape<T>(shaped: (messages: readonly ViewMessage[]) => T): (size: number) => T {
  return remembered((size) => {
    const made = shaped(foldEntries(conversation(size).entries).messages)
    forgetOrigins()
    return made
  })
}

function remembered<T>(make: (size: number) => T): (size: number) => T {
  const known = new Map<number, T>()
  return (size) => {
    const made = known.get(size) ?? make(size)
    known.set(size, made)
    return made
  }
}
