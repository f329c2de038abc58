// The cache clock: what a request costs after the cache has expired, whether a compaction pays before it expires, and how long a
// session should keep its prefix cached. Uses the pauses of the conversation to predict the next one.
import { writePrice } from '../cache/economics.ts'
import { cachePrices, modelFacts, type Price } from '../catalog/models.ts'
import { defined } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import type { Situation } from './mechanism.ts'
import { compactionCosts, summaryTokens } from './situation.ts'

/** In US dollars. A price that is not known is absent. */
export type ColdPrices = {
  /** Cost of the request: everything but the head is written to the cache again. */
  readonly cost?: number
  /** Cost of the same request with the cache. */
  readonly warmCost?: number
  /** Cost of a compaction followed by the request. Only if it is lower. */
  readonly compactFirst?: number
}

type ColdInput = {
  readonly summaryModel?: string | undefined
  /** Tokens of the system prompt and the tools, if they are still cached. */
  readonly head?: number
}

export function coldPrices(situation: Situation, { summaryModel, head = 0 }: ColdInput = {}): ColdPrices {
  const price = situation.model?.price
  if (!price) return {}
  const { tokens } = situation.explanation.size
  const write = writePrice(situation.cache)
  const costOf = (all: number) => {
    const cached = Math.min(head, all)
    return dollars(cached * cachePrices.read + (all - cached) * write, price)
  }
  const cost = costOf(tokens)
  const costs = compactionCosts(situation)
  const summary = summaryCost(tokens, summaryModel)
  const compactFirst = costs && summary !== undefined ? summary + costOf(costs.after) : undefined
  return {
    cost,
    warmCost: dollars(tokens * cachePrices.read, price),
    ...defined({ compactFirst: compactFirst !== undefined && compactFirst < cost ? compactFirst : undefined }),
  }
}

/** The session's own model would have to write the whole context to the cache as well, so only another model can be cheaper. */
function summaryCost(tokens: number, summaryModel: string | undefined): number | undefined {
  const price = summaryModel === undefined ? undefined : modelFacts(summaryModel)?.price
  return price && (tokens * price.input + summaryTokens * price.output) / 1_000_000
}

function dollars(tokens: number, { input }: Price): number {
  return (tokens * input) / 1_000_000
}

export type IdleWorth = {
  readonly pays: boolean
  /** In input tokens: the request for the summary, and the savings of the next request if it comes after the cache has expired. */
  readonly cost: number
  readonly saved: number
  /** Probability of another request. */
  readonly chance: number
}

/**
 * Whether a compaction pays just before the cache of an idle session expires. Now the summary is written from a cached prefix;
 * later the next request would write the whole context to the cache again. But the person may not come back: Laplace's rule of
 * succession over the pauses of this session that were as long gives the chance. Undefined if too little is known.
 */
export function idleWorth(messages: readonly ViewMessage[], situation: Situation): IdleWorth | undefined {
  const costs = compactionCosts(situation)
  if (!costs) return undefined
  const { cache, explanation, model } = situation
  const { tokens } = explanation.size
  const outputPrice = model?.price ? model.price.output / model.price.input : 5
  const cost = tokens * cachePrices.read + summaryTokens * outputPrice
  const saved = Math.max(0, tokens - costs.after) * writePrice(cache)
  const returns = pausesOf(messages).filter((pause) => pause >= cache.lifetime).length
  const chance = (returns + 1) / (returns + 2)
  return { pays: chance * saved > cost, cost, saved, chance }
}

/** Milliseconds between an answer and the next message of a person. */
function pausesOf(messages: readonly ViewMessage[]): readonly number[] {
  return messages.flatMap(({ origin, time }, at) => {
    const before = messages[at - 1]
    if (!isRequest(origin) || before?.role !== 'assistant' || time === undefined || before.time === undefined) return []
    return [Math.max(0, time - before.time)]
  })
}

export type MarkLifetime = '5m' | '1h'

/**
 * The cheaper lifetime for marks on tokens that are not cached for an hour anyway. An hour costs more for every token written:
 * those of each request, and all of them after a pause of more than an hour. It saves writing them again after a pause between
 * five minutes and an hour.
 */
export function markLifetime(
  { growth, coldShares }: Pick<Situation, 'growth' | 'coldShares'>,
  tokens: number,
): MarkLifetime {
  if (growth === undefined) return '5m'
  const { read, write, writeHour } = cachePrices
  const between = Math.max(0, coldShares.short - coldShares.long)
  const saved = between * tokens * (write - read)
  const cost = (writeHour - write) * (growth + coldShares.long * tokens)
  return saved > cost ? '1h' : '5m'
}
