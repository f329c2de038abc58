// `everlong inspect --stats`: figures over one session or thousands. Reads file by file; one that cannot be read is named.

import { existsSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { visible } from '@everlong/agent/render'
import { costOf, type ModelTokens, type Statistics } from 'everlong/internal'
import { collectingStatistics, type FolderStatistics, type StatsOptions } from 'everlong/internal/node'
import type { Io } from '../../io.ts'
import { failed, noTranscript, noTranscripts, notThere, type Outcome } from '../../outcome.ts'
import { createProgress } from '../../progress.ts'

/** US dollars; undefined where the model's price is not known. */
export type ModelCost = ModelTokens & { readonly cost: number | undefined }

export type StatsReport = Omit<
  FolderStatistics,
  'models' | 'compactionModels' | 'compactionsRecorded' | 'compactionEstimates'
> & {
  readonly paths: readonly string[]
  /** Usage of sessions and sub-agents. */
  readonly models: readonly ModelCost[]
  readonly cost: Cost
  /** Usage of compactions: from their own runs, or estimated for those without one. */
  readonly compactionCost: {
    readonly recorded: Share
    readonly estimated: Share
  }
}

/** Dollars of the models with a price, and which have none. */
export type Cost = { readonly dollars: number; readonly withoutPrice: readonly string[] }

export type Share = Cost & { readonly compactions: number; readonly models: readonly ModelCost[] }

export async function gather(paths: readonly string[], io: Io): Promise<Outcome<StatsReport>> {
  const statistics = await collect(paths, io)
  const { files, unreadable, withoutConversation } = statistics
  if (files === 0) return failed(nothingFound(paths, statistics))
  const report = reportOf(paths, statistics)
  // Folders of sessions may contain such files, but a file that is named must have a conversation.
  const named = withoutConversation.find((path) => paths.includes(path))
  const isBlank = withoutConversation.length === files
  const complaint = isBlank || named !== undefined ? noConversation(named, paths) : undefined
  const exitCode = unreadable.length > 0 || complaint !== undefined ? 1 : 0
  return { type: 'gathered', report, exitCode, isBlank, ...(complaint === undefined ? {} : { complaint }) }
}

function noConversation(file: string | undefined, paths: readonly string[]): string {
  if (file !== undefined) return noTranscript(file)
  return `no file (.jsonl) below ${paths.map(visible).join(', ')} holds a conversation. Claude Code keeps its sessions below ~/.claude/projects.`
}

function nothingFound(paths: readonly string[], { unreadable }: FolderStatistics): string {
  const [first] = unreadable
  if (first && !existsSync(first.path)) return notThere(first.path)
  if (first) return `${visible(first.path)} cannot be read: ${visible(first.reason)}`
  return noTranscripts(paths)
}

/** Yields between files, so that Ctrl-C works and the progress line can be removed first. */
async function collect(paths: readonly string[], io: Io): Promise<FolderStatistics> {
  const progress = createProgress(io)
  const forget = io.onInterrupt?.(progress.clear)
  try {
    const onProgress: StatsOptions['onProgress'] = ({ bytes, bytesAll, files, filesAll }) =>
      progress.show(bytes, bytesAll, `${files} of ${filesAll} files`)
    const steps = collectingStatistics(paths, { onProgress })
    for (;;) {
      const step = steps.next()
      if (step.done) return step.value
      await setImmediate()
    }
  } finally {
    forget?.()
    progress.clear()
  }
}

function reportOf(paths: readonly string[], statistics: FolderStatistics): StatsReport {
  const { models, compactionModels, compactionsRecorded, compactionEstimates, ...rest } = statistics
  const priced = models.map(withCost)
  return {
    paths,
    ...rest,
    models: priced,
    cost: sumOf(priced),
    compactionCost: {
      recorded: shareOf(compactionModels, compactionsRecorded),
      estimated: shareOf(compactionEstimates, compactionsOf(compactionEstimates)),
    },
  }
}

function compactionsOf(models: Statistics['compactionEstimates']): number {
  return models.reduce((sum, { answers }) => sum + answers, 0)
}

function shareOf(models: readonly ModelTokens[], compactions: number): Share {
  const priced = models.map(withCost)
  return { compactions, ...sumOf(priced), models: priced }
}

function withCost(used: ModelTokens): ModelCost {
  return { ...used, cost: costOf(used.tokens, used.model) }
}

function sumOf(models: readonly ModelCost[]): Cost {
  return {
    dollars: models.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    withoutPrice: models.filter(({ cost }) => cost === undefined).map(({ model }) => model),
  }
}
