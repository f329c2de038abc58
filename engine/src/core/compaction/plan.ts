// The first half of a compaction, which is also its dry run: what is summarized and what is kept, how large the new context
// may be, and how to get a summary. A chosen point moves to the nearest place where the conversation may be cut. Pure.
import { modelFacts } from '../catalog/models.ts'
import { blocksOf, isThinking } from '../message/block.ts'
import { cutAfter, cutBefore, legalCuts } from '../message/cut-points.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import type { ModelClient } from '../ports/model.ts'
import type { SummaryVariant } from '../prompts/summary.ts'
import { modelOf } from '../tokens/context-size.ts'
import { type Counting, countTokens, createTextCounter } from '../tokens/estimate/counting.ts'
import type { View } from '../transcript/view/fold.ts'
import type { Source } from '../transcript/view/merge.ts'
import { type CompactionJob, type CompactionSettings, defaultCompaction, type PartialChoice } from './job.ts'

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
      /** In the order in which they would be tried. */
      readonly mechanisms: readonly string[]
      /** Of the summarizer. */
      readonly model: string
    }
  | { readonly type: 'declined'; readonly why: string }

export type Planned = Extract<CompactionPlan, { readonly type: 'planned' }>

export function planCompaction(job: CompactionJob, client: ModelClient): CompactionPlan {
  const settings = { ...defaultCompaction, ...job.settings }
  const { view, counting = {} } = job
  const model = job.conversation?.model ?? counting.model ?? modelOf(view.messages)
  const target = job.target ?? job.threshold * settings.targetShare
  const parts = compactionParts(view, job.partial, { model, largest: target })
  if (parts.type === 'nothing') return { type: 'declined', why: parts.why }
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
    mechanisms: mechanismsFor(job, { settings, client, summarizer, parts }),
    model: summarizer,
  }
}

const leastPage = 1_000

/** The rest is for the text around the summary, the latest request and the state. */
const summaryShare = 0.85

/**
 * How many tokens the new context may have: fewer than before, within the budget that was asked for, and after an
 * automatic compaction well below the threshold, as the gauge will show it with its margin of a third.
 */
function limitOf(
  { trigger, threshold, overhead = 0, budget, size }: CompactionJob,
  { before, target, kept }: { readonly before: number; readonly target: number; readonly kept: number },
): number {
  const isAuto = trigger === 'auto' && threshold > 0
  const limits = [
    before - 1,
    ...(budget === undefined ? [] : [budget]),
    ...(isAuto ? [Math.floor((target * 3) / 4 - overhead) - 1] : []),
  ]
  // With messages kept, the gauge goes on from the usage that was reported, takes off what was freed, and adds what is
  // restored with its margin. A page needs some room all the same.
  const byGauge = Math.floor(((before - ((size ?? before) - target)) * 3) / 4) - 1
  if (isAuto && kept > 0) limits.push(Math.max(byGauge, kept + leastPage))
  return Math.min(...limits)
}

type Choosing = {
  readonly settings: CompactionSettings
  readonly client: ModelClient
  readonly summarizer: string
  readonly parts: CompactionParts
}

function mechanismsFor(
  { conversation, given }: CompactionJob,
  { settings, client, summarizer, parts }: Choosing,
): readonly string[] {
  if (given) return [given.mechanism]
  if (client.provider === 'offline') return ['offline']
  const { promptCache, compaction } = client.capabilities(summarizer)
  const isShared = settings.shareCache && conversation?.model === summarizer && promptCache
  // The provider summarizes its whole request, so a part of it cannot be had that way.
  const isOnDemand = isShared && settings.serverCompaction === 'on-demand' && compaction === 'on-demand'
  return [
    ...(isOnDemand && parts.variant === 'full' ? ['server-compaction'] : []),
    ...(isShared ? ['cache-sharing'] : []),
    'direct',
    ...(settings.offline === 'never' ? [] : ['offline']),
  ]
}

export function textCounter(counting: Counting = {}): (text: string) => number {
  return createTextCounter(counting)
}

export type CompactionParts = {
  readonly type: 'parts'
  readonly variant: SummaryVariant
  readonly summarized: readonly ViewMessage[]
  readonly kept: readonly ViewMessage[]
  /** Entries of the kept messages, in order. */
  readonly keptUuids: readonly string[]
  /** The view's message before which it was cut; undefined when the cut is inside one. */
  readonly cutMessage?: number
  /** Thinking in kept messages is bound to what is removed, so it is removed too. */
  readonly removesThinking: boolean
}

