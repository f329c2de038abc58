// The first half of a compaction, which is also its dry run: what to summarize and what to keep, the maximum size of the new
// context, and how to get a summary. Moves a chosen point to the nearest place where the conversation may be cut. Pure.

import { modelFacts } from '../catalog/models.ts'
import { cutAfter, cutBefore, legalCuts } from '../message/cut-points.ts'
import { blocksOf, isRequest, isThinking, type ViewMessage } from '../message/message.ts'
import type { ModelClient } from '../ports/model.ts'
import { type Failed, failed } from '../ports/outcome.ts'
import type { SummaryVariant } from '../prompts/summary.ts'
import { type CompactionSettings, defaultSettings } from '../settings/resolve.ts'
import { contextSize, minFreed, modelOf, type SizeScale, sizeScale } from '../tokens/context-size.ts'
import { countTokens, withoutMargin } from '../tokens/estimate/counting.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Source } from '../transcript/view/merge.ts'
import type { CompactionJob, PartialChoice, SizedJob } from './job.ts'

export type CompactionPlan =
  | {
      readonly type: 'planned'
      readonly settings: CompactionSettings
      readonly parts: CompactionParts
      /** Kept messages in the form that the model will see. */
      readonly kept: readonly ViewMessage[]
      readonly tokens: {
        readonly before: number
        /** Size of the whole context as people see it, now and at most afterwards. */
        readonly size: number
        readonly maxSize: number
        readonly summarized: number
        readonly kept: number
        /** Maximum tokens of the new context. */
        readonly limit: number
        /** The limit with restored context, because restoring must not use up the tokens that the compaction frees. */
        readonly limitOfRestored: number
        /** Tokens for the summary and everything that code adds to it, except restored files. */
        readonly handover: number
        /** Tokens for the model's summary. */
        readonly summary: number
        readonly restored: number
      }
      readonly mechanisms: readonly string[]
      /** The summarizer's model. */
      readonly model: string
    }
  | Failed

export type Planned = Extract<CompactionPlan, { readonly type: 'planned' }>

/** Share of the room that is left. The rest is for the text around the summary, the latest request and the state. */
const summaryShare = 0.85
/** Share of the handover. The rest is for the user's words, the state and the record. */
const summaryOfHandover = 2 / 3

/** 12,000 tokens in a window of 200,000, the same share of a larger window, and at most 15 % of a smaller one. */
const defaultHandover = 12_000
const defaultWindow = 200_000
const handoverShare = { ofLarger: defaultHandover / defaultWindow, ofSmaller: 0.15 }
/** Tokens for the handover in a window of this size. */
export function handoverIn(window: number): number {
  const { ofLarger, ofSmaller } = handoverShare
  return Math.floor(window >= defaultWindow ? window * ofLarger : Math.min(defaultHandover, window * ofSmaller))
}

