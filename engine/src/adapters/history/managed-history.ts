// One conversation of an SDK that passes its whole history with every call. New messages go to the session; the prepared messages
// are returned in the SDK's shape. Never changes its input.

import { defined } from '../../core/message/json.ts'
import type { Message } from '../../core/message/message.ts'
import { type TokenCounts, usageRecord } from '../../core/message/usage.ts'
import type { AbortSignalPort, ModelClient, ModelRequest } from '../../core/ports/model.ts'
import type { ModelChoice } from '../../core/session/gauge.ts'
import type { RequestInput } from '../../core/session/input.ts'
import type { Blocked, Ready } from '../../core/session/prepare.ts'
import { createMutex } from '../../core/session/queue.ts'
import type { Session } from '../../core/session/session-api.ts'
import {
  type Conversion,
  type Converted,
  type Converter,
  commonPrefix,
  continuedAt,
  convert,
  type KnownMessage,
} from './converter.ts'
import { failureOf, isAbout } from './failure.ts'
import { type GivenBack, giveBack } from './give-back.ts'
import { rewindPoint, seed } from './seed.ts'

export type CallOptions = {
  /** System prompt, tools and limits of the request, which count towards the size. */
  readonly base?: RequestInput | undefined
  /** The SDK's report about the answer to the last request. */
  readonly usage?: TokenCounts | undefined
  /** The model of this call, if it may change between calls. Ignored for a session of the host's. */
  readonly model?: ModelChoice | undefined
  readonly signal?: AbortSignalPort | undefined
}

export type Prepared<Foreign> = {
  /** The messages to send, with the system prompt if it was among them. */
  readonly messages: readonly Foreign[]
  readonly outcome: Ready | Blocked
}

export type RunOptions<Foreign> = CallOptions & {
  /** Set if the call was already prepared with the same messages and options. */
  readonly prepared?: Prepared<Foreign> | undefined
}

/** The request to send instead of one that was refused as too long. */
export type Recovered<Foreign> = {
  readonly messages: readonly Foreign[]
  readonly maxTokens?: number
  /** The session's request, for adapters that send more than the messages: marked system prompt and tools, betas. */
  readonly request?: ModelRequest
}

export type HistoryOptions<Foreign> = {
  readonly converter: Converter<Foreign>
  readonly session: Session
  /** Opens a new session for a history with a different beginning. Without it, such a history is refused. */
  readonly restart?: () => Promise<Session>
  /** Called when a history that had already begun was imported into a session that did not know it. */
  readonly onImported?: (imported: Imported) => void
}

export type Imported = { readonly session: Session; readonly messages: number }

/** The messages belong to a different conversation than the session. */
export class HistoryMismatchError extends Error {
  override readonly name = 'HistoryMismatchError'
}

/** A message as it was last sent, and the number of known messages up to and including it. */
type SentMessage = Converted & { readonly upTo: number }

export class ManagedHistory<Foreign> {
  private readonly options: HistoryOptions<Foreign>
  private readonly mutex = createMutex(() => undefined)
  private current: Session
  /** The whole history, including messages that have left the context. */
  private known: readonly KnownMessage<Foreign>[] = []
  private head: readonly Foreign[] = []
  private sent: readonly GivenBack<Foreign>[] = []
  /** The history as it was last passed in. It may group the same blocks differently. */
  private handed: readonly Converted[] = []
  private usage: TokenCounts | undefined
  private base: string | undefined
  private model: string | undefined
  /** The model of the first call. A new session starts with it. */
  private firstModel: string | undefined
  private claimed: (Conversion<Foreign> & { readonly messages: readonly Foreign[] }) | undefined
  private isSeeded = false
  /** A request was prepared, and its answer is not in the history yet. */
  private isAwaited = false

  constructor(options: HistoryOptions<Foreign>) {
    this.options = options
    this.current = options.session
  }

  get session(): Session {
    return this.current
  }

  /** Calls on one conversation take turns. */
  prepare(messages: readonly Foreign[], options: CallOptions = {}): Promise<Prepared<Foreign>> {
    return this.mutex.run(async () => {
      await this.take(messages, options)
      const outcome = await this.current.prepare({ signal: options.signal })
      this.isAwaited = outcome.type === 'ready'
      const view = outcome.type === 'ready' ? outcome.messages : this.current.messages()
      // There are no messages: only a system prompt, or empty ones.
      return { messages: view.length === 0 ? messages : this.send(view), outcome }
    })
  }