type NoParts = { readonly type: 'nothing'; readonly why: string }

type PieceAt = { readonly piece: ViewMessage; readonly uuids: readonly string[]; readonly message: number }

const notEnough = 'Not enough messages to compact.'

function compactionParts(
  view: View,
  choice: PartialChoice | undefined,
  options: { readonly model: string | undefined; readonly largest: number },
): CompactionParts | NoParts {
  if (!choice) {
    const summarized = piecesOf(view)
    if (!isWorthIt(summarized, options.largest, view)) return { type: 'nothing', why: notEnough }
    return { type: 'parts', variant: 'full', summarized, kept: [], keptUuids: [], removesThinking: false }
  }
  const all = view.sources.flatMap((source, message) => piecesAt(source, message))
  const chosen = all.findIndex(({ uuids, piece }) => piece.uuid === choice.uuid || uuids.includes(choice.uuid))
  if (chosen < 0) return { type: 'nothing', why: `${choice.uuid} is no message of the current context.` }
  return cutAt(all, { choice, chosen, model: options.model })
}

/** What the view's messages are made of, one piece for each entry. */
export function piecesOf({ sources }: View): readonly ViewMessage[] {
  const all: ViewMessage[] = []
  for (const { pieces } of sources) for (const piece of pieces) all.push(piece)
  return all
}

/** The entries behind each piece: one, or all that a range stands for. */
function piecesAt({ pieces, uuids }: Source, message: number): readonly PieceAt[] {
  let at = 0
  return pieces.map((piece, index) => {
    if (piece.uuid !== undefined && uuids[at] === piece.uuid) return { piece, uuids: [uuids[at++] ?? ''], message }
    const next = pieces[index + 1]?.uuid
    const end = next === undefined ? uuids.length : uuids.indexOf(next, at)
    const own = uuids.slice(at, end < 0 ? uuids.length : end)
    at += own.length
    return { piece, uuids: own, message }
  })
}

function isSpoken({ origin }: ViewMessage): boolean {
  return isRequest(origin) || origin === 'assistant' || origin === 'tool-result'
}

/** Whether enough was said since the last summary: two messages, or one that is itself too large. */
function isWorthIt(pieces: readonly ViewMessage[], largest: number, view: View): boolean {
  let said = 0
  for (let at = pieces.length - 1; at >= 0 && said < 2; at--) {
    const piece = pieces[at]
    if (piece?.origin === 'summary') break
    if (piece && isSpoken(piece)) said++
  }
  if (said === 2) return true
  return said === 1 && largest > 0 && JSON.stringify(view.messages).length / 4 > largest
}

function cutAt(
  all: readonly PieceAt[],
  {
    choice,
    chosen,
    model,
  }: { readonly choice: PartialChoice; readonly chosen: number; readonly model: string | undefined },
): CompactionParts | NoParts {
  const pieces = all.map(({ piece }) => piece)
  const cuts = legalCuts(pieces, { before: 'user-message' })
  const back = cutBefore(cuts, chosen)
  const ahead = cutAfter(cuts, { index: chosen, length: pieces.length })
  const cut = nearest(chosen, back, ahead)
  const [before, after] = [all.slice(0, cut), all.slice(cut)]
  const [goes, stays] = choice.type === 'from' ? [after, before] : [before, after]
  if (!goes.some(({ piece }) => isSpoken(piece) || piece.origin === 'summary'))
    return { type: 'nothing', why: notEnough }
  const kept = stays.map(({ piece }) => piece)
  const cutMessage = all[cut]?.message
  const isBetween = cutMessage !== undefined && all[cut - 1]?.message !== cutMessage
  return {
    type: 'parts',
    variant: choice.type,
    summarized: goes.map(({ piece }) => piece),
    kept,
    keptUuids: stays.flatMap(({ uuids }) => uuids),
    ...(isBetween ? { cutMessage } : {}),
    // What comes before the summary keeps the prefix that its thinking is bound to.
    removesThinking: choice.type === 'up-to' && bindsThinking(kept, model),
  }
}

function nearest(chosen: number, back: number | undefined, ahead: number | undefined): number {
  if (back === undefined) return ahead ?? 0
  return ahead === undefined || chosen - back <= ahead - chosen ? back : ahead
}

function bindsThinking(kept: readonly ViewMessage[], model: string | undefined): boolean {
  if (model === undefined || modelFacts(model)?.bindsThinking !== true) return false
  return kept.some(({ content }) => blocksOf(content).some(isThinking))
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