export function planCompaction(job: CompactionJob, client: ModelClient): CompactionPlan {
  const settings = { ...defaultSettings.summary, ...job.settings }
  const { view, counting = {}, partial } = job
  const model = job.conversation?.model ?? counting.model ?? modelOf(view.messages)
  const target = job.target ?? job.threshold * defaultSettings.target
  const parts = partial ? partsAround(view, partial, model) : wholeOf(view, target)
  if ('why' in parts) return parts
  if (parts.removesThinking && settings.boundThinking === 'decline') {
    const why =
      'The model binds its thinking to messages that would be summarized, and some that think were to be kept.'
    return failed('nothing-to-compact', `${why} Compact everything, or allow their thinking to be removed.`)
  }
  const kept = parts.removesThinking ? withoutThinking(parts.kept) : parts.kept
  const before = job.viewTokens ?? countTokens(view.messages, counting)
  const keptTokens = countTokens(kept, counting)
  const { size, scale } = withSizes(job)
  const limit = limitOf(job, { before, target, size, scale })
  const share = job.threshold > 0 ? target / job.threshold : defaultSettings.target
  const isSharing = job.trigger === 'manual' && job.budget === undefined
  const limitOfRestored = isSharing ? Math.min(limit, keptTokens + Math.floor((before - keptTokens) * share)) : limit
  const summarized = Math.max(0, before - keptTokens)
  const ofModel = model === undefined ? undefined : modelFacts(model)?.window
  const window = job.sessionWindow ?? job.contextWindow ?? ofModel ?? defaultWindow
  const handover = settings.handoverTokens ?? handoverIn(window)
  const summaryRoom = Math.min((limit - keptTokens) * summaryShare, handover * summaryOfHandover)
  const summarizer = settings.model ?? job.conversation?.model ?? client.model
  return {
    type: 'planned',
    settings,
    parts,
    kept,
    tokens: {
      before,
      size,
      maxSize: scale.toReported(limit + (job.overhead ?? 0)),
      summarized,
      kept: keptTokens,
      limit,
      limitOfRestored,
      handover,
      summary: Math.max(0, Math.floor(Math.min(settings.summaryTokens, summaryRoom))),
      restored: job.restore ? Math.max(0, Math.min(settings.restoreTokens, limitOfRestored - keptTokens)) : 0,
    },
    mechanisms: mechanismsFor(job, { settings, client, summarizer, isFull: parts.variant === 'full' }),
    model: summarizer,
  }
}

/** Adds the present size and the conversion from estimates. */
export function withSizes(job: CompactionJob): SizedJob {
  const { size, scale, view, counting, overhead } = job
  if (size !== undefined && scale !== undefined) return { ...job, size, scale }
  const options = { ...counting, overhead, trusted: view.trusted }
  const read = contextSize(view.messages, options)
  return { ...job, size: size ?? read.tokens, scale: scale ?? sizeScale(view.messages, { ...options, size: read }) }
}

type Limits = {
  readonly before: number
  readonly target: number
  readonly size: number
  readonly scale: SizeScale
}

/**
 * Maximum tokens of the new context, in our estimate. It must be smaller than before and within the given budget; after a manual
 * compaction a tenth smaller than now; after an automatic one below the target, with the margin of all estimates. System prompt
 * and tools need no margin after the provider has counted them.
 */
function limitOf(
  { trigger, threshold, overhead = 0, budget = Number.POSITIVE_INFINITY }: CompactionJob,
  { before, target, size, scale }: Limits,
): number {
  const max = Math.min(before - 1, budget)
  if (trigger === 'manual') return Math.min(max, scale.toEstimated(size * (1 - minFreed)) - overhead)
  if (threshold <= 0) return max
  const withMargin = Math.floor(withoutMargin(target - overhead * scale.perToken))
  return Math.min(max, Math.min(withMargin, scale.toEstimated(target) - overhead) - 1)
}

type Choosing = {
  readonly settings: CompactionSettings
  readonly client: ModelClient
  readonly summarizer: string
  readonly isFull: boolean
}

function mechanismsFor(
  { conversation, given }: CompactionJob,
  { settings, client, summarizer, isFull }: Choosing,
): readonly string[] {
  if (given) return [given.mechanism]
  if (client.provider === 'offline') return ['offline']
  const { promptCache, compaction } = client.capabilities(summarizer)
  const isShared = settings.shareCache && conversation?.model === summarizer && promptCache
  // The provider summarizes its whole request, so it cannot summarize a part.
  const isServed = isShared && isFull && settings.serverCompaction === 'on-demand' && compaction === 'on-demand'
  return [
    ...(isServed ? ['server-compaction'] : []),
    ...(isShared ? ['cache-sharing'] : []),
    'direct',
    ...(settings.offline === 'never' ? [] : ['offline']),
  ]
}

export type CompactionParts = {
  readonly variant: SummaryVariant
  readonly summarized: readonly ViewMessage[]
  readonly kept: readonly ViewMessage[]
  /** Uuids of the kept messages, in order. */
  readonly keptUuids: readonly string[]
  /** Index of the view's message after the cut. Undefined if the cut is inside a message. */
  readonly cutMessage?: number | undefined
  /** Thinking in kept messages is bound to removed messages, so it must be removed. */
  readonly removesThinking: boolean
}

