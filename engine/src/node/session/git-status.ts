// Parses `git status --porcelain=v2 --branch -z`. A record that was cut off is skipped.
import { posix } from 'node:path'
import type { WorkspaceFile, WorkspaceState } from '../../core/ports/workspace.ts'

export type GitStatus = {
  /** Undefined before the first commit. */
  readonly oid: string | undefined
  /** Undefined if HEAD is detached. */
  readonly branch: string | undefined
  readonly upstream: WorkspaceState['upstream']
  readonly staged: readonly WorkspaceFile[]
  readonly unstaged: readonly WorkspaceFile[]
  readonly untracked: readonly WorkspaceFile[]
  readonly conflicts: readonly WorkspaceFile[]
}

/** Paths are relative to the repository's root in the output, and to `prefix` in the result. */
export function parseStatus(output: string, prefix: string): GitStatus {
  const headers = new Map<string, string>()
  const files = { staged: [], unstaged: [], untracked: [], conflicts: [] } as Record<ListName, WorkspaceFile[]>
  // After the last terminator: empty or cut off.
  const records = output.split('\0').slice(0, -1)
  for (let at = 0; at < records.length; at++) {
    const record = records[at] ?? ''
    if (record.startsWith('# ')) {
      const space = record.indexOf(' ', 2)
      headers.set(record.slice(2, space), record.slice(space + 1))
    }
    // The old name of a renamed file is a separate record.
    if (record.startsWith('2 ')) at++
    const path = fileRecord.exec(record)?.[1]
    if (path !== undefined) noteFile(files, record, relativeTo(prefix, path))
  }
  const oid = headers.get('branch.oid')
  const branch = headers.get('branch.head')
  return {
    oid: oid === '(initial)' ? undefined : oid,
    branch: branch === '(detached)' ? undefined : branch,
    upstream: upstreamOf(headers),
    ...files,
  }
}

type ListName = 'staged' | 'unstaged' | 'untracked' | 'conflicts'

/** The path follows 8, 9, 10 or 1 fields, depending on the record type. */
const fileRecord = /^(?:1 (?:\S+ ){7}|2 (?:\S+ ){8}|u (?:\S+ ){9}|\? )(.+)$/s

function relativeTo(prefix: string, path: string): string {
  if (prefix === '') return path
  const found = posix.relative(prefix, path) || '.'
  return path.endsWith('/') ? `${found}/` : found
}

function noteFile(files: Record<ListName, WorkspaceFile[]>, record: string, path: string): void {
  const [index = '.', tree = '.'] = record.slice(2, 4)
  if (record.startsWith('?')) files.untracked.push({ path })
  else if (record.startsWith('u')) files.conflicts.push({ path })
  else {
    if (index !== '.') files.staged.push({ path, ...changeOf(index) })
    if (tree !== '.') files.unstaged.push({ path, ...changeOf(tree) })
  }
}

function changeOf(letter: string): Pick<WorkspaceFile, 'change'> {
  if (letter === 'A' || letter === 'C') return { change: 'new' }
  if (letter === 'D') return { change: 'deleted' }
  return letter === 'R' ? { change: 'renamed' } : {}
}

function upstreamOf(headers: ReadonlyMap<string, string>): WorkspaceState['upstream'] {
  const name = headers.get('branch.upstream')
  if (name === undefined) return undefined
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(headers.get('branch.ab') ?? '') ?? []
  if (ahead === undefined || behind === undefined) return { name }
  return { name, counts: { ahead: Number(ahead), behind: Number(behind) } }
}
