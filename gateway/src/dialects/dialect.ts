// An API that clients speak. A dialect converts requests and answers to our types, so that the rest of the gateway is
// written once. It changes nothing: the gateway forwards the bytes that it received.
import type { Block } from 'everlong'
import type { JsonObject } from 'everlong/internal'
import type { Converted, Usage } from 'everlong/internal/wire'
import type { Shape } from '../http/refusals.ts'

export type DialectName = 'messages' | 'chat' | 'responses'

/** The Messages API answers no request with more. Such a request passes unread, because reading it would hold up everybody. */
export const maxMessages = 100_000

/** What a request says. */
export type Asked = {
  readonly model: string
  readonly system: unknown
  readonly tools: readonly JsonObject[]
  /** The whole conversation as the client sent it, system prompt apart. */
  readonly messages: readonly Converted[]
  readonly isStreamed: boolean
}

export type Answered = {
  readonly id: string
  readonly model: string
  readonly content: readonly Block[]
  readonly stopReason: string
  readonly usage: Usage
  /** Usage and further fields as the API wrote them. */
  readonly raw: JsonObject
}

export type Dialect = {
  readonly name: DialectName
  readonly shape: Shape
  /** Undefined if the conversation is not in the request (held by the server), or the shape is not known. */
  readonly readRequest: (body: JsonObject) => Asked | undefined
  /** From the events of a stream, or from the one body of an answer. Undefined if it is not whole. */
  readonly readAnswer: (events: readonly unknown[]) => Answered | undefined
  /** Tokens that were used, also by an answer that broke off. Undefined if none were told. */
  readonly readUsage: (events: readonly unknown[]) => Usage | undefined
}
