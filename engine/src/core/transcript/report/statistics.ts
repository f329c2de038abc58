// Figures over many sessions: how often they are compacted, by what, how their summaries grow, what they use.
import { addCounts, billedCounts, noTokens, type TokenCounts } from '../../message/usage.ts'
import type { Scan } from '../tree/scan.ts'
import { type EstimatedCompaction, estimateCompactions } from './compaction-estimate.ts'
import type { Epoch } from './epochs.ts'

export type ModelTokens = { readonly model: string; readonly answers: number; readonly tokens: TokenCounts }

export type SummaryRound = { readonly round: number; readonly summaries: number; readonly meanCharacters: number }

export type Statistics = {
  readonly sessions: number
  readonly subagentFiles: number
  readonly withCompactions: number
  readonly compactions: number
  readonly byTrigger: Readonly<Record<string, number>>
  readonly mostInOneSession: number
  readonly medianMessagesBetween: number | undefined
  readonly medianTokensBefore: number | undefined
  readonly medianTokensAfter: number | undefined
  /** Do summaries grow from round to round? */
  readonly summaryRounds: readonly SummaryRound[]
  readonly entries: number
  readonly orphans: number
  readonly salvaged: number
  readonly models: readonly ModelTokens[]
  /** Answers that were found again in another file, as resumed and forked sessions carry them along. They count once. */
  readonly repeatedAnswers: number
  /** What compactions themselves used, as far as their own runs were recorded. */
  readonly compactionModels: readonly ModelTokens[]
  readonly compactionsRecorded: number
  /** What the other compactions used by an estimate: the context read from the cache, the summary written. */
  readonly compactionEstimates: readonly ModelTokens[]
}

export type SessionKind = 'session' | 'subagent' | 'compaction-run'

export type StatisticsBook = {
  readonly add: (scan: Pick<Scan, 'epochs' | 'answers' | 'graph' | 'sessionIds'>, about: About) => void
  readonly statistics: () => Statistics
}

type About = { readonly kind: SessionKind; readonly salvaged: number }

export function createStatisticsBook(): StatisticsBook {
  const kinds: Record<SessionKind, number> = { session: 0, subagent: 0, 'compaction-run': 0 }
  const epochs: Epoch[][] = []
  const models = new Map<string, ModelTokens>()
  const compactionModels = new Map<string, ModelTokens>()
  const unrecorded = createUnrecordedBook()
  const sums = { entries: 0, orphans: 0, salvaged: 0, repeatedAnswers: 0 }
  const seen = new Set<string>()
  return {
    add: (scan, { kind, salvaged }) => {
      kinds[kind]++
      if (kind === 'session') epochs.push([...scan.epochs])
      sums.entries += scan.epochs.reduce((sum, epoch) => sum + epoch.entries, 0)
      sums.orphans += scan.graph.orphans.length
      sums.salvaged += salvaged
      if (kind === 'session') unrecorded.addSession(scan.sessionIds, estimateCompactions(scan.epochs, scan.answers))
      if (kind === 'compaction-run') unrecorded.addRun(scan.sessionIds)
      const book = kind === 'compaction-run' ? compactionModels : models
      for (const { messageId, model, usage } of scan.answers) {
        if (seen.has(messageId)) sums.repeatedAnswers++
        else addTokens(book, model, billedCounts(usage))
        if (isUnique(messageId)) seen.add(messageId)
      }
    },
    statistics: () => ({
      sessions: kinds.session,
      subagentFiles: kinds.subagent,
      ...compactionFigures(epochs),
      ...sums,
      models: byTokens(models),
      compactionModels: byTokens(compactionModels),
      compactionsRecorded: kinds['compaction-run'],
      compactionEstimates: byTokens(unrecorded.models()),
    }),
  }
}

/** Ids of the API are unique; those we make up for other formats count from 1 in each file. */
function isUnique(messageId: string): boolean {
  return messageId.startsWith('msg_')
}

function addTokens(book: Map<string, ModelTokens>, model: string, tokens: TokenCounts): void {
  const known = book.get(model) ?? { model, answers: 0, tokens: noTokens }
  book.set(model, { model, answers: known.answers + 1, tokens: addCounts(known.tokens, tokens) })
}

/** Runs are recorded in files of their own, which may come before or after their session: matched at the end. */
function createUnrecordedBook() {
  const sessions: { readonly ids: readonly string[]; readonly estimates: readonly EstimatedCompaction[] }[] = []
  const runs = new Map<string, number>()
  return {
    addSession: (ids: readonly string[], estimates: readonly EstimatedCompaction[]) => {
      if (estimates.length > 0) sessions.push({ ids, estimates })
    },
    addRun: (ids: readonly string[]) => {
      for (const id of ids.slice(0, 1)) runs.set(id, (runs.get(id) ?? 0) + 1)
    },
    models: (): ReadonlyMap<string, ModelTokens> => {
      const models = new Map<string, ModelTokens>()
      for (const { ids, estimates } of sessions) {
        const recorded = ids.reduce((sum, id) => sum + (runs.get(id) ?? 0), 0)
        // Clients began to record runs at some version: the newest compactions are the recorded ones.
        const others = estimates.slice(0, Math.max(0, estimates.length - recorded))
        for (const { model, tokens } of others) addTokens(models, model, tokens)
      }
      return models
    },
  }
}

function byTokens(models: ReadonlyMap<string, ModelTokens>): readonly ModelTokens[] {
  const all = ({ tokens }: ModelTokens) => tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.output
  return [...models.values()].toSorted((a, b) => all(b) - all(a))
}

function compactionFigures(sessions: readonly (readonly Epoch[])[]) {
  const compactions = sessions.flatMap((epochs) =>
    epochs.map((epoch) => epoch.openedBy).filter((by) => by !== undefined),
  )
  const byTrigger: Record<string, number> = {}
  for (const { trigger } of compactions) byTrigger[trigger] = (byTrigger[trigger] ?? 0) + 1
  return {
    withCompactions: sessions.filter((epochs) => epochs.length > 1).length,
    compactions: compactions.length,
    byTrigger,
    mostInOneSession: sessions.reduce((most, epochs) => Math.max(most, epochs.length - 1), 0),
    medianMessagesBetween: median(sessions.flatMap((epochs) => epochs.slice(0, -1).map((epoch) => epoch.messages))),
    medianTokensBefore: median(compactions.map((by) => by.tokensBefore).filter((tokens) => tokens !== undefined)),
    medianTokensAfter: median(compactions.map((by) => by.tokensAfter).filter((tokens) => tokens !== undefined)),
    summaryRounds: roundsOf(sessions),
  }
}

function roundsOf(sessions: readonly (readonly Epoch[])[]): readonly SummaryRound[] {
  const rounds = new Map<number, number[]>()
  for (const epoch of sessions.flat()) {
    const summary = epoch.openedBy?.summary
    if (summary) rounds.set(epoch.number, [...(rounds.get(epoch.number) ?? []), summary.characters])
  }
  return [...rounds]
    .toSorted(([a], [b]) => a - b)
    .map(([round, sizes]) => {
      const mean = Math.round(sizes.reduce((sum, size) => sum + size, 0) / sizes.length)
      return { round, summaries: sizes.length, meanCharacters: mean }
    })
}

function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) / 2)]
}
