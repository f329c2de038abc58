// Who keeps the context of a session through many compactions. Each starts anew with `open`.
import type { Message } from 'everlong'

export const contextWindow = 50_000

/** Of a window of 50,000: here everybody makes room. */
export const threshold = 40_000

export type Contender = { readonly name: string; readonly how: string; readonly open: () => Keeper | Promise<Keeper> }

export type Keeper = {
  readonly add: (messages: readonly Message[]) => void
  /** What the next request would carry. */
  readonly context: () => readonly Message[]
  /** Makes it smaller; the summary it left, where it leaves one. */
  readonly compact: () => Promise<string | undefined>
  /** For each question the texts found among everything that was ever said; absent where there is no such thing. */
  readonly recall?: (questions: readonly string[]) => readonly (readonly string[])[]
}

export function userText(text: string): Message {
  return { role: 'user', content: [{ type: 'text', text }] }
}
