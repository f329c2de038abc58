// Statistics of many sessions: how often they are compacted and by which mechanism, how summaries grow, tokens used.
import { groupBy } from '../../message/maps.ts'
import { addCounts, billedCounts, noTokens, type TokenCounts, totalOf } from '../../message/usage.ts'
import type { Epoch, Scan } from '../tree/scan.ts'

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
  readonly summaryRounds: readonly SummaryRound[]
  readonly entries: number
  readonly orphans: number
  readonly salvaged: number
  readonly models: readonly ModelTokens[]
  /** Answers that also occur in another file, because resumed and forked sessions copy them. They count once. */
  readonly repeatedAnswers: number
  /** Tokens of compactions whose own runs were recorded. */
  readonly compactionModels: readonly ModelTokens[]
  readonly compactionsRecorded: number
  /** Estimated tokens of the other compactions: the context read from the cache, and the summary written. */
  readonly compactionEstimates: readonly ModelTokens[]
}

export type SessionKind = 'session' | 'subagent' | 'compaction-run'

type AddedScan = Pick<Scan, 'epochs' | 'answers' | 'graph' | 'sessionIds'>
type Kind = { readonly kind: SessionKind; readonly salvaged: number }

export function createStatisticsBook() {
  const kinds: Record<SessionKind, number> = { session: 0, subagent: 0, 'compaction-run': 0 }
  const sessions: Session[] = []
  const runs = new Map<string, number>()
  const models = new Map<string, ModelTokens>()
  const compactionModels = new Map<string, ModelTokens>()
  const sums = { entries: 0, orphans: 0, salvaged: 0, repeatedAnswers: 0 }
  const seen = new Set<string>()
  return {
    add: ({ epochs, answers, graph, sessionIds }: AddedScan, { kind, salvaged }: Kind): void => {
      kinds[kind]++
      sums.entries += epochs.reduce((sum, { entries }) => sum + entries, 0)
      sums.orphans += graph.orphans.length
      sums.salvaged += salvaged
      if (kind === 'session')
        sessions.push({ epochs, ids: sessionIds, estimates: compactionEstimates(epochs, answers) })
      if (kind === 'compaction-run') for (const id of sessionIds.slice(0, 1)) runs.set(id, (runs.get(id) ?? 0) + 1)
      const book = kind === 'compaction-run' ? compactionModels : models
      for (const { messageId, model, usage } of answers) {
        if (seen.has(messageId)) sums.repeatedAnswers++
        else addTokens(book, model, billedCounts(usage))
        // Ids of the API are unique; our ids for other formats start at 1 in each file.
        if (messageId.startsWith('msg_')) seen.add(messageId)
      }
    },
    statistics: (): Statistics => ({
      sessions: kinds.session,
      subagentFiles: kinds.subagent,
      ...compactionFigures(sessions.map(({ epochs }) => epochs)),
      ...sums,
      models: byTokens(models),
      compactionModels: byTokens(compactionModels),
      compactionsRecorded: kinds['compaction-run'],
      compactionEstimates: byTokens(unrecorded(sessions, runs)),
    }),
  }
}

function addTokens(book: Map<string, ModelTokens>, model: string, tokens: TokenCounts): void {
  const known = book.get(model) ?? { model, answers: 0, tokens: noTokens }
  book.set(model, { model, answers: known.answers + 1, tokens: addCounts(known.tokens, tokens) })
}

function byTokens(models: ReadonlyMap<string, ModelTokens>): readonly ModelTokens[] {
  return [...models.values()].toSorted((a, b) => totalOf(b.tokens) - totalOf(a.tokens))
}

type Session = {
  readonly epochs: readonly Epoch[]
  readonly ids: readonly string[]
  readonly estimates: readonly Estimate[]
}

/** `compaction`: the number of the epoch that it opened. */
type Estimate = { readonly compaction: number; readonly model: string; readonly tokens: TokenCounts }

/** Length / 4 with a third on top: a scan holds the length of a summary, not its text. */
const charactersPerToken = 3

/**
 * Estimated usage of each compaction of known size whose own run was not recorded, oldest first: it reads the whole context,
 * from the cache at best, and writes the summary.
 */
export function compactionEstimates(epochs: readonly Epoch[], answers: Scan['answers']): readonly Estimate[] {
  // The model of the newest answer of each epoch, or of the previous epoch if it has none.
  const models: (string | undefined)[] = epochs.map(() => undefined)
  for (const { epoch, sidechain, model } of answers) if (!sidechain) models[epoch] = model
  for (const epoch of models.keys()) models[epoch] ??= models[epoch - 1]
  return epochs.flatMap(({ number, openedBy }) => {
    const before = openedBy?.tokensBefore ?? epochs[number - 1]?.tokensAtEnd
    if (!openedBy || before === undefined) return []
    const output = Math.round((openedBy.summary?.characters ?? 0) / charactersPerToken)
    return [
      {
        compaction: number,
        model: models[number - 1] ?? 'unknown',
        tokens: { ...noTokens, cacheRead: before, output },
      },
    ]
  })
}

/** Runs are recorded in separate files, which may come before or after their session, so they are matched at the end. */
function unrecorded(sessions: readonly Session[], runs: ReadonlyMap<string, number>): Map<string, ModelTokens> {
  const models = new Map<string, ModelTokens>()
  for (const { ids, estimates } of sessions) {
    const recorded = ids.reduce((sum, id) => sum + (runs.get(id) ?? 0), 0)
    // Clients started to record runs at some version, so the newest compactions are the recorded ones.
    const others = estimates.slice(0, Math.max(0, estimates.length - recorded))
    for (const { model, tokens } of others) addTokens(models, model, tokens)
  }
  return models
}

function compactionFigures(sessions: readonly (readonly Epoch[])[]) {
  const compactions = sessions.flatMap((epochs) => epochs.flatMap(({ openedBy }) => openedBy ?? []))
  const triggers = groupBy(compactions, ({ trigger }) => trigger)
  return {
    withCompactions: sessions.filter((epochs) => epochs.length > 1).length,
    compactions: compactions.length,
    byTrigger: Object.fromEntries([...triggers].map(([trigger, own]) => [trigger, own.length])),
    mostInOneSession: sessions.reduce((most, epochs) => Math.max(most, epochs.length - 1), 0),
    medianMessagesBetween: median(sessions.flatMap((epochs) => epochs.slice(0, -1).map(({ messages }) => messages))),
    medianTokensBefore: median(compactions.flatMap(({ tokensBefore }) => tokensBefore ?? [])),
    medianTokensAfter: median(compactions.flatMap(({ tokensAfter }) => tokensAfter ?? [])),
    summaryRounds: roundsOf(sessions.flat()),
  }
}

function roundsOf(epochs: readonly Epoch[]): readonly SummaryRound[] {
  const summarized = epochs.filter(({ openedBy }) => openedBy?.summary)
  return [...groupBy(summarized, ({ number }) => number)]
    .toSorted(([a], [b]) => a - b)
    .map(([round, own]) => {
      const characters = own.reduce((sum, { openedBy }) => sum + (openedBy?.summary?.characters ?? 0), 0)
      return { round, summaries: own.length, meanCharacters: Math.round(characters / own.length) }
    })
}

function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)]
}