  /** Undefined if the error is not about length or nothing could be reduced. Then throw the original error. */
  recover(error: unknown, { signal }: Pick<CallOptions, 'signal'> = {}): Promise<Recovered<Foreign> | undefined> {
    return this.mutex.run(async () => {
      const failure = failureOf(error)
      if (isAbout(failure) === 'other') return undefined
      const recovery = await this.current.recover(failure, { signal })
      if (recovery.type === 'unrecovered') return undefined
      this.isAwaited = true
      const { request } = recovery
      return { messages: this.send(request.messages), request, ...defined({ maxTokens: request.maxTokens }) }
    })
  }

  /** Prepares and sends. If the prompt was too long, sends a smaller one once. Throws other errors unchanged. */
  async run<Answer>(
    messages: readonly Foreign[],
    options: RunOptions<Foreign>,
    send: (request: Recovered<Foreign>) => PromiseLike<Answer>,
  ): Promise<Answer> {
    const prepared = options.prepared ?? (await this.prepare(messages, options))
    try {
      return await send(prepared)
    } catch (error) {
      const recovered = await this.recover(error, options)
      if (!recovered) throw error
      return send(recovered).then(undefined, (second: unknown) => {
        throw isAbout(failureOf(second)) === 'length' ? error : second
      })
    }
  }

  /** The usage of the answer to the last request. It is recorded once the answer is in the history. */
  reportUsage(usage: TokenCounts | undefined): void {
    this.usage = usage ?? this.usage
  }

  /** Converts messages of a request for a summary to the SDK's shape. */
  toForeign(messages: readonly Message[]): readonly Foreign[] {
    return giveBack(messages, this.known, this.options.converter).map(({ foreign }) => foreign)
  }

  /** True if these messages extend the known ones, or the last ones sent. */
  isContinuedBy(messages: readonly Foreign[]): boolean {
    const { known } = convert(this.options.converter, messages)
    if (this.claimed) return continuedAt(this.claimed.known, known) !== undefined
    const before = [this.known, this.sentMessages(), this.handed]
    return before.some((messages) => continuedAt(messages, known) !== undefined)
  }

  /** Reserves this conversation for a call with these messages, until it is prepared. */
  claim(messages: readonly Foreign[]): void {
    this.claimed = { messages, ...convert(this.options.converter, messages) }
  }

  close(): Promise<void> {
    return this.mutex.run(() => this.current.close())
  }

  private send(view: readonly Message[]): readonly Foreign[] {
    this.sent = giveBack(view, this.known, this.options.converter)
    return [...this.head, ...this.sent.map(({ foreign }) => foreign)]
  }

  /** Brings the session up to date with the SDK's messages. */
  private async take(messages: readonly Foreign[], { base, model, usage }: CallOptions): Promise<void> {
    const given = this.claimed?.messages === messages ? this.claimed : convert(this.options.converter, messages)
    this.claimed = undefined
    this.head = given.head
    if (usage) this.usage = usage
    const isNew = !this.isSeeded && (await this.seedFrom(given)) === 0
    const fresh = await this.align(given.known)
    const text = JSON.stringify(base)
    if (base && text !== this.base) this.current.configure(base)
    this.base = text ?? this.base
    // The answer in it is that of the model before.
    this.writeAll(fresh)
    // The host chooses the model of its own session.
    if (model && this.options.restart && model.name !== this.model) {
      if (this.model !== undefined) await this.current.useModel(model)
      this.model = model.name
      this.firstModel ??= model.name
    }
    this.handed = given.known
    if (isNew && hasBegun(given)) this.options.onImported?.({ session: this.current, messages: given.known.length })
  }

  /** Returns the number of messages that the session has. */
  private async seedFrom(given: Conversion<Foreign>): Promise<number> {
    this.isSeeded = true
    const { known, hasOthers } = seed(await this.current.entries(), given.known)
    this.known = known
    if (hasOthers) await this.rewindTo(known.length)
    return known.length
  }

  /** Returns the new messages. Rewinds the session if the host removed or changed earlier ones. */
  private async align(given: readonly KnownMessage<Foreign>[]): Promise<readonly KnownMessage<Foreign>[]> {
    const common = commonPrefix(this.known, given)
    // Keeps the newest objects, because hosts may change provider options, which do not matter here.
    this.known = this.known.map((message, at) => {
      const newest = at < common ? given[at] : undefined
      return newest ? { ...message, foreign: newest.foreign } : message
    })
    if (common === this.known.length) return given.slice(common)
    const sent = this.sentMessages()
    const end = continuedAt(sent, given) ?? continuedAt(this.handed, given)
    if (end !== undefined) return given.slice(end)
    const commonWithSent = commonPrefix(sent, given)
    const isBySent = commonWithSent > common
    await this.rewindTo(isBySent ? (sent[commonWithSent - 1]?.upTo ?? 0) : common)
    return given.slice(isBySent ? commonWithSent : common)
  }

