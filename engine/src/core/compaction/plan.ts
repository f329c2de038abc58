// The first half of a compaction, which is also its dry run: what is summarized and what stays, how large the new context
// may be, and which ways to a summary would be tried in which order. Pure: nobody is asked, nothing is written.
import type { ViewMessage } from '../message/message.ts'
import type { ModelClient } from '../ports/model.ts'
import { modelOf } from '../tokens/context-size.ts'
import { type Counting, countTokens, createTextCounter } from '../tokens/estimate/counting.ts'
import { type CompactionJob, type CompactionSettings, defaultCompaction } from './job.ts'
import { type CompactionParts, compactionParts, withoutThinking } from './select.ts'

export type CompactionPlan =
  | {
      readonly type: 'planned'
      readonly settings: CompactionSettings
      readonly parts: CompactionParts
      /** Kept messages as they will be seen. */
      readonly kept: readonly ViewMessage[]
      readonly tokens: {
        readonly before: number
        readonly summarized: number
        readonly kept: number
        /** What the new context may have at the most. */
        readonly limit: number
        /** What the model is told its summary may use. */
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

/** The rest is for the words around the summary, the latest request and the state. */
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
