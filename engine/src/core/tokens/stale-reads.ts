// Which reads of files are worth nothing any more: their lines stand further down again, or the file was changed since.
// Told call by call, and taken back from the end where a conversation turns out to be another one.
import { type AnsweredCall, fileEventOf, isPointer } from './file-reads.ts'

export type WhyStale = 'read-again' | 'changed-since'

export type StaleReads = {
  /**
   * Takes in the next call, and returns how to take it back. A result that is gone, or only says that nothing changed,
   * brings nothing again.
   */
  readonly take: (call: AnsweredCall, is: { readonly gone: boolean }) => (() => void) | undefined
  /** The reads with this id, oldest first. They go on saying why they are stale while more calls are taken in. */
  readonly readsOf: (toolUseId: string) => readonly FollowedRead[]
}

export type FollowedRead = { readonly why: WhyStale | undefined }
type Read = { readonly from: number; readonly to: number; why: WhyStale | undefined }

/** Why the newest of them that is stale is so. */
export function whyStale(reads: readonly FollowedRead[]): WhyStale | undefined {
  for (let at = reads.length - 1; at >= 0; at--) if (reads[at]?.why !== undefined) return reads[at]?.why
  return undefined
}

const noReads: readonly FollowedRead[] = []

export function createStaleReads(): StaleReads {
  const byId = new Map<string, Read[]>()
  /** By path: the reads that no later one has brought again. */
  const alone = new Map<string, Set<Read>>()
  const readsOf = (path: string): Set<Read> => {
    const known = alone.get(path) ?? new Set()
    alone.set(path, known)
    return known
  }
  const takeRead = (path: string, read: Read, covers: boolean) => {
    const reads = readsOf(path)
    const covered = covers ? [...reads].filter(({ from, to }) => from >= read.from && to <= read.to) : []
    const before = covered.map(({ why }) => why)
    for (const other of covered) {
      other.why = 'read-again'
      reads.delete(other)
    }
    reads.add(read)
    return () => {
      reads.delete(read)
      for (const [at, other] of covered.entries()) {
        other.why = before[at]
        reads.add(other)
      }
    }
  }
  const takeChange = (paths: readonly string[]) => {
    const changed = paths.flatMap((path) => [...(alone.get(path) ?? [])]).filter((read) => isWhole(read) && !read.why)
    for (const read of changed) read.why = 'changed-since'
    return () => {
      for (const read of changed) read.why = undefined
    }
  }
  return {
    take: (call, is) => {
      const event = fileEventOf(call)
      if (!event) return undefined
      if (event.type === 'changed') return takeChange(event.paths)
      const { path, from, to, toolUseId, result } = event.read
      const read: Read = { from, to, why: undefined }
      const undo = takeRead(path, read, !is.gone && !isPointer(result))
      const same = byId.get(toolUseId)
      if (same) same.push(read)
      else byId.set(toolUseId, [read])
      return () => {
        undo()
        byId.get(toolUseId)?.pop()
      }
    },
    readsOf: (toolUseId) => byId.get(toolUseId) ?? noReads,
  }
}

function isWhole({ from, to }: Read): boolean {
  return from === 1 && to === Number.POSITIVE_INFINITY
}
