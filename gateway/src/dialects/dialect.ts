// An API that clients speak. A dialect converts requests and answers to our types, so that the rest of the gateway is
// written once. It changes nothing: the gateway forwards the bytes that it received.
import type { Block } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import type { Converted, Usage } from 'everlong/internal/wire'
import type { Shape } from '../http/refusals.ts'

export type DialectName = 'messages' | 'chat' | 'responses'

/** The Messages API accepts no more. Such a request passes unread, because reading it would delay all others. */
export const maxMessages = 100_000

/** The content of a request. */
export type Asked = {
  readonly model: string
  readonly system: unknown
  readonly tools: readonly JsonObject[]
  /** The whole conversation that the client sent, without the system prompt. */
  readonly messages: readonly Converted[]
  readonly isStreamed: boolean
}

export type Answered = {
  readonly id: string
  readonly model: string
  readonly content: readonly Block[]
  readonly stopReason: string
  readonly usage: Usage
  /** Usage and further fields in the API's form. */
  readonly raw: JsonObject
}

export type Dialect = {
  readonly name: DialectName
  readonly shape: Shape
  /** Undefined if the request does not contain the conversation (the server holds it), or if the shape is unknown. */
  readonly readRequest: (body: JsonObject) => Asked | undefined
  /** From the events of a stream, or from the single body of an answer. Undefined if it is incomplete. */
  readonly readAnswer: (events: readonly unknown[]) => Answered | undefined
  /** Used tokens, even of an answer that broke off. Undefined if none were reported. */
  readonly readUsage: (events: readonly unknown[]) => Usage | undefined
}
