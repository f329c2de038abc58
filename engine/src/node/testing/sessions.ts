// Helpers for tests that write sessions.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../core/message/json.ts'
import { collectingStatistics, type FolderStatistics, type StatsOptions } from '../read/stats.ts'
import { type Disk, nodeDisk } from '../write/disk.ts'
import { openWriter, type TranscriptWriter, type WriterOptions } from '../write/writer.ts'

/** Temporary folders, removed at the end. */
export function temporaryFolders(): { readonly next: () => string; readonly remove: () => void } {
  const made: string[] = []
  return {
    next: () => {
      const folder = mkdtempSync(join(tmpdir(), 'everlong-sessions-'))
      made.push(folder)
      return folder
    },
    remove: () => {
      for (const folder of made) rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function opened(path: string, options: Partial<WriterOptions> = {}): Promise<TranscriptWriter> {
  const result = await openWriter(path, { owner: 'a test', ...options })
  if (result.type !== 'opened') throw new Error(JSON.stringify(result))
  return result.writer
}

/** Complete lines only. */
export function linesOf(path: string): readonly string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1)
}

export function recordsOf(path: string): readonly unknown[] {
  return linesOf(path).map((line): unknown => JSON.parse(line))
}

export function parses(line: string): boolean {
  try {
    return typeof JSON.parse(line) === 'object'
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}

/** Without the fields that link records. */
export function withoutUuids(record: JsonObject): JsonObject {
  const { uuid: _uuid, parentUuid: _parent, logicalParentUuid: _logical, ...rest } = record
  return JSON.parse(JSON.stringify(rest)) as JsonObject
}

/** A record that shows which process wrote it, in what order, and whether it is whole. */
export type NumberedRecord = {
  readonly name: string
  readonly seq: number
  readonly token: string
  readonly text: string
  readonly sum: string
}

export function sumOf(record: Omit<NumberedRecord, 'sum'>): string {
  return createHash('sha256').update(`${record.name} ${record.seq} ${record.token} ${record.text}`).digest('hex')
}

/** A real disk that announces each operation, so that a test can count, interrupt or kill at any step. */
export function watchedDisk(before: (operation: keyof Disk) => void, disk: Disk = nodeDisk): Disk {
  return {
    open: (path, opening) => announced('open', () => disk.open(path, opening)),
    stat: (file) => announced('stat', () => disk.stat(file)),
    read: (file, into, position) => announced('read', () => disk.read(file, into, position)),
    write: (file, bytes) => announced('write', () => disk.write(file, bytes)),
    truncate: (file, size) => announced('truncate', () => disk.truncate(file, size)),
    sync: (file) => announced('sync', () => disk.sync(file)),
    close: (file) => announced('close', () => disk.close(file)),
    link: (from, to) => announced('link', () => disk.link(from, to)),
    rename: (from, to) => announced('rename', () => disk.rename(from, to)),
    unlink: (path) => announced('unlink', () => disk.unlink(path)),
    list: (folder) => announced('list', () => disk.list(folder)),
    makeFolder: (path) => announced('makeFolder', () => disk.makeFolder(path)),
  }
  function announced<T>(operation: keyof Disk, run: () => T): T {
    before(operation)
    return run()
  }
}

export function collectStatistics(paths: readonly string[], options: StatsOptions = {}): FolderStatistics {
  const steps = collectingStatistics(paths, options)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
