// The seam between a session and whoever manages its context: one keeper for each session is told what happens and says
// what to send next. A keeper never talks to the simulator but through its port, where everything is counted.
import type { JsonObject, Message } from 'everlong'
import type { Setup } from './setup.ts'

export type Strategy = {
  readonly name: string
  /** Whose rule it is, for the table. */
  readonly who: string
  readonly open: (port: Port) => Keeper
}

export type Keeper = {
  /** A person's words, or the results of the tools that the last answer called. */
  readonly told: (message: Message) => void
  /** The whole answer of the API. */
  readonly answered: (answer: JsonObject) => void
  readonly next: () => Promise<Outgoing>
  /** The request was refused. What it does not mend will be refused again. */
  readonly refused: (why: Refusal) => Promise<void>
}

export type Refusal = 'overflow' | 'signature' | 'invalid'

export type Outgoing = {
  readonly messages: readonly Message[]
  /** Messages up to here are likely to stay as they are while those behind it change: worth a mark of its own. */
  readonly anchor?: number | undefined
  /** Further fields of the request. */
  readonly fields?: JsonObject
  readonly headers?: Readonly<Record<string, string>>
}

export type Port = {
  readonly setup: Setup
  readonly now: () => number
  /** Sends a request of the keeper's own, which is paid like any other. Undefined when it was refused. */
  readonly ask: (asked: Asked) => Promise<JsonObject | undefined>
  /** Says that the context was made smaller, for the table. */
  readonly note: (what: 'compaction' | 'clearing') => void
}

export type Asked = {
  readonly messages: readonly Message[]
  /** Left out: with the system prompt, the tools and the marks of the session, so that the cached prefix is read. */
  readonly alone?: boolean
  readonly maxTokens: number
}
