// The sessions below some paths, newest first.
import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { findTranscripts, type Unreadable } from './stats.ts'

export type FoundSession = {
  readonly path: string
  /** Time of the last change, in milliseconds since 1970. */
  readonly time: number
  readonly bytes: number
}

export type FoundSessions = { readonly files: readonly FoundSession[]; readonly unreadable: readonly Unreadable[] }

/** Files of sub-agents count only if they are named. */
export function findSessions(paths: readonly string[]): FoundSessions {
  const { files, unreadable } = findTranscripts(paths)
  const isSession = (path: string) => paths.includes(path) || !basename(path).startsWith('agent-')
  const found = [...new Set(files)].filter(isSession).flatMap((path): readonly FoundSession[] => {
    // An agent may remove a file at any time.
    const stats = statSync(path, { throwIfNoEntry: false })
    return stats ? [{ path, time: stats.mtimeMs, bytes: stats.size }] : []
  })
  return { files: found.toSorted((a, b) => b.time - a.time), unreadable }
}
