// Helpers for tests that write sessions.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '../../core/message/json.ts'
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
