// Cache misses with their reason and cost, and the pauses between answers.
import { costOf, type JsonObject, type readAnswerLine } from 'everlong/internal'
import { cacheLifetimes, freshWatch, lifetimeWritten, missedBecause, watchAnswer } from 'everlong/internal/compaction'
import type { CacheMiss, IdleGap } from './api.ts'

type AnswerLine = NonNullable<ReturnType<typeof readAnswerLine>>

type Seen = {
  readonly point: number
  readonly answer: AnswerLine
  readonly time: number | null
  readonly record: JsonObject
}

export function createMissBook() {
  const misses: CacheMiss[] = []
  const gaps: IdleGap[] = []
  let watch = freshWatch
  let last: { readonly time: number | null; readonly model: string; readonly lifetime: number } | undefined
  return {
    /** Something changed the prefix on purpose, so no hit is expected. */
    changed: () => {
      watch = freshWatch
    },
    add: ({ point, answer, time, record }: Seen) => {
      const { usage, model } = answer
      const { cacheRead, cacheWrite } = usage
      const before = watch
      const { watch: next, dropped } = watchAnswer(before, { cacheRead, cacheWrite, time: time ?? 0 })
      watch = next
      const idle = time === null || last === undefined || last.time === null ? 0 : time - last.time
      const lifetime = last?.lifetime ?? cacheLifetimes.long
      if (idle >= lifetime) gaps.push({ point, milliseconds: idle })
      if (dropped > 0) {
        const { why } = missedBecause({
          watch: before,
          before: { model: last?.model, messages: [] },
          now: { model, messages: [] },
          idle,
          lifetime,
          answer: record.message,
        })
        misses.push({ point, tokens: dropped, reasons: [why], cost: costOfMiss(dropped, answer) })
      }
      const isWritten = usage.cacheWrite > 0
      last = { time, model, lifetime: isWritten ? lifetimeWritten(usage) : lifetime }
    },
    found: () => ({ misses, gaps }),
  }
}

/** The difference to the price of the same answer if these tokens had been read from the cache. */
function costOfMiss(tokens: number, { usage, model }: AnswerLine): number | null {
  const written = Math.min(tokens, usage.cacheWrite)
  const hit = {
    ...usage,
    cacheRead: usage.cacheRead + tokens,
    cacheWrite: usage.cacheWrite - written,
    cacheWriteHour: Math.max(0, usage.cacheWriteHour - written),
    input: Math.max(0, usage.input - (tokens - written)),
  }
  const [paid, instead] = [costOf(usage, model), costOf(hit, model)]
  return paid === undefined || instead === undefined ? null : Math.max(0, paid - instead)
}
