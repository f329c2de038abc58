// The new context within its budget: composes the summary, smaller and smaller while it does not fit, and says what is
// too large when nothing helps. Sends nothing and writes nothing.
import type { Ledger } from '../ledger/facts.ts'
import { textOf } from '../message/block.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { continuationText, latestRequestText } from '../prompts/continuation.ts'
import { composeSummary } from '../summary/compose.ts'
import type { ComposedSummary } from '../summary/source.ts'
import { cutInMiddle } from '../summary/too-long.ts'
import { type Counting, countTokens, createTextCounter, withMargin } from '../tokens/counting.ts'
import { inWords } from '../tokens/figure.ts'
import { mergedMessages } from '../transcript/rounds-of-rows.ts'
import type { CompactionInput, CompactionSettings } from './compact-input.ts'
import type { CompactionParts } from './compact-parts.ts'

export type FitInput = {
  readonly input: CompactionInput
  readonly settings: CompactionSettings
  readonly parts: CompactionParts
  /** Kept messages as they will be seen. */
  readonly kept: readonly ViewMessage[]
  readonly ledger: Ledger
  readonly instructions: string
  /** Tokens of the whole new context. */
  readonly most: number
}

export type Fitted = ComposedSummary & { readonly summary: string; readonly isOffline: boolean }
export type NotFitted = { readonly type: 'too-large'; readonly detail: string }

/** Each time with less room, then without the prose, at last without the words around it. */
type Step = { readonly share: number; readonly withProse: boolean; readonly isShort: boolean }

const steps: readonly [Step, ...Step[]] = [
  { share: 1, withProse: true, isShort: false },
  { share: 0.7, withProse: true, isShort: false },
  { share: 1, withProse: false, isShort: false },
  { share: 0.7, withProse: false, isShort: false },
  { share: 0.4, withProse: false, isShort: false },
  { share: 0.9, withProse: false, isShort: true },
  { share: 0.5, withProse: false, isShort: true },
]

export function fitSummary(fit: FitInput, prose: string | undefined): Fitted | NotFitted {
  const { input, settings, parts, kept, most } = fit
  const counting = input.counting ?? {}
  const sizeWith = (summary: string) => tokensOf(newMessages(parts, { kept, summary, rest: [] }), counting)
  const share = input.restore && settings.restoreTokens > 0 && input.budget === undefined ? 0.75 : 1
  // A budget that was asked for is meant to be used. More than the settings allow makes no difference, so no more of the
  // conversation is weighed for it.
  const enough = settings.summaryTokens + textCounter(counting)(continuation(fit, '', steps[0]))
  const largest = input.budget ?? largestSummary(fit, enough)
  for (const step of steps) {
    if (step.withProse && prose === undefined) continue
    const around = sizeWith(continuation(fit, '', step))
    const ownRoom = largest - textCounter(counting)(continuation(fit, '', step))
    const room = Math.min(settings.summaryTokens, ownRoom, Math.floor((most - around) * (step.isShort ? 1 : share)))
    const composed = compose(fit, step.withProse ? prose : undefined, Math.floor(room * step.share))
    if (composed === undefined) continue
    const summary = continuation(fit, composed.text, step)
    if (sizeWith(summary) <= most) return { ...composed, summary, isOffline: !step.withProse }
  }
  return { type: 'too-large', detail: whatIsTooLarge(fit, sizeWith('')) }
}

const shareOfNew = 0.3
const besideHuman = 2_000

/**
 * A summary of summaries must not grow from round to round (elsewhere it did, to seven times its size): it may be as
 * large as the one before, or as a share of what is new asks for; never so small that what people said has no room.
 */
