// Why the prompt cache was missed, request by request, with the engine's own watch. Of the request before, digests are kept, never
// what it said.
import { createHash } from 'node:crypto'
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
import type { Books } from './book.ts'

type RequestDigests = NonNullable<Parameters<typeof missedBecause>[0]['now']>

type Seen = { readonly watch: CacheWatch; readonly before: RequestDigests | undefined; readonly lifetime: number }

export type Watched = { readonly cache: CacheOutcome; readonly missCost: number | undefined }

export type AnsweredRequest = {
  readonly tenant: string
  readonly session: string
  readonly asked: Asked
  readonly usage: Usage
  /** Other fields of the answer: the API may say itself why it missed. */
  readonly raw: object
  /** When the request was sent. */
  readonly time: number
}

/** Of the `max` most recently used sessions; of others, what the books say. */
export function createCacheWatches(books: Books, max = 10_000) {
  const seen = new Map<string, Seen>()
  return async (request: AnsweredRequest): Promise<Watched> => {
    const { tenant, session, asked, usage, raw, time } = request
    const name = JSON.stringify([tenant, session])
    const last = seen.get(name) ?? (await fromBooks(books, tenant, session))
    const now = digestsOf(asked)
    const { watch, dropped, isHit } = watchAnswer(last.watch, {
      cacheRead: usage.cacheRead,
      cacheWrite: usage.cacheWrite,
      time,
    })
    const idle = time - (last.watch.baseline?.time ?? time)
    const lifetime = usage.cacheWrite > 0 ? lifetimeWritten(usage) : last.lifetime
    seen.delete(name)
    seen.set(name, { watch, before: now, lifetime })
    const [oldest] = seen.keys()
    if (seen.size > max && oldest !== undefined) seen.delete(oldest)
    if (isHit) return { cache: 'hit', missCost: undefined }
    const { reason } = missedBecause({
      watch: last.watch,
      before: last.before,
      now,
      idle,
      lifetime: last.lifetime,
      answer: raw,
    })
    const facts = modelFacts(asked.model)
    const price = facts && priceOf(facts, usage.input + usage.cacheRead + usage.cacheWrite)
    return { cache: reason, missCost: dropped > 0 ? missCost(dropped, { usage, price }) : 0 }
  }
}

async function fromBooks(books: Books, tenant: string, session: string): Promise<Seen> {
  const row = await books.newest(tenant, session)
  if (!row) return { watch: freshWatch, before: undefined, lifetime: cacheLifetimes.short }
  const { watch } = watchAnswer(freshWatch, row)
  return { watch, before: undefined, lifetime: lifetimeWritten(row) }
}

/** In the shape of a request, so that the watch can compare them. */
function digestsOf({ model, system, tools, messages }: Asked): RequestDigests {
  return {
    model,
    system: digest(withoutBilling(system)),
    tools: digest(tools),
    messages: messages.map(({ role, content }) => ({ role, content: digest(content) })),
  }
}

/** The first block of Claude Code's system prompt differs with every request, and is no part of what is cached. */
function withoutBilling(system: unknown): unknown {
  const [first, ...rest] = Array.isArray(system) ? system : []
  return stringAt(first, 'text')?.startsWith('x-anthropic-billing-header') ? rest : system
}

/** Marks for the cache move from request to request and change no prefix. */
function digest(value: unknown): string {
  const text = JSON.stringify(value, (key, part) => (key === 'cache_control' ? undefined : part)) ?? ''
  return createHash('sha256').update(text).digest('base64').slice(0, 16)
}
