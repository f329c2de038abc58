// Reads the git state of a folder. It runs git without a shell, changes nothing, runs no hooks, uses no network and
// never throws: without git, it returns a reason.
import { type ExecFileException, execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { defined } from '../../core/message/json.ts'
import type {
  Capped,
  Commit,
  NoWorkspaceState,
  Since,
  Workspace,
  WorkspaceFile,
  WorkspaceState,
} from '../../core/ports/workspace.ts'
import { filtersOff, listSettings, safeGit } from '../safe-git.ts'

export type GitWorkspaceOptions = {
  readonly folder: string
  readonly timeoutMs?: number
  readonly git?: string
}

const maxOutputBytes = 1024 * 1024
const maxFiles = 20
const maxCommits = 20
const maxCounted = 500

export function gitWorkspace({ folder, timeoutMs = 2_000, git = 'git' }: GitWorkspaceOptions): Workspace {
  return {
    state: async ({ since, signal } = {}) => {
      const stop = new AbortController()
      const abort = () => stop.abort()
      const timer = setTimeout(abort, timeoutMs)
      signal?.addEventListener('abort', abort)
      if (signal?.aborted) abort()
      try {
        return await stateOf({ folder, git, signal: stop.signal }, since)
      } catch (error) {
        if (signal?.aborted) return unknown('it was stopped')
        if (stop.signal.aborted) return unknown(`git did not answer within ${timeoutMs} ms`)
        return unknown(error instanceof GitFailed ? error.message : `git failed (${String(error)})`)
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
      }
    },
  }
}

function unknown(why: string): NoWorkspaceState {
  return { type: 'unknown', why }
}

type Place = { readonly folder: string; readonly git: string; readonly signal: AbortSignal }

// The configurations of submodules are not checked.
const status = 'status --porcelain=v2 --branch -z --untracked-files=normal --ignore-submodules=dirty'.split(' ')
const log = 'log -z --no-show-signature --encoding=UTF-8 --format=%H%x00%s'.split(' ')

async function stateOf(place: Place, since: Since | undefined): Promise<WorkspaceState> {
  const prefix = await run(place, ['rev-parse', '--show-prefix'])
  const output = await run(place, [...(await withoutFilters(place)), ...status])
  const { oid, branch, upstream, ...files } = parseStatus(output.text, prefix.text.trimEnd())
  const age = since && `--max-age=${Math.max(0, Math.floor(since.time / 1000))}`
  const commits = oid && age ? await commitsOf(place, [`--max-count=${maxCounted}`, age, oid]) : undefined
  return {
    type: 'state',
    ...defined({ branch, upstream, head: oid === undefined ? undefined : await commitAt(place, oid) }),
    staged: capped(files.staged, maxFiles),
    unstaged: capped(files.unstaged, maxFiles),
    untracked: capped(files.untracked, maxFiles),
    conflicts: capped(files.conflicts, maxFiles),
    ...defined({ commits: commits && capped(commits, maxCommits) }),
    isPartial: output.isCut || commits?.length === maxCounted,
  }
}

/** `git status` filters files that may have changed. */
async function withoutFilters(place: Place): Promise<readonly string[]> {
  const { text, isCut } = await run(place, listSettings)
  const flags = isCut ? undefined : filtersOff(text)
  if (flags === undefined) throw new GitFailed('the settings of the repository may run programs')
  return flags
}

function capped<T>(all: readonly T[], max: number): Capped<T> {
  return { items: all.slice(0, max), count: all.length }
}

async function commitAt(place: Place, oid: string): Promise<Commit> {
  const [commit] = await commitsOf(place, ['-1', oid])
  return commit ?? { hash: oid, title: '' }
}

async function commitsOf(place: Place, what: readonly string[]): Promise<readonly Commit[]> {
  const { text } = await run(place, [...log, ...what, '--'])
  const fields = text.split('\0')
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, at) => ({
    hash: fields[2 * at] ?? '',
    title: fields[2 * at + 1] ?? '',
  }))
}

class GitFailed extends Error {}

type Output = { readonly text: string; readonly isCut: boolean }

function run({ folder, git, signal }: Place, what: readonly string[]): Promise<Output> {
  const limits = { signal, maxBuffer: maxOutputBytes, killSignal: 'SIGKILL' } as const
  const { flags, env } = safeGit()
  const options = { cwd: folder, env, ...limits, windowsHide: true }
  return new Promise((done, fail) => {
    execFile(git, ['--no-pager', ...flags, ...what], options, (error, text, complaint) => {
      if (!error) done({ text, isCut: false })
      else if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') done({ text, isCut: true })
      else if (signal.aborted) fail(error)
      else reasonOf(folder, error, complaint).then((why) => fail(new GitFailed(why)), fail)
    })
  })
}

async function reasonOf(folder: string, error: ExecFileException, complaint: string): Promise<string> {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    const found = await stat(folder).catch(() => undefined)
    return found?.isDirectory() ? 'git is not installed' : 'the folder does not exist'
  }
  if (complaint.includes('not a git repository')) return 'the folder is not in a git repository'
  const [first = ''] = complaint.replace(/^fatal: /, '').split('\n')
  return `git refused: ${first.replace(/\p{C}+/gu, ' ').slice(0, 200) || String(error.code ?? error.message)}`
}

type ListName = 'staged' | 'unstaged' | 'untracked' | 'conflicts'

type GitStatus = Readonly<Record<ListName, readonly WorkspaceFile[]>> & {
  /** Undefined before the first commit. */
  readonly oid: string | undefined
  /** Undefined if HEAD is detached. */
  readonly branch: string | undefined
  readonly upstream: WorkspaceState['upstream']
}

/**
 * Parses `git status --porcelain=v2 --branch -z`; a record that was cut off is skipped. Paths are relative to the
 * repository's root in the output, and to `prefix` in the result.
 */
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
  const known = (name: string, none: string) => (headers.get(name) === none ? undefined : headers.get(name))
  return {
    oid: known('branch.oid', '(initial)'),
    branch: known('branch.head', '(detached)'),
    upstream: upstreamOf(headers),
    ...files,
  }
}

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
    if (index !== '.') files.staged.push({ path, ...changes[index] })
    if (tree !== '.') files.unstaged.push({ path, ...changes[tree] })
  }
}

const changes: Readonly<Record<string, Pick<WorkspaceFile, 'change'>>> = {
  A: { change: 'new' },
  C: { change: 'new' },
  D: { change: 'deleted' },
  R: { change: 'renamed' },
}

function upstreamOf(headers: ReadonlyMap<string, string>): WorkspaceState['upstream'] {
  const name = headers.get('branch.upstream')
  if (name === undefined) return undefined
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(headers.get('branch.ab') ?? '') ?? []
  if (ahead === undefined || behind === undefined) return { name }
  return { name, counts: { ahead: Number(ahead), behind: Number(behind) } }
}
