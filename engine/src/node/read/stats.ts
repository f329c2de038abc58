// The transcripts and sessions below some paths, and statistics over one of them or a tree of thousands.
import { type Dirent, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createStatisticsBook, type SessionKind, type Statistics } from '../../core/transcript/report/statistics.ts'
import { isTranscript } from '../../core/transcript/tree/scan.ts'
import { whyUnreadable } from '../write/disk.ts'
import { scanFile } from './entries.ts'

export type Unreadable = { readonly path: string; readonly reason: string }

export type Plan = {
  readonly files: readonly string[]
  readonly bytes: number
  readonly unreadable: readonly Unreadable[]
}

export type StatsProgress = {
  readonly bytes: number
  readonly bytesAll: number
  readonly files: number
  readonly filesAll: number
}

export type StatsOptions = { readonly onProgress?: (progress: StatsProgress) => void }

export type FolderStatistics = Statistics & {
  readonly files: number
  readonly bytes: number
  readonly unreadable: readonly Unreadable[]
  readonly withoutConversation: readonly string[]
}

/** Every `.jsonl` file below these paths, and the given files whatever their names. */
export function findTranscripts(paths: readonly string[]): Plan {
  const found: { files: string[]; bytes: number; unreadable: Unreadable[] } = { files: [], bytes: 0, unreadable: [] }
  const visit = (path: string, isNamed: boolean): void => {
    attempt(path, found.unreadable, () => {
      const stats = statSync(path)
      if (stats.isDirectory()) {
        // Links are not followed: they could form a cycle.
        const items = readdirSync(path, { withFileTypes: true })
        const isWanted = (item: Dirent) => item.isDirectory() || (item.isFile() && item.name.endsWith('.jsonl'))
        const names = items.filter(isWanted).map(({ name }) => join(path, name))
        for (const name of names.toSorted()) visit(name, false)
      } else if (!stats.isFile()) {
        // Reading a pipe could block forever.
        if (isNamed) found.unreadable.push({ path, reason: 'not a regular file. Save its contents to a file.' })
      } else if (isNamed || path.endsWith('.jsonl')) {
        found.files.push(path)
        found.bytes += stats.size
      }
    })
  }
  for (const path of new Set(paths)) visit(path, true)
  return found
}

function attempt(path: string, unreadable: Unreadable[], read: () => void): void {
  try {
    read()
  } catch (error) {
    unreadable.push({ path, reason: whyUnreadable(error) })
  }
}

/** Yields after every file. */
export function* collectingStatistics(
  paths: readonly string[],
  options: StatsOptions = {},
): Generator<StatsProgress, FolderStatistics, undefined> {
  const plan = findTranscripts(paths)
  const book = createStatisticsBook()
  const unreadable = [...plan.unreadable]
  const withoutConversation: string[] = []
  let progress = { bytes: 0, bytesAll: plan.bytes, files: 0, filesAll: plan.files.length }
  for (const path of plan.files) {
    const before = progress
    attempt(path, unreadable, () => {
      const onProgress = (bytes: number) => options.onProgress?.({ ...before, bytes: before.bytes + bytes })
      const scan = scanFile(path, { onProgress })
      if (isTranscript(scan)) book.add(scan, { kind: kindOf(path), salvaged: scan.salvaged })
      else withoutConversation.push(path)
      progress = { ...progress, bytes: before.bytes + scan.bytes }
    })
    progress = { ...progress, files: before.files + 1 }
    options.onProgress?.(progress)
    yield progress
  }
  return { ...book.statistics(), files: plan.files.length, bytes: plan.bytes, unreadable, withoutConversation }
}

function kindOf(path: string): SessionKind {
  const name = basename(path)
  if (name.startsWith('agent-acompact-')) return 'compaction-run'
  return name.startsWith('agent-') ? 'subagent' : 'session'
}

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
