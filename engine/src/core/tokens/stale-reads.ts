// Which reads of files are worth nothing any more: their lines stand further down again, or the file was changed since.
import { type AnsweredCall, createCovered, fileEventOf, isPointer } from './file-reads.ts'

export type WhyStale = 'read-again' | 'changed-since'

/**
 * By tool use id, from calls in their order. A result for which `isGone` holds, or that only says that nothing changed,
 * brings no line again.
 */
export function staleReads(
  calls: readonly AnsweredCall[],
  isGone: (call: AnsweredCall) => boolean,
): ReadonlyMap<string, WhyStale> {
  const stale = new Map<string, WhyStale>()
  const later = new Map<string, ReturnType<typeof createCovered>>()
  const changed = new Set<string>()
  for (const call of calls.toReversed()) {
    const event = fileEventOf(call)
    if (event?.type === 'changed') for (const path of event.paths) changed.add(path)
    if (event?.type !== 'read') continue
    const { read } = event
    const covered = later.get(read.path) ?? createCovered()
    later.set(read.path, covered)
    const isChanged = changed.has(read.path) && read.from === 1 && read.to === Number.POSITIVE_INFINITY
    const why = covered.holds(read) ? 'read-again' : isChanged ? 'changed-since' : undefined
    // Of several reads with one id the newest that is stale counts.
    if (why !== undefined && !stale.has(read.toolUseId)) stale.set(read.toolUseId, why)
    if (!isGone(call) && !isPointer(read.result)) covered.add(read)
  }
  return stale
}
