// The reason of each cache miss, found with the engine's own watch. Of the previous request, only digests are kept, never its
// text.
import { hash } from 'node:crypto'
import { modelFacts, priceOf, stringAt } from 'everlong/internal'
import {
  type CacheWatch,
  cacheLifetimes,
  freshWatch,
  lifetimeWritten,
  missCost,
  missedBecause,
  watchAnswer,
} from 'everlong/internal/compaction'
import type { CacheOutcome, Usage } from 'everlong/internal/wire'
import type { Asked } from '../dialects/dialect.ts'
import type { Notes } from '../state/state.ts'

type RequestDigests = NonNullable<Parameters<typeof missedBecause>[0]['now']>

/** Data about the newest request of a session: digests of its parts, and one for all of its messages. */
type Seen = {
  readonly watch: CacheWatch
  readonly lifetime: number
  readonly before: Pick<Digests, 'model' | 'system' | 'tools'> & { readonly count: number; readonly messages: string }
}

export type Watched = {
  readonly cache: CacheOutcome
  readonly missCost: number | undefined
  /** Makes this the request that the next one is compared with. */
  readonly remember: () => Promise<void>
}

export type AnsweredRequest = {
  readonly tenant: string
  readonly session: string
  readonly asked: Asked
  readonly usage: Usage
  /** Other fields of the answer. The API itself may report why it missed. */
  readonly raw: object
  /** When the request was sent. */
  readonly time: number
}

/** Compares with the previous request, even if another process handled it. */
export async function watchCache(notes: Notes, request: AnsweredRequest): Promise<Watched> {
  const { tenant, session, asked, usage, raw, time } = request
  const note = await notes.get(tenant, session, 'watch')
  const last: Seen | undefined = note === undefined ? undefined : JSON.parse(note)
  const before = last?.watch ?? freshWatch
  const now = digestsOf(asked)
  const { cacheRead, cacheWrite } = usage
  const { watch, dropped, isHit } = watchAnswer(before, { cacheRead, cacheWrite, time })
  const lastLifetime = last?.lifetime ?? cacheLifetimes.short
  const lifetime = cacheWrite > 0 ? lifetimeWritten(usage) : lastLifetime
  const { model, system, tools, messages } = now
  const seen: Seen = {
    ...{ watch, lifetime },
    before: { model, system, tools, count: messages.length, messages: digest(messages) },
  }
  const remember = () => notes.put(tenant, session, 'watch', JSON.stringify(seen))
  if (isHit) return { cache: 'hit', missCost: undefined, remember }
  const { reason } = missedBecause({
    ...{ watch: before, lifetime: lastLifetime, answer: raw },
    ...(last ? comparable(last.before, now) : {}),
    idle: time - (before.baseline?.time ?? time),
  })
  const facts = modelFacts(asked.model)
  const price = facts && priceOf(facts, usage.input + cacheRead + cacheWrite)
  return { cache: reason, missCost: dropped > 0 ? missCost(dropped, { usage, price }) : 0, remember }
}

type Digests = {
  readonly model: string
  readonly system: string
  readonly tools: string
  /** One per message. */
  readonly messages: readonly string[]
}

function digestsOf({ model, system, tools, messages }: Asked): Digests {
  return {
    ...{ model, system: digest(withoutBilling(system)), tools: digest(tools) },
    messages: messages.map(({ role, content }) => `${role} ${digest(content)}`),
  }
}

/** Both requests in the shape for the engine's watch. The later one must begin with the messages of the earlier one. */
function comparable({ count, messages, ...before }: Seen['before'], now: Digests) {
  const asMessages = (content: string): RequestDigests['messages'] => [{ role: 'user', content }]
  return {
    before: { ...before, messages: asMessages(messages) },
    now: { ...now, messages: asMessages(digest(now.messages.slice(0, count))) },
  }
}

/** The first block of Claude Code's system prompt differs in every request and is not cached. */
function withoutBilling(system: unknown): unknown {
  const [first, ...rest] = Array.isArray(system) ? system : []
  return stringAt(first, 'text')?.startsWith('x-anthropic-billing-header') ? rest : system
}

/**
 * Cache marks move from request to request and change no prefix. Few messages have one, and removing them takes four times as
 * long as serializing the message unchanged.
 */
function digest(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  const isMarked = text.includes('"cache_control"')
  const plain = isMarked ? JSON.stringify(value, (key, part) => (key === 'cache_control' ? undefined : part)) : text
  return hash('sha256', plain, 'base64').slice(0, 16)
}
