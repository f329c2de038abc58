// Reads the git state of a folder. It runs git without a shell, changes nothing, runs no hooks, uses no network and
// never throws: without git, it returns a reason.
import { type ExecFileException, execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import type {
  Capped,
  Commit,
  NoWorkspaceState,
  Since,
  Workspace,
  WorkspaceQuery,
  WorkspaceState,
} from '../../core/ports/workspace.ts'
import { parseStatus } from './git-status.ts'

export type GitWorkspaceOptions = {
  readonly folder: string
  /** For all commands together. */
  readonly timeoutMs?: number
  readonly git?: string
}

const maxOutputBytes = 1024 * 1024
const maxFiles = 20
const maxCommits = 20
/** Commits are counted up to this. */
const maxCounted = 500

export function gitWorkspace({ folder, timeoutMs = 2_000, git = 'git' }: GitWorkspaceOptions): Workspace {
  return {
    state: async ({ since, signal }: WorkspaceQuery = {}) => {
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

const statusArguments = ['status', '--porcelain=v2', '--branch', '-z', '--untracked-files=normal']

async function stateOf(place: Place, since: Since | undefined): Promise<WorkspaceState> {
  const prefix = await run(place, ['rev-parse', '--show-prefix'])
  // The configurations of submodules are not checked.
  const output = await run(place, [...statusArguments, '--ignore-submodules=dirty'])
  const { oid, branch, upstream, ...files } = parseStatus(output.text, prefix.text.trimEnd())
  const commits = oid === undefined || !since ? undefined : await commitsSince(place, oid, since)
  return {
    type: 'state',
    ...(branch === undefined ? {} : { branch }),
    ...(oid === undefined ? {} : { head: await commitAt(place, oid) }),
    ...(upstream ? { upstream } : {}),
    staged: capped(files.staged, maxFiles),
    unstaged: capped(files.unstaged, maxFiles),
    untracked: capped(files.untracked, maxFiles),
    conflicts: capped(files.conflicts, maxFiles),
    ...(commits && since ? { commits: { ...capped(commits, maxCommits), since } } : {}),
    isPartial: output.isCut || commits?.length === maxCounted,
  }
}

function capped<T>(all: readonly T[], most: number): Capped<T> {
  return { items: all.slice(0, most), count: all.length }
}

async function commitAt(place: Place, oid: string): Promise<Commit> {
  const [commit] = await log(place, ['-1', oid])
  return commit ?? { hash: oid, title: '' }
}

async function commitsSince(place: Place, oid: string, since: Since): Promise<readonly Commit[] | undefined> {
  const most = `--max-count=${maxCounted}`
  if ('time' in since) return log(place, [most, `--max-age=${Math.max(0, Math.floor(since.time / 1000))}`, oid])
  if (!/^[0-9a-f]{4,64}$/i.test(since.commit)) return undefined
  try {
    return await log(place, [most, `${since.commit}..${oid}`])
  } catch (error) {
    // Not a commit of this repository: the rest of the state is still valid.
    if (error instanceof GitFailed) return undefined
    throw error
  }
}

async function log(place: Place, what: readonly string[]): Promise<readonly Commit[]> {
  const { text } = await run(place, [
    'log',
    '-z',
    '--no-show-signature',
    '--encoding=UTF-8',
    '--format=%H%x00%s',
    ...what,
    '--',
  ])
  const fields = text.split('\0')
  return Array.from({ length: Math.floor(fields.length / 2) }, (_, at) => ({
    hash: fields[2 * at] ?? '',
    title: fields[2 * at + 1] ?? '',
  }))
}

class GitFailed extends Error {}

type Output = { readonly text: string; readonly isCut: boolean }

/** A repository's configuration may name programs to run. */
const safeConfig = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.pager', 'cat'],
  ['protocol.allow', 'never'],
].flatMap(([name, value]) => ['-c', `${name}=${value}`])

function run(place: Place, what: readonly string[]): Promise<Output> {
  const { folder, git, signal } = place
  const options = { cwd: folder, env: environment(), signal, maxBuffer: maxOutputBytes, killSignal: 'SIGKILL' } as const
  return new Promise((done, fail) => {
    execFile(
      git,
      ['--no-pager', ...safeConfig, ...what],
      { ...options, windowsHide: true },
      (error, text, complaint) => {
        if (!error) done({ text, isCut: false })
        else if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') done({ text, isCut: true })
        else if (signal.aborted) fail(error)
        else reasonOf(folder, error, complaint).then((why) => fail(new GitFailed(why)), fail)
      },
    )
  })
}

/** Variables of an outer git (in a hook) would select another repository. */
function environment(): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  const own = { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1', LC_ALL: 'C' }
  return { ...Object.fromEntries(others), ...own }
}

async function reasonOf(folder: string, error: ExecFileException, complaint: string): Promise<string> {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') {
    const isFolder = await stat(folder).then(
      (found) => found.isDirectory(),
      () => false,
    )
    return isFolder ? 'git is not installed' : 'the folder does not exist'
  }
  if (complaint.includes('not a git repository')) return 'the folder is not in a git repository'
  const [first = ''] = complaint.replace(/^fatal: /, '').split('\n')
  return `git refused: ${first.replace(/\p{C}+/gu, ' ').slice(0, 200) || String(error.code ?? error.message)}`
}
