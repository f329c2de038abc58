// The files that `everlong install` wrote, with their previous bytes: ~/.everlong/installed/NAME.json. Readable only by its
// owner, because settings can hold secrets.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isObject } from 'everlong/internal'
import type { Made } from './change.ts'

export type FileRecord = {
  readonly path: string
  /** The file before everlong changed it, in base64; null if there was none. */
  readonly before: string | null
  /** Hashes of the file after everlong's change: of this version, and of the one it replaced. */
  readonly after: readonly string[]
  /** In the order in which they were applied. */
  readonly made: readonly Made[]
}

export type InstallRecord = {
  readonly format: 1
  readonly target: string
  readonly version: string
  /** Folders that did not exist before, outermost first. */
  readonly folders: readonly string[]
  readonly files: readonly FileRecord[]
}

export function recordPath(home: string, target: string): string {
  return join(home, '.everlong', 'installed', `${target}.json`)
}

/** Everlong's own folders, innermost first. Removed when empty, whoever created them. */
export function ownFolders(home: string): readonly string[] {
  const folder = dirname(recordPath(home, ''))
  return [folder, dirname(folder)]
}

export function recordText(record: InstallRecord): string {
  return `${JSON.stringify(record, null, 2)}\n`
}

/** Undefined if the target is not installed. An unusable record is an error. */
export function readRecord(home: string, target: string): InstallRecord | undefined {
  const path = recordPath(home, target)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const record = parsed(text)
  if (!isRecord(record) || record.target !== target) throw new DamagedRecord(path)
  return record
}

export class DamagedRecord extends Error {
  constructor(path: string) {
    super(
      `${path} is damaged, or from a newer everlong. Nothing was changed. Without it nobody knows what was installed: restore it from a backup, or remove what everlong wrote by hand and then this file.`,
    )
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is InstallRecord {
  return (
    isObject(value) && value.format === 1 && isStrings(value.folders) && isListOf(value.files, isFileRecord) === true
  )
}

function isFileRecord(value: unknown): value is FileRecord {
  if (!isObject(value) || typeof value.path !== 'string' || !isStrings(value.after)) return false
  return (value.before === null || typeof value.before === 'string') && isListOf(value.made, isObject)
}

function isStrings(value: unknown): value is readonly string[] {
  return isListOf(value, (item) => typeof item === 'string')
}

function isListOf(value: unknown, is: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(is)
}
