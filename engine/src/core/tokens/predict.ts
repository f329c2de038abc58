// Predicts the next compaction, and finds where compactions would have happened.

import { turnsOf } from '../message/cut-points.ts'
import { defined } from '../message/json.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'

/** The context size at the end of a turn, and its time if known. */
export type TurnSize = { readonly tokens: number; readonly time?: number | undefined }

/** The size of the context at the end of each turn. A turn starts with a request of a person. */
export function turnSizes(messages: readonly ViewMessage[]): readonly TurnSize[] {
  return turnsOf(messages, ({ origin }) => isRequest(origin)).flatMap(({ start, end }): readonly TurnSize[] => {
    const last = messages.slice(start, end).findLast(({ usage }) => usage !== undefined)
    return last?.usage ? [{ tokens: contextTokens(last.usage), ...defined({ time: last.time }) }] : []
  })
}

/** Ends the newest turn with the present size, which includes an estimate of everything after its last answer. */
export function endingNow(turns: readonly TurnSize[], now: number): readonly TurnSize[] {
  const last = turns.at(-1)
  return last ? [...turns.slice(0, -1), { ...last, tokens: now }] : []
}

export type Prediction = {
  readonly turns: number
  /** Milliseconds since 1970, if the turns have times. */
  readonly time?: number
  readonly growth: number
}

const recentTurns = 20
/** Number of turns remembered across a compaction. */
export const rememberedTurns = 60

/** Undefined with fewer than two turns, if the context does not grow, or if the last predictions were wrong. */
export function predictCompaction(turns: readonly TurnSize[], threshold: number): Prediction | undefined {
  const known = turns.slice(-rememberedTurns)
  return wasRight(known, threshold) ? predict(known, threshold) : undefined
}

const judgedCompactions = 3

/** Whether a prediction halfway between two of the last compactions was right within a factor of two. */
function wasRight(turns: readonly TurnSize[], threshold: number): boolean {
  const drops = turns.flatMap(({ tokens }, at) => (tokens < (turns[at - 1]?.tokens ?? 0) ? [at] : []))
  return drops.slice(-judgedCompactions).every((drop) => {
    const start = drops[drops.indexOf(drop) - 1] ?? 0
    const middle = Math.ceil((start + drop) / 2)
    const expected = predict(turns.slice(0, middle), threshold)?.turns
    const actual = drop - middle
    return expected === undefined || (Math.max(1, expected) <= 2 * actual && expected >= actual / 2)
  })
}

function predict(turns: readonly TurnSize[], threshold: number): Prediction | undefined {
  const recent = turns.slice(-recentTurns - 1)
  const last = recent.at(-1)
  const growth = median(steps(recent.map(({ tokens }) => tokens)).filter((step) => step >= 0))
  if (!last || growth === undefined || growth <= 0) return undefined
  const left = Math.max(0, Math.ceil((threshold - last.tokens) / growth))
  const times = recent.map(({ time }) => time).filter((time) => time !== undefined)
  const pace = median(steps(times).filter((step) => step >= 0))
  return {
    turns: left,
    growth,
    ...(last.time === undefined || pace === undefined ? {} : { time: last.time + left * pace }),
  }
}

export type WouldFall = {
  readonly turn: number
  readonly tokensBefore: number
  readonly tokensAfter: number
}

/** Where compactions would have happened in a recorded session. `after` is the size after a compaction. */
export function whereCompactionsWouldFall(
  sizes: readonly number[],
  options: { readonly threshold: number; readonly after?: number },
): readonly WouldFall[] {
  const found: WouldFall[] = []
  const after = Math.min(options.after ?? 20_000, Math.floor(options.threshold / 2))
  let current = 0
  for (const [turn, size] of sizes.entries()) {
    const growth = size - (sizes[turn - 1] ?? 0)
    current = growth >= 0 ? current + growth : Math.min(current, size)
    if (current < options.threshold) continue
    found.push({ turn, tokensBefore: current, tokensAfter: after })
    current = after
  }
  return found
}

function steps(values: readonly number[]): readonly number[] {
  return values.slice(1).map((value, index) => value - (values[index] ?? 0))
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  const upper = sorted[Math.floor(sorted.length / 2)]
  const lower = sorted[Math.floor((sorted.length - 1) / 2)]
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2
}