const notEnough = failed('nothing-to-compact', 'Not enough messages to compact.')

/** Requires enough text since the last summary: two messages, or one that is larger than the target. */
function wholeOf(view: View, target: number): CompactionParts | Failed {
  const summarized = piecesOf(view)
  const last = summarized.findLastIndex(({ origin }) => origin === 'summary')
  const said = summarized.slice(last + 1).filter(isSpoken).length
  const isLarge = () => target > 0 && JSON.stringify(view.messages).length / 4 > target
  if (said === 0 || (said === 1 && !isLarge())) return notEnough
  return { variant: 'full', summarized, kept: [], keptUuids: [], removesThinking: false }
}

/** The pieces of the view's messages, one per entry. */
export function piecesOf({ sources }: View): readonly ViewMessage[] {
  return sources.flatMap(({ pieces }) => pieces)
}

function isSpoken({ origin }: ViewMessage): boolean {
  return isRequest(origin) || origin === 'assistant' || origin === 'tool-result'
}

function partsAround(view: View, { type, uuid }: PartialChoice, model: string | undefined): CompactionParts | Failed {
  const all = view.sources.flatMap(piecesAt)
  const chosen = all.findIndex(({ uuids, piece }) => piece.uuid === uuid || uuids.includes(uuid))
  if (chosen < 0) return failed('nothing-to-compact', `${uuid} is not a message of the current context.`)
  const cut = cutNear(
    all.map(({ piece }) => piece),
    chosen,
  )
  const [before, after] = [all.slice(0, cut), all.slice(cut)]
  const [goes, stays] = type === 'from' ? [after, before] : [before, after]
  if (!goes.some(({ piece }) => isSpoken(piece) || piece.origin === 'summary')) return notEnough
  const kept = stays.map(({ piece }) => piece)
  const cutMessage = all[cut]?.message
  const bindsThinking = model !== undefined && modelFacts(model)?.bindsThinking === true
  return {
    variant: type,
    summarized: goes.map(({ piece }) => piece),
    kept,
    keptUuids: stays.flatMap(({ uuids }) => uuids),
    cutMessage: all[cut - 1]?.message === cutMessage ? undefined : cutMessage,
    // Messages before the summary keep the prefix of their thinking.
    removesThinking:
      type === 'up-to' && bindsThinking && kept.some(({ content }) => blocksOf(content).some(isThinking)),
  }
}

/** The entries of each piece: one, or all entries that a range replaces. */
function piecesAt({ pieces, uuids }: Source, message: number) {
  let at = 0
  return pieces.map((piece, index) => {
    const next = pieces[index + 1]?.uuid
    const end = next === undefined ? -1 : uuids.indexOf(next, at)
    const isOne = piece.uuid !== undefined && uuids[at] === piece.uuid
    const own = uuids.slice(at, isOne ? at + 1 : end < 0 ? uuids.length : end)
    at += own.length
    return { piece, uuids: own, message }
  })
}

function cutNear(pieces: readonly ViewMessage[], chosen: number): number {
  const cuts = legalCuts(pieces, { before: 'user-message' })
  const back = cutBefore(cuts, chosen)
  const ahead = cutAfter(cuts, { index: chosen, length: pieces.length })
  if (back === undefined) return ahead ?? 0
  return ahead === undefined || chosen - back <= ahead - chosen ? back : ahead
}

/** Thinking is invalid after a summary. */
function withoutThinking(kept: readonly ViewMessage[]): readonly ViewMessage[] {
  return kept.flatMap((message) => {
    const blocks = blocksOf(message.content)
    if (!blocks.some(isThinking)) return [message]
    const content = blocks.filter((block) => !isThinking(block))
    return content.length === 0 ? [] : [{ ...message, content }]
  })
}
