// The first half of a compaction, which is also its dry run: what is summarized and what is kept, how large the new context
// may be, and how to get a summary. A chosen point moves to the nearest place where the conversation may be cut. Pure.
import { modelFacts } from '../catalog/models.ts'
import { blocksOf, isThinking } from '../message/block.ts'
import { cutAfter, cutBefore, legalCuts } from '../message/cut-points.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import type { ModelClient } from '../ports/model.ts'
import type { SummaryVariant } from '../prompts/summary.ts'
import { modelOf } from '../tokens/context-size.ts'
import { countTokens } from '../tokens/estimate/counting.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Source } from '../transcript/view/merge.ts'
import { type CompactionJob, type CompactionSettings, defaultCompaction, type PartialChoice } from './job.ts'

type Declined = { readonly type: 'declined'; readonly why: string }

export type CompactionPlan =
  | {
      readonly type: 'planned'
      readonly settings: CompactionSettings
      readonly parts: CompactionParts
      /** Kept messages as the model will see them. */
      readonly kept: readonly ViewMessage[]
      readonly tokens: {
        readonly before: number
        readonly summarized: number
        readonly kept: number
        /** Of the new context, at most. */
        readonly limit: number
        /** What the model may use for its summary. */
        readonly summary: number
        readonly restored: number
      }
      readonly mechanisms: readonly string[]
      /** Of the summarizer. */
      readonly model: string
    }
  | Declined

export type Planned = Extract<CompactionPlan, { readonly type: 'planned' }>

/** Of the room that is left; the rest is for the text around the summary, the latest request and the state. */
const summaryShare = 0.85

export function planCompaction(job: CompactionJob, client: ModelClient): CompactionPlan {
  const settings = { ...defaultCompaction, ...job.settings }
  const { view, counting = {}, partial } = job
  const model = job.conversation?.model ?? counting.model ?? modelOf(view.messages)
  const target = job.target ?? job.threshold * settings.targetShare
  const parts = partial ? partsAround(view, partial, model) : wholeOf(view, target)
  if ('why' in parts) return parts
  if (parts.removesThinking && settings.boundThinking === 'decline') {
    const why =
      'The model binds its thinking to messages that would be summarized, and some that think were to be kept.'
    return { type: 'declined', why: `${why} Compact everything, or allow their thinking to be removed.` }
  }
  const kept = parts.removesThinking ? withoutThinking(parts.kept) : parts.kept
  const before = job.viewTokens ?? countTokens(view.messages, counting)
  const keptTokens = countTokens(kept, counting)
  const limit = limitOf(job, { before, target, kept: keptTokens })
  const summarizer = settings.model ?? job.conversation?.model ?? client.model
  return {
    type: 'planned',
    settings,
    parts,
    kept,
    tokens: {
      before,
      summarized: Math.max(0, before - keptTokens),
      kept: keptTokens,
      limit,
      summary: Math.max(0, Math.min(settings.summaryTokens, Math.floor((limit - keptTokens) * summaryShare))),
      restored: job.restore ? Math.max(0, Math.min(settings.restoreTokens, limit - keptTokens)) : 0,
    },
    mechanisms: mechanismsFor(job, { settings, client, summarizer, isFull: parts.variant === 'full' }),
    model: summarizer,
  }
}

const leastPage = 1_000

/**
 * How many tokens the new context may have: fewer than before, within the budget that was asked for, and after an
 * automatic compaction well below the threshold, as the gauge will show it with its margin of a third.
 */
function limitOf(
  { trigger, threshold, overhead = 0, budget = Number.POSITIVE_INFINITY, size }: CompactionJob,
  { before, target, kept }: { readonly before: number; readonly target: number; readonly kept: number },
): number {
  const most = Math.min(before - 1, budget)
  if (trigger !== 'auto' || threshold <= 0) return most
  const limit = Math.min(most, Math.floor((target * 3) / 4 - overhead) - 1)
  if (kept === 0) return limit
  // With messages kept, the gauge goes on from the usage that was reported, takes off what was freed, and adds what is
  // restored with its margin. A page needs some room all the same.
  const byGauge = Math.floor(((before - ((size ?? before) - target)) * 3) / 4) - 1
  return Math.min(limit, Math.max(byGauge, kept + leastPage))
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
  // The provider summarizes its whole request, so a part of it cannot be had that way.
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
  /** Entries of the kept messages, in order. */
  readonly keptUuids: readonly string[]
  /** The view's message before which it was cut; undefined when the cut is inside one. */
  readonly cutMessage?: number | undefined
  /** Thinking in kept messages is bound to what is removed, so it is removed too. */
  readonly removesThinking: boolean
}

const notEnough: Declined = { type: 'declined', why: 'Not enough messages to compact.' }

/** Where enough was said since the last summary: two messages, or one that is itself larger than the target. */
function wholeOf(view: View, target: number): CompactionParts | Declined {
  const summarized = piecesOf(view)
  const last = summarized.findLastIndex(({ origin }) => origin === 'summary')
  const said = summarized.slice(last + 1).filter(isSpoken).length
  const isLarge = () => target > 0 && JSON.stringify(view.messages).length / 4 > target
  if (said === 0 || (said === 1 && !isLarge())) return notEnough
  return { variant: 'full', summarized, kept: [], keptUuids: [], removesThinking: false }
}

/** What the view's messages are made of, one piece for each entry. */
export function piecesOf({ sources }: View): readonly ViewMessage[] {
  return sources.flatMap(({ pieces }) => pieces)
}

function isSpoken({ origin }: ViewMessage): boolean {
  return isRequest(origin) || origin === 'assistant' || origin === 'tool-result'
}

function partsAround(view: View, { type, uuid }: PartialChoice, model: string | undefined): CompactionParts | Declined {
  const all = view.sources.flatMap(piecesAt)
  const chosen = all.findIndex(({ uuids, piece }) => piece.uuid === uuid || uuids.includes(uuid))
  if (chosen < 0) return { type: 'declined', why: `${uuid} is no message of the current context.` }
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
    // What comes before the summary keeps the prefix that its thinking is bound to.
    removesThinking:
      type === 'up-to' && bindsThinking && kept.some(({ content }) => blocksOf(content).some(isThinking)),
  }
}

/** The entries behind each piece: one, or all that a range stands for. */
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
