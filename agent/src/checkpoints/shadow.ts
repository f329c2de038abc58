// Copies of the workspace's files in a git repository of our own outside the workspace. The person's own repository is never
// touched: this one has another folder, another index and no refs.
import { spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { safeGit } from 'everlong/internal/node'
import { isWithin } from '../files/paths.ts'

export type Shadow = {
  /** Saves the current files. */
  readonly save: () => Promise<SavedState>
  /** Changes from one state to the other. */
  readonly compare: (from: string, to: string) => Promise<readonly FileChange[]>
  /** Restores the files of the state `to`. Throws if git fails. */
  readonly restore: (from: string, to: string) => Promise<readonly FileChange[]>
}

export type SavedState = {
  /** Identifies the state. */
  readonly tree: string
  /** Files that were not saved, because they are too large or a repository of their own. */
  readonly skipped: readonly string[]
}

export type FileChange = { readonly path: string; readonly kind: 'created' | 'changed' | 'deleted' }

export type ShadowOptions = {
  /** The workspace, with all links resolved. */
  readonly folder: string
  /** The repository. Several sessions may share it. */
  readonly repository: string
  /** The index of this session. */
  readonly index: string
}

/** Larger files are not saved. */
export const maxKeptBytes = 10 * 1024 * 1024
const maxSkipped = 20
const maxMs = 60_000

export function createShadow({ folder, repository, index }: ShadowOptions): Shadow {
  const git = (args: readonly string[], input?: string) => runGit(args, { folder, repository, index, input })
  const prepare = async () => {
    mkdirSync(dirname(index), { recursive: true, mode: 0o700 })
    if (existsSync(join(repository, 'HEAD'))) return
    mkdirSync(repository, { recursive: true, mode: 0o700 })
    await git(['init', '--quiet', '--bare', repository])
  }
  const update = async (flags: readonly string[], paths: readonly string[]) => {
    if (paths.length > 0) await git(['update-index', '-z', ...flags, '--stdin'], `${paths.join('\0')}\0`)
  }
  const compare: Shadow['compare'] = async (from, to) =>
    changesIn(await git(['diff-tree', '-r', '-z', '--no-renames', '--name-status', from, to]))
  return {
    compare,
    save: async () => {
      await prepare()
      writeFileSync(join(repository, 'info', 'exclude'), await excluded(folder), { mode: 0o600 })
      const changed = await git(['ls-files', '-z', '-o', '-m', '-d', '--exclude-standard'])
      const paths = [...new Set(changed.split('\0').filter((path) => path !== ''))]
      const skipped = paths.filter((path) => isSkipped(join(folder, path)))
      const gone = new Set(paths.filter((path) => isGone(folder, path)))
      const kept = paths.filter((path) => !skipped.includes(path) && !gone.has(path))
      await update(['--force-remove'], [...gone])
      await update(['--add', '--replace'], kept)
      const tree = (await git(['write-tree'])).trim()
      return { tree, skipped: skipped.slice(0, maxSkipped) }
    },
    restore: async (from, to) => {
      const changes = await compare(from, to)
      await git(['read-tree', to])
      const present = changes.filter(({ kind }) => kind !== 'deleted').map(({ path }) => path)
      for (const { path, kind } of changes) if (kind === 'deleted') remove(folder, path)
      if (present.length > 0) await git(['checkout-index', '--force', '-z', '--stdin'], `${present.join('\0')}\0`)
      return changes
    },
  }
}

function isSkipped(path: string): boolean {
  const state = statSync(path, { throwIfNoEntry: false })
  // A repository inside the workspace is listed as a folder.
  return path.endsWith('/') || (state !== undefined && state.size > maxKeptBytes)
}

/** The file is gone, or a link replaced its folder. */
function isGone(folder: string, path: string): boolean {
  const whole = join(folder, path)
  if (lstatSync(whole, { throwIfNoEntry: false }) === undefined) return true
  return realpathSync(dirname(whole)) !== dirname(whole)
}

/** Never through a link out of the workspace: git does not list the files that such a link leads to. */
function remove(folder: string, path: string): void {
  const whole = join(folder, path)
  if (isWithin(folder, whole) && whole !== folder) rmSync(whole, { force: true })
}

const kinds: Readonly<Record<string, FileChange['kind']>> = { A: 'created', D: 'deleted' }

/** `M\0path\0A\0path\0` */
function changesIn(listed: string): readonly FileChange[] {
  const parts = listed.split('\0')
  return Array.from({ length: Math.floor(parts.length / 2) }, (_, at) => ({
    kind: kinds[parts[2 * at] ?? ''] ?? 'changed',
    path: parts[2 * at + 1] ?? '',
  }))
}

/** Ignore rules that the person's own repository has above this folder, because git reads only the rules inside it. */
async function excluded(folder: string): Promise<string> {
  const always = 'node_modules/\n'
  try {
    const args = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory']
    const ignored = (await runGit(args, { folder })).split('\0').filter((path) => path !== '')
    return always + ignored.map((path) => `/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}\n`).join('')
  } catch {
    // It is no repository.
    return always
  }
}

type GitOptions = {
  readonly folder: string
  readonly repository?: string
  readonly index?: string
  readonly input?: string | undefined
}

const settings = ['core.autocrlf=false', 'gc.auto=0', 'core.quotePath=false']

function runGit(args: readonly string[], { folder, repository, index, input }: GitOptions): Promise<string> {
  const safe = safeGit()
  const own =
    repository === undefined || index === undefined
      ? {}
      : { GIT_DIR: repository, GIT_WORK_TREE: folder, GIT_INDEX_FILE: index }
  const env = { ...safe.env, ...own }
  // `init` makes the repository that the variables name, and accepts no work tree.
  if (args[0] === 'init') for (const name of Object.keys(own)) Reflect.deleteProperty(env, name)
  return new Promise((resolve, reject) => {
    const flags = settings.flatMap((setting) => ['-c', setting])
    const child = spawn('git', [...safe.flags, ...flags, ...args], { cwd: folder, env, timeout: maxMs })
    const output: Buffer[] = []
    let problem = ''
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      problem = (problem + chunk).slice(0, 1_000)
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(Buffer.concat(output).toString('utf8'))
      else reject(new Error(`git ${args[0]}: ${problem.trim() || `exit code ${code ?? 'none'}`}`))
    })
  })
}
