// Statistics over one transcript or a tree of thousands.
import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createStatisticsBook, type SessionKind, type Statistics } from '../core/transcript/statistics.ts'
import { scanFile } from './scan-file.ts'

export type StatsOptions = {
  readonly onProgress?: (done: { readonly bytes: number; readonly files: number }, all: Plan) => void
}

export type Plan = { readonly files: readonly string[]; readonly bytes: number }

export type FolderStatistics = Statistics & {
  readonly files: number
  readonly bytes: number
  /** Files that could not be read, with the system's word on why. */
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[]
}

/** Every transcript below these paths; a file that is named is taken as it is. */
export function findTranscripts(paths: readonly string[]): Plan {
  const files = paths.flatMap((path) => (statSync(path).isDirectory() ? transcriptsBelow(path) : [path]))
  return { files, bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) }
}

function transcriptsBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((item) => item.isFile() && item.name.endsWith('.jsonl'))
    .map((item) => join(item.parentPath, item.name))
    .toSorted()
}

export function collectStatistics(paths: readonly string[], options: StatsOptions = {}): FolderStatistics {
  const plan = findTranscripts(paths)
  const book = createStatisticsBook()
  const unreadable: { path: string; reason: string }[] = []
  const done = { bytes: 0, files: 0 }
  for (const path of plan.files) {
    try {
      const before = done.bytes
      const onProgress = (bytes: number) => options.onProgress?.({ ...done, bytes: before + bytes }, plan)
      const scan = scanFile(path, { onProgress })
      book.add(scan, { kind: kindOf(path), salvaged: scan.salvaged })
      done.bytes += scan.bytes
    } catch (error) {
      unreadable.push({ path, reason: error instanceof Error ? error.message : String(error) })
    }
    done.files++
    options.onProgress?.(done, plan)
  }
  return { ...book.statistics(), files: plan.files.length, bytes: plan.bytes, unreadable }
}

function kindOf(path: string): SessionKind {
  const name = basename(path)
  if (name.startsWith('agent-acompact-')) return 'compaction-run'
  return name.startsWith('agent-') ? 'subagent' : 'session'
}