function largestSummary({ parts, settings, input }: FitInput, enough: number): number {
  const weigh = (message: ViewMessage) => tokensOf([message], input.counting)
  const last = parts.summarised.findLastIndex(({ origin }) => origin === 'summary')
  const before = parts.summarised.filter(({ origin }) => origin === 'summary').map(weigh)
  const fresh = parts.summarised.slice(last + 1)
  let [said, tokens] = [0, 0]
  for (const message of fresh) {
    if (said >= settings.humanTokens) break
    if (isRequest(message.origin)) said += weigh(message)
  }
  for (const message of fresh) {
    if (tokens * shareOfNew >= enough) break
    tokens += weigh(message)
  }
  return Math.max(...before, tokens * shareOfNew, besideHuman + Math.min(said, settings.humanTokens))
}

const leastSummary = 20

function compose(fit: FitInput, prose: string | undefined, budget: number): ComposedSummary | undefined {
  if (budget < leastSummary) return undefined
  const { settings, parts, ledger, instructions, input } = fit
  const composed = composeSummary({
    source: { messages: parts.summarised, ledger, kept: fit.kept },
    ...(prose === undefined ? {} : { prose }),
    ...(instructions === '' ? {} : { instructions }),
    budget,
    humanBudget: Math.min(settings.humanTokens, budget),
    ledgerBudget: input.budget === undefined ? Math.min(settings.ledgerTokens, budget) : budget,
    countTokens: textCounter(input.counting),
    recall: input.recall === true,
    variant: parts.variant,
  })
  return composed.text.trim() === '' ? undefined : composed
}

export function textCounter(counting: Counting = {}): (text: string) => number {
  return createTextCounter(counting)
}

export function tokensOf(messages: readonly ViewMessage[], counting: Counting = {}): number {
  return countTokens(messages, counting)
}

/** As a gauge would show it: everything is an estimate now, so it has the margin. */
export function sizeOf(tokens: number, { overhead = 0 }: Pick<CompactionInput, 'overhead'>): number {
  return withMargin(tokens + overhead)
}

export function continuation(
  { input, parts: { variant } }: FitInput,
  summary: string,
  { isShort }: { readonly isShort: boolean },
): string {
  const auto = input.isAutonomous ? 'autonomous' : 'auto'
  return continuationText({
    summary,
    mode: input.trigger === 'manual' ? 'manual' : auto,
    transcriptPath: input.transcriptPath,
    recall: input.recall,
    kept: variant === 'full' ? undefined : variant === 'from' ? 'before' : 'after',
    isShort,
  })
}

/** boundary → summary → kept messages → attachments → hook results; with `from`, what was kept comes first. */
export function newMessages(
  { variant }: Pick<CompactionParts, 'variant'>,
  parts: { readonly kept: readonly ViewMessage[]; readonly summary: string; readonly rest: readonly ViewMessage[] },
): readonly ViewMessage[] {
  const summary: ViewMessage = { role: 'user', content: parts.summary, origin: 'summary' }
  const start = variant === 'from' ? [...parts.kept, summary] : [summary, ...parts.kept]
  return mergedMessages([...start, ...parts.rest])
}

const longestClosing = 6_000

/** What the person asked for last, to stand behind restored context. */
export function closingOf(pieces: readonly ViewMessage[]): string | undefined {
  const latest = pieces.findLast(({ origin }) => isRequest(origin))
  const text = latest && textOf(latest.content).trim()
  return text ? latestRequestText(cutInMiddle(text, longestClosing)) : undefined
}

/** Which part leaves no room, and what a person can do about it. */
function whatIsTooLarge({ input, most, kept }: FitInput, base: number): string {
  const around = input.overhead ?? 0
  const tokens = tokensOf(kept, input.counting)
  if (kept.length > 0 && tokens > most / 2) {
    return `The messages to be kept alone have about ${inWords(tokens)} tokens, and ${inWords(most)} are allowed: choose a later message, or compact everything.`
  }
  if (around > most) {
    return `The system prompt and the tools have about ${inWords(around)} tokens, and leave no room: take away tools or instructions, or choose a model with a larger window.`
  }
  return `Even the shortest summary does not fit into ${inWords(Math.max(0, most - base))} tokens: allow a larger budget, choose a model with a larger window, or start a new conversation.`
}
