// `everlong tour`, which `npm start` runs: a guided look at the session that comes along. No key, no network.
import { isAbsolute, join, relative } from 'node:path'
import { type Block, countTokens, type Entry } from 'everlong'
import { blocksOf, type Epoch, messagesOf, textOf, type ViewMessage } from 'everlong/internal'
import { forEachEntry, scanFile } from 'everlong/internal/node'
import { gathered, type Outcome } from '../outcome.ts'
import { packageRoot } from '../package-root.ts'
import { programName } from '../program-name.ts'
import { openLiveSession } from '../session.ts'
import type { Surroundings } from '../surroundings.ts'
import { type ContextReport, gather as gatherContext } from './context.ts'
import { type Digest, digestOf } from './tree-digest.ts'

export type TourReport = {
  readonly path: string
  /** How the reader of the tour runs this program. */
  readonly program: string
  readonly title: string
  readonly bytes: number
  readonly records: number
  readonly lasted: number
  readonly epochs: readonly Epoch[]
  /** The window the story is told in: a small one, so that it fills within a short session. */
  readonly window: number
  readonly context: ContextReport
  readonly olderResults: OlderResults
  readonly compaction: {
    readonly summary: string
    readonly kept: readonly Digest[]
    /** Files the client showed again right after it. */
    readonly shownAgain: readonly string[]
  }
}

/** Tool results that could be had again, all but the newest few. */
export type OlderResults = {
  readonly all: number
  readonly results: number
  readonly tokens: number
  readonly newestKept: number
}

export const tourFile = join(packageRoot, 'assets/tour.jsonl')
const tourWindow = 60_000

/** The reader's own settings are left out: the story is always the same. */
export function gather({ cwd, env }: Pick<Surroundings, 'cwd' | 'env'>): Outcome<TourReport> {
  const path = shorter(relative(cwd, tourFile), tourFile)
  const outcome = gatherContext(tourFile, { env: {}, window: tourWindow })
  if (outcome.type === 'failed') return outcome
  const scan = scanFile(tourFile)
  const { live, messages } = openLiveSession(tourFile)
  const first = Date.parse(scan.epochs[0]?.from ?? '')
  const last = Date.parse(scan.epochs.at(-1)?.to ?? '')
  const kept = scan.epochs.at(-1)?.openedBy?.kept ?? 0
  return gathered({
    path,
    program: programName({ cwd, env }),
    title: titleOf(tourFile),
    bytes: scan.bytes,
    records: scan.records,
    lasted: last - first,
    epochs: scan.epochs,
    window: tourWindow,
    context: { ...outcome.report, path },
    olderResults: olderResultsOf(messages, outcome.report.model),
    compaction: compactionOf(live.entries, kept),
  })
}

function shorter(path: string, full: string): string {
  return path.length < full.length && !isAbsolute(path) ? path : full
}

function titleOf(path: string): string {
  let title = ''
  forEachEntry(path, ({ record }) => {
    if (typeof record.aiTitle === 'string') title = record.aiTitle
  })
  return title
}

/** Tools whose results can be had again by calling them again. */
const reproducible = ['Read', 'Bash', 'Grep', 'Glob', 'WebFetch', 'WebSearch', 'Edit', 'Write']
const newestKept = 3

function olderResultsOf(messages: readonly ViewMessage[], model: string | undefined): OlderResults {
  const blocks = messages.flatMap(({ content }) => blocksOf(content))
  const names = new Map(blocks.filter(({ type }) => type === 'tool_use').map(({ id, name }) => [id, name]))
  const results = blocks.filter(
    (block) => block.type === 'tool_result' && reproducible.includes(String(names.get(block.tool_use_id))),
  )
  const older = results.slice(0, -newestKept)
  const tokensOf = (block: Block) => countTokens([{ role: 'user', content: [block] }], { model })
  const tokens = older.reduce((sum, block) => sum + tokensOf(block), 0)
  return { all: results.length, results: older.length, tokens, newestKept }
}

/** The live window begins with the boundary; then come the summary, what was kept, and what was shown again. */
function compactionOf(entries: readonly Entry[], kept: number): TourReport['compaction'] {
  const summaryAt = entries.findIndex(({ record }) => record.isCompactSummary === true)
  const summary = entries[summaryAt]
  const after = entries.slice(summaryAt + 1)
  const shownAgain = after.slice(kept).flatMap(({ record }) => {
    const path = (record.attachment as { readonly displayPath?: unknown } | undefined)?.displayPath
    return typeof path === 'string' ? [path] : []
  })
  const [message] = summary ? messagesOf([summary]) : []
  return { summary: textOf(message?.content), kept: after.slice(0, kept).map(digestOf), shownAgain }
}
