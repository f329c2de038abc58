// What the last compaction of a branch left out, whoever wrote it: the summary and what was kept are compared with the
// conversation before it.
import { compactionJobAt, missingFromSummary } from 'everlong/node'
import { objectAt, stringAt, textOf } from 'everlong/transcript'
import type { Context, SessionEntry } from './pi-api.ts'
import { lastCompaction, openBranch } from './session.ts'

export function lostText(context: Context): string {
  const branch = context.sessionManager.getBranch()
  const compaction = lastCompaction(branch)
  if (!compaction) return 'This session was not compacted yet.'
  const before = branch.slice(0, branch.indexOf(compaction))
  const session = openBranch(context, before)
  const summary = withoutPointers(stringAt(compaction, 'summary') ?? '')
  const shown = [summary, keptText(session.fold.view(), compaction)].join('\n')
  const missing = missingFromSummary(compactionJobAt(session), { summary: shown })
  // What a summary of ours says was checked when it was written; the rest of it are figures of our own.
  const isOurs = objectAt(objectAt(compaction, 'details'), 'everlong') !== undefined
  return (
    (isOurs
      ? missing.replace(/\s*## Names in the summary that the conversation does not contain\nUnverified[^\n]*/, '')
      : missing) || nothing
  )
}

const nothing = 'The last compaction left nothing out that code can find.'

/** Our own summaries say where the rest is, which no conversation supports. */
function withoutPointers(summary: string): string {
  return summary.replace(/^Nothing is lost: for exact code.*$/m, '').replace(/ \(in full: recall\([^\n]*\)\)/g, '')
}

/** What was kept verbatim is not lost. */
function keptText(
  { sources }: ReturnType<ReturnType<typeof openBranch>['fold']['view']>,
  compaction: SessionEntry,
): string {
  const pieces = sources.flatMap((source) => source.pieces)
  const first = pieces.findIndex(({ uuid }) => uuid === stringAt(compaction, 'firstKeptEntryId'))
  const kept = first < 0 ? [] : pieces.slice(first)
  return kept.map(({ content }) => textOf(content)).join('\n')
}
