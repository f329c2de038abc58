// The gauge in pi's footer: how full the context is, and when pi will compact.

import { numberAt, objectAt, stringAt } from 'everlong/internal'
import { predictCompaction } from 'everlong/internal/compaction'
import type { CompactionSettings, Context, SessionEntry } from './pi-api.ts'
import { isMessage, thresholdOf } from './session.ts'

export function gaugeText(context: Context, settings: CompactionSettings): string | undefined {
  const usage = context.getContextUsage()
  if (!usage) return undefined
  const threshold = thresholdOf(usage.contextWindow, settings)
  const tokens = usage.tokens ?? 0
  const left = Math.max(0, Math.round((1 - tokens / threshold) * 100))
  const ahead = predictCompaction(turnSizes(context.sessionManager.getBranch()), threshold)
  const isSoon = settings.enabled && ahead !== undefined && ahead.turns <= furthest
  const when = isSoon ? `, compaction in ${turnsText(ahead.turns)}` : ''
  // Right after a compaction nobody knows the size before the next answer.
  return usage.tokens === null ? 'everlong: compacted' : `everlong: ${short(tokens)} tokens, ${left} % left${when}`
}

/** Turns: a guess about more is worth nothing. */
const furthest = 50

/** The size at the end of each turn since the last compaction. */
export function turnSizes(branch: readonly SessionEntry[]): readonly { readonly tokens: number }[] {
  const start = branch.findLastIndex(({ type }) => type === 'compaction')
  const sizes: { tokens: number }[] = []
  let isNewTurn = true
  for (const entry of branch.slice(start + 1)) {
    if (isMessage(entry, 'user')) isNewTurn = true
    const tokens = isMessage(entry, 'assistant') ? numberAt(objectAt(entry.message, 'usage'), 'totalTokens') : undefined
    if (!tokens || stringAt(entry.message, 'stopReason') === 'error') continue
    if (isNewTurn) sizes.push({ tokens })
    else sizes.splice(-1, 1, { tokens })
    isNewTurn = false
  }
  return sizes
}

function turnsText(turns: number): string {
  return turns === 0 ? 'this turn' : turns === 1 ? '1 turn' : `${turns} turns`
}

export function short(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`
}
