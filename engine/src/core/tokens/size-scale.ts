// Converts between our estimate of a context and the size that the provider reports for it. An estimate is off by a factor (the
// tokenizer) and by a constant (what the client sends besides the messages); the answers of the conversation show both.
import type { ViewMessage } from '../message/message.ts'
import { contextTokens } from '../message/usage.ts'
import { type ContextSize, freshAnswers, type SizeOptions } from './context-size.ts'
import { addMeasures, convertedTokens, measureContent, nothing, scaled, withoutMargin } from './estimate/counting.ts'

/** Estimates include system prompt and tools, and no margin. */
export type SizeScale = {
  readonly toReported: (estimated: number) => number
  readonly toEstimated: (reported: number) => number
}

type Point = { readonly estimated: number; readonly reported: number }

/** `size` is that of these messages, with the same options. */
export function sizeScale(
  messages: readonly ViewMessage[],
  { size, ...given }: SizeOptions & { readonly size: ContextSize },
): SizeScale {
  const { overhead = 0, leftOut = 0 } = given
  const estimates = prefixEstimates(messages, given)
  const estimated = Math.max(1, (estimates.at(-1) ?? 0) + overhead - leftOut)
  if (size.source === 'estimate') return proportional({ estimated, reported: size.tokens })
  const now = { estimated, reported: size.reported + withoutMargin(size.estimated) }
  const smallest = freshAnswers(messages, given)
    .map(({ index, usage, freed }): Point => {
      const reported = convertedTokens(contextTokens(usage), { from: messages[index]?.model, to: given.model })
      return { estimated: (estimates[index] ?? 0) + overhead + freed, reported }
    })
    .reduce((least, point) => (point.estimated < least.estimated ? point : least), now)
  return (now.estimated - smallest.estimated >= minSpread && between(smallest, now)) || proportional(now)
}

/** With less between two contexts, what the client injects unrecorded outweighs the messages. */
const minSpread = 2_000
/** Outside of these something else changed the reports: the server left something out, or the figures are made up. */
const [minSlope, maxSlope] = [0.5, 2]

/** The line through both. */
function between(small: Point, large: Point): SizeScale | undefined {
  const slope = (large.reported - small.reported) / (large.estimated - small.estimated)
  if (!(slope >= minSlope && slope <= maxSlope)) return undefined
  // Nothing that a client sends takes tokens away: a line that ends below zero holds down to the smaller one.
  const below = small.reported < slope * small.estimated ? small : undefined
  return {
    toReported: (estimated) =>
      below && estimated < below.estimated
        ? proportional(below).toReported(estimated)
        : Math.round(small.reported + slope * (estimated - small.estimated)),
    toEstimated: (reported) =>
      below && reported < below.reported
        ? proportional(below).toEstimated(reported)
        : Math.floor(small.estimated + (reported - small.reported) / slope),
  }
}

function proportional({ estimated, reported }: Point): SizeScale {
  return {
    toReported: (tokens) => Math.round((tokens * reported) / estimated),
    toEstimated: (tokens) => Math.floor((tokens * estimated) / reported),
  }
}

/** Of the messages up to each, itself included. */
function prefixEstimates(messages: readonly ViewMessage[], options: SizeOptions): readonly number[] {
  const { measure = ({ content }: ViewMessage) => measureContent(content, options) } = options
  let sum = nothing
  return messages.map((message) => {
    sum = addMeasures(sum, measure(message, options))
    return scaled(sum, options)
  })
}

/** A compaction by hand that frees less is not worth the details it loses. */
export const minFreed = 0.1
export const freesTooLittle = 'It would free less than a tenth of the context'