  /** The messages of the last request. Some SDKs continue from them. */
  private sentMessages(): readonly SentMessage[] {
    const { known } = convert(
      this.options.converter,
      this.sent.map(({ foreign }) => foreign),
    )
    if (known.length !== this.sent.length) return []
    return known.map(({ role, content }, at) => {
      const own = this.sent[at]?.known
      const next = this.sent.slice(at).find((message) => message.known !== undefined)?.known
      return { role, content, upTo: own === undefined ? (next ?? this.known.length) : own + 1 }
    })
  }

  /** Truncates the history to its first `length` messages. If none is left, starts a new session. */
  private async rewindTo(length: number): Promise<void> {
    const rest = this.known.slice(0, length)
    this.usage = undefined
    this.sent = []
    this.handed = []
    this.known = rest
    const uuid = rest.findLast((message) => message.uuid !== undefined)?.uuid
    if (uuid === undefined) return this.startAnew()
    const to = rewindPoint(await this.current.entries(), uuid)
    const outcome = await this.current.rewind(to, { canUndo: false })
    if (outcome.type === 'declined') throw new HistoryMismatchError(outcome.why)
  }

  private async startAnew(): Promise<void> {
    const { restart } = this.options
    const { id } = this.current
    if (!restart) {
      throw new HistoryMismatchError(
        `The messages do not begin like those of session ${id}. Give every conversation its own session, and pass its whole history.`,
      )
    }
    await this.current.close()
    this.current = await restart()
    // A stored session opens with its old messages, which are not part of this history.
    const isUsed = [...(await this.current.entries())].some(({ record }) => typeof record.uuid === 'string')
    if (isUsed) await this.current.clear({ canUndo: false })
    this.base = undefined
    this.model = this.firstModel
    this.known = []
  }

  private writeAll(fresh: readonly KnownMessage<Foreign>[]): void {
    // One copy for a history of any length.
    const known = [...this.known]
    this.known = known
    let isWaiting = false
    for (const message of fresh) {
      const isAnswer = message.role === 'assistant'
      // The answer was lost. The user's newer message must come before the next answer.
      if (isAnswer && isWaiting) this.current.abandonRequest()
      const uuid = this.write(message)
      known.push({ ...message, uuid })
      isWaiting = !isAnswer && this.isAwaited
    }
  }

  /** Records the answer to the last request with its usage, and adds every other message. Returns its newest entry. */
  private write({ role, content, origin, usage: own }: KnownMessage<Foreign>): string | undefined {
    if (role !== 'assistant' || !this.isAwaited)
      return this.current.add({ role, content, ...defined({ origin }) }).at(-1)
    const usage = this.usage ?? own
    this.isAwaited = false
    this.usage = undefined
    return this.current.record({ content, ...(usage ? { usage: usageRecord(usage) } : {}) })
  }
}

/** True if it contains an answer. A context that begins with a summary of ours is small and simply continues. */
function hasBegun<Foreign>({ known }: Conversion<Foreign>): boolean {
  return known[0]?.origin !== 'summary' && known.some(({ role }) => role === 'assistant')
}

/** A call of an SDK, and how its conversation is found or started. */
export type AdapterCall<Foreign, Host> = {
  /** The argument for the host's option `sessionId`. */
  readonly host: Host
  readonly messages: readonly Foreign[]
  /** The conversation, if the call names it in the SDK's own way. */
  readonly id?: string | undefined
  /** Returns the client that writes the summaries. Called when a session is started or opened. */
  readonly client: () => ModelClient
  /** The name of the called model. Default: the client's. */
  readonly model?: string | undefined
  /** Whether the client asks the called model instead of one of its own. */
  readonly asksCalled?: boolean
  /** The host sets marks for the prompt cache itself. A request may have at most four. */
  readonly hasMarks?: boolean
  /** Whether a request for a summary can read the conversation's prompt cache. Default: true. */
  readonly sharesCache?: boolean
}

/** Finds the conversation of a call. Starts or opens a session if there is none yet. */
export type HistoryOf<Foreign, Host> = (call: AdapterCall<Foreign, Host>) => Promise<ManagedHistory<Foreign>>
