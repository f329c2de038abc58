// What a compaction would do, without doing it: what is summarised and what stays, how much room there is, and which
// ways would be tried in which order. Pure: nobody is asked, nothing is written.
import type { ModelClient } from '../ports/model.ts'
import { modelOf } from '../tokens/context-size.ts'
import { tokensOf } from './compact-fit.ts'
import { type CompactionInput, type CompactionSettings, defaultCompaction } from './compact-input.ts'
import { compactionParts } from './compact-parts.ts'

export type CompactionPlan =
  | {
      readonly type: 'planned'
      readonly summarised: { readonly messages: number; readonly tokens: number }
      readonly kept: { readonly messages: number; readonly tokens: number; readonly uuids: readonly string[] }
      /** Thinking of kept messages would go: it is bound to what is summarised. */
      readonly removesThinking: boolean
      readonly tokens: {
        readonly before: number
        /** What the new context may have at the most. */
        readonly most: number
        readonly summaryAtMost: number
        readonly restoredAtMost: number
      }
      /** In the order in which they would be tried. */
      readonly mechanisms: readonly string[]
      readonly model: string
    }
  | { readonly type: 'declined'; readonly why: string }

export function planCompaction(input: CompactionInput, client: ModelClient): CompactionPlan {
  const settings = { ...defaultCompaction, ...input.settings }
  const { view, counting, threshold } = input
  const model = input.conversation?.model ?? counting?.model ?? modelOf(view.messages)
  const parts = compactionParts(view, input.partial, { model, largest: threshold * settings.targetShare })
  if (parts.type === 'nothing') return { type: 'declined', why: parts.why }
  const before = tokensOf(view.messages, counting)
  const most = mostTokens(input, { settings, tokensBefore: before })
  const kept = tokensOf(parts.kept, counting)
  const summariser = settings.model ?? input.conversation?.model ?? client.model
  return {
    type: 'planned',
    summarised: { messages: parts.summarised.length, tokens: tokensOf(parts.summarised, counting) },
    kept: { messages: parts.kept.length, tokens: kept, uuids: parts.keptUuids },
    removesThinking: parts.unthinks,
    tokens: {
      before,
      most,
      summaryAtMost: Math.max(0, Math.min(settings.summaryTokens, most - kept)),
      restoredAtMost: input.restore ? Math.max(0, Math.min(settings.restoreTokens, most - kept)) : 0,
    },
    mechanisms: mechanismsFor(input, { settings, client, summariser }),
    model: summariser,
  }
}

function mechanismsFor(
  { conversation }: CompactionInput,
  at: { readonly settings: CompactionSettings; readonly client: ModelClient; readonly summariser: string },
): readonly string[] {
  const { settings, client, summariser } = at
  if (client.provider === 'offline') return ['offline']
  const { promptCache, compaction } = client.capabilities(summariser)
  const isShared = settings.shareCache && conversation?.model === summariser && promptCache
  const isOnDemand = isShared && settings.serverCompaction === 'on-demand' && compaction === 'on-demand'
  return [
    ...(isOnDemand ? ['server-compaction'] : []),
    ...(isShared ? ['cache-sharing'] : []),
    'direct',
    ...(settings.offline === 'never' ? [] : ['offline']),
  ]
}

/**
 * How many tokens the new context may have by the counter that both sides are counted with: fewer than before, within
 * the budget that was asked for, and after an automatic compaction well below the threshold, as the gauge will show it.
 */
export function mostTokens(
  input: CompactionInput,
  { settings, tokensBefore }: { readonly settings: CompactionSettings; readonly tokensBefore: number },
): number {
  const { trigger, threshold, overhead = 0, budget } = input
  const target = trigger === 'auto' && threshold > 0 ? threshold * settings.targetShare : undefined
  const limits = [
    tokensBefore - 1,
    ...(budget === undefined ? [] : [budget]),
    ...(target === undefined ? [] : [Math.floor((target * 3) / 4 - overhead) - 1]),
  ]
  return Math.min(...limits)
}
