// Plans what installing or uninstalling does to each file, before anything is written. Installing over an older version undoes
// the old one and applies the new one in one step.
import { createHash } from 'node:crypto'
import { sep } from 'node:path'
import { type Found, isSame, missingFolders, readFileAt, type Write } from '../../disk.ts'
import { type Made, make, type Refusal, undo } from './change.ts'
import { dataPaths } from './data.ts'
import { type FileRecord, type InstallRecord, recordPath, recordText } from './record.ts'
import type { InstallTarget, Place } from './target.ts'

/** Undefined means no file. */
type Bytes = Uint8Array | undefined

export type Plan = {
  /** In the order of writing. */
  readonly writes: readonly Write[]
  /** Folders to create, outermost first. */
  readonly folders: readonly string[]
  readonly refusals: readonly Refusal[]
}

export type Installed = { readonly record: InstallRecord | undefined; readonly version: string }

export function planInstall(target: InstallTarget, place: Place, { record, version }: Installed): Plan {
  const drafts = draftsOf(record)
  const refusals = [...drafts.refusals]
  const isRefused = new Set(drafts.refusals.map(({ path }) => path))
  for (const change of target.changes(place).filter(({ path }) => !isRefused.has(path))) {
    const draft = drafts.get(change.path)
    const text = textOf(draft.planned)
    const result = isOdd(draft, change.type, text) ?? make(change, text)
    if (result.type === 'refused') refusals.push({ ...result, path: change.path })
    else {
      draft.planned = result.text === undefined ? undefined : Buffer.from(result.text)
      if (result.made) draft.made.push(result.made)
    }
  }
  const all = drafts.all()
  const own = recordPath(place.home, target.name)
  const folders = missingFolders(
    [...all.filter(({ planned }) => planned).map(({ path }) => path), ...dataPaths(target, place), own],
    place.home,
  )
  const files = all.filter(({ made }) => made.length > 0).map((draft) => fileRecord(draft, record))
  const known = new Set(record?.folders)
  const next: InstallRecord = {
    ...{ format: 1, target: target.name, version },
    folders: [...(record?.folders ?? []), ...folders.filter((folder) => !known.has(folder))],
    files,
  }
  const now = readFileAt(own)
  const recordWrite = { path: own, before: now.bytes, after: Buffer.from(recordText(next)), mode: 0o600 }
  // The record comes first, so that an interruption between two writes can be undone.
  const writes = [recordWrite, ...all.map(writeOf)].filter(isReal)
  return { writes, folders: foldersFor(writes, folders), refusals }
}

export function planUninstall(
  record: InstallRecord,
  home: string,
  { forget }: Pick<InstallTarget, 'forget'> = {},
): Plan {
  const drafts = draftsOf(record)
  if (forget && drafts.refusals.length === 0) {
    for (const draft of drafts.all()) draft.planned = forgotten(draft, record, forget)
  }
  const own = recordPath(home, record.target)
  // The record comes last, for the same reason.
  const writes = [...drafts.all().map(writeOf), { path: own, before: readFileAt(own).bytes, after: undefined }]
  return { writes: writes.filter(isReal), folders: [], refusals: drafts.refusals }
}

/** Restores the original if only empty lines differ. */
function forgotten(
  { path, planned }: Draft,
  record: InstallRecord,
  forget: NonNullable<InstallTarget['forget']>,
): Bytes {
  const text = textOf(planned)
  const left = text === undefined ? undefined : forget(text, path)
  if (left === undefined || left === text) return planned
  const { before = null } = record.files.find((file) => file.path === path) ?? {}
  const original = before === null ? undefined : Buffer.from(before, 'base64')
  const isSameText = linesOf(left).join('\n') === linesOf(textOf(original) ?? '').join('\n')
  return isSameText ? original : Buffer.from(left)
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '')
}

/** A file in its present and planned form; `base` is the file without our changes. */
type Draft = {
  readonly path: string
  readonly found: Found
  readonly base: Bytes
  planned: Bytes
  readonly made: Made[]
}

function draftsOf(record: InstallRecord | undefined) {
  const drafts = new Map<string, Draft>()
  const refusals: Refusal[] = []
  for (const file of record?.files ?? []) {
    const found = readFileAt(file.path)
    const base = withoutOurs(file, found, refusals)
    drafts.set(file.path, { path: file.path, found, base, planned: base, made: [] })
  }
  return {
    refusals,
    all: () => [...drafts.values()],
    get: (path: string): Draft => {
      const found = readFileAt(path)
      const draft = drafts.get(path) ?? { path, found, base: found.bytes, planned: found.bytes, made: [] }
      drafts.set(path, draft)
      return draft
    },
  }
}

/** The file without everlong's changes but with all later changes by others. */
function withoutOurs(file: FileRecord, { bytes }: Found, refusals: Refusal[]): Bytes {
  const before = file.before === null ? undefined : Buffer.from(file.before, 'base64')
  if (bytes === undefined) return undefined
  if (file.after.includes(hashOf(bytes))) return before
  if (before && hashOf(before) === hashOf(bytes)) return bytes
  let text = textOf(bytes)
  for (const made of file.made.toReversed()) {
    if (text === undefined) return undefined
    const result = undo(file.path, made, { text, isNew: before === undefined })
    if (result.type === 'refused') {
      refusals.push(result)
      return bytes
    }
    text = result.text
  }
  return text === undefined ? undefined : Buffer.from(text)
}

/** The reason why a file cannot be edited, regardless of its text. */
function isOdd({ found, planned }: Draft, type: string, text: string | undefined): Refusal | undefined {
  const odd = (why: string): Refusal => ({ type: 'refused', path: '', why, todo: 'Move it away, then try again.' })
  if (found.odd !== undefined) return odd(found.odd)
  if (found.isLink && type === 'file') return odd('it exists already, as a link')
  return planned !== undefined && text === undefined ? odd('it is not valid UTF-8') : undefined
}

function fileRecord({ path, base, planned, made, found }: Draft, old: InstallRecord | undefined): FileRecord {
  const last = old?.files.find((file) => file.path === path)
  const now = found.bytes && hashOf(found.bytes)
  const earlier = now !== undefined && last?.after.includes(now) ? [now] : []
  const after = planned ? [...new Set([hashOf(planned), ...earlier])] : []
  return { path, before: base ? Buffer.from(base).toString('base64') : null, after, made }
}

function writeOf({ path, found, planned }: Draft): Write {
  return { path, before: found.bytes, after: planned }
}

function isReal({ before, after }: Write): boolean {
  return !isSame(before, after)
}

/** A folder is made only for a file that is written. */
function foldersFor(writes: readonly Write[], folders: readonly string[]): readonly string[] {
  return folders.filter((folder) => writes.some(({ path, after }) => after && path.startsWith(folder + sep)))
}

function textOf(bytes: Bytes): string | undefined {
  try {
    return bytes && new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
