// The cost of a session since it began, including the time before it was opened again or copied, read from its transcripts. Notes
// and background summaries leave no usage there, so they count only since the session was opened.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TokenCounts } from 'everlong'
import { costOf, type JsonObject, type ModelTokens, numberAt, objectAt, readBoundary } from 'everlong/internal'
import type { PurposeUsage } from 'everlong/internal/compaction'
import { collectingStatistics, forEachEntry, sessionFolder } from 'everlong/internal/node'
import type { Session } from 'everlong/node'

export type Spent = PurposeUsage & { readonly purpose: string }

/** `openedBytes`: the size of the transcript when the session was opened. */
export async function spendingOf(session: Session, openedBytes: number): Promise<readonly Spent[]> {
  const now = session.spent()
  const { path } = session
  await session.stored()
  // In memory only, or nothing was said yet.
  if (path === undefined || !existsSync(path)) return named(now.turn, now.compact, now)
  const subagents = join(sessionFolder(path), 'subagents')
  const compactions = [...compactionsBefore(path, openedBytes), now.compact]
  return [
    ...named(sumOf(modelsIn(path).map(pricedUsage)), sumOf(compactions), now),
    { purpose: 'sub-agents', ...sumOf(existsSync(subagents) ? modelsIn(subagents).map(pricedUsage) : []) },
  ].filter(({ requests }) => requests > 0)
}

function named(turn: PurposeUsage, compact: PurposeUsage, now: ReturnType<Session['spent']>): readonly Spent[] {
  return [
    { purpose: 'your turns', ...turn },
    { purpose: 'compactions', ...compact },
    { purpose: 'notes', ...now['session-memory'] },
    { purpose: 'background summaries', ...now.collapse },
  ].filter(({ requests }) => requests > 0)
}

function modelsIn(path: string): readonly ModelTokens[] {
  const steps = collectingStatistics([path])
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value.models
  }
}

function pricedUsage({ model, answers, tokens }: ModelTokens): PurposeUsage {
  return { requests: answers, usage: tokens, cost: costOf(tokens, model) }
}

/** From their boundaries. */
function compactionsBefore(path: string, bytes: number): readonly PurposeUsage[] {
  const found: PurposeUsage[] = []
  forEachEntry(path, ({ record, position }) => {
    if (position.offset >= bytes || readBoundary(record) === undefined) return
    const own = objectAt(objectAt(record, 'everlong'), 'compaction')
    const usage = countsAt(objectAt(own, 'usage'))
    // Nothing was spent without a model.
    if (total(usage) > 0) found.push({ requests: 1, usage, cost: numberAt(own, 'cost') })
  })
  return found
}

const countNames = ['input', 'output', 'cacheRead', 'cacheWrite', 'cacheWriteHour'] as const

function countsAt(usage: JsonObject | undefined): TokenCounts {
  return combined((name) => numberAt(usage, name) ?? 0)
}

function combined(count: (name: keyof TokenCounts) => number): TokenCounts {
  return Object.fromEntries(countNames.map((name) => [name, count(name)])) as TokenCounts
}

function total({ input, output, cacheRead, cacheWrite }: TokenCounts): number {
  return input + output + cacheRead + cacheWrite
}

/** The cost is unknown if one price is unknown. */
export function sumOf(parts: readonly PurposeUsage[]): PurposeUsage {
  const used = parts.filter(({ requests }) => requests > 0)
  const isPriced = used.every(({ cost }) => cost !== undefined)
  return {
    requests: used.reduce((sum, { requests }) => sum + requests, 0),
    usage: combined((name) => used.reduce((sum, { usage }) => sum + usage[name], 0)),
    cost: isPriced ? used.reduce((sum, { cost = 0 }) => sum + cost, 0) : undefined,
  }
}
