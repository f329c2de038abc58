// What a command would delete for good: files that no checkpoint has, because git ignores them or because they belong to a
// repository's store. The sandbox cannot tell such a file from others, so somebody is asked. This protects from mistakes: a
// program that deletes files by itself is not seen.
import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import { safeGit } from 'everlong/internal/node'
import { maxKeptBytes } from '../checkpoints/shadow.ts'
import { isWithin } from '../files/paths.ts'
import { type Disk, disk } from './disk.ts'
import { filesNamed, foldersOf } from './named-paths.ts'
import { programOf } from './programs.ts'
import type { Script } from './script.ts'
import { textOf, type Words } from './words.ts'

/** The reason to ask. Undefined if nothing is lost. `root` is the workspace, with all links resolved. */
export async function lossOf(script: Script, root: string): Promise<string | undefined> {
  const byGit = script.commands.map(lostByGit).find((each) => each !== undefined)
  if (byGit !== undefined) return byGit
  const paths = deletedPaths(script, root, disk)
  if (paths.length === 0) return undefined
  const inStore = paths.find((path) => isInStore(path, root) || disk.exists(join(path, '.git')))
  if (inStore !== undefined) return lost(relative(root, inStore) || 'the workspace')
  const large = paths.find((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxKeptBytes)
  if (large !== undefined) return lost(relative(root, large))
  const ignored = (await ignoredIn(paths, root)).filter((path) => !isMadeAgain(path))
  return ignored[0] === undefined ? undefined : lost(ignored[0])
}

function lost(path: string): string {
  return `it deletes ${path}, which /rewind cannot restore`
}

const deleting = /^(?:rm|unlink|shred|srm|truncate)$/

/** Existing files and folders of the workspace that the script would delete. */
function deletedPaths({ commands }: Script, root: string, at: Disk): readonly string[] {
  const folders = foldersOf(commands, { root, disk: at }) ?? [root]
  const paths = commands
    .flatMap(namedForDeletion)
    .flatMap((word) => folders.flatMap((folder) => filesNamed(word, folder, at)))
    .filter((path) => at.exists(path) && (isWithin(root, path) || isWithin(path, root)))
  return [...new Set(paths)]
}

function namedForDeletion([program, ...rest]: Words): Words {
  const name = programOf(program) ?? ''
  if (deleting.test(name)) return rest.filter((word) => !textOf(word)?.startsWith('-'))
  const texts = rest.map((word) => textOf(word) ?? '')
  // With a filter it deletes only certain files, such as `*.pyc`.
  if (name !== 'find' || !texts.includes('-delete') || texts.some((text) => /^-(?:i?name|i?path|i?regex)$/.test(text)))
    return []
  const end = texts.findIndex((text) => text.startsWith('-'))
  return rest.slice(0, end)
}

/** Work that only git has, so that no checkpoint contains it. */
function lostByGit([program, ...rest]: Words): string | undefined {
  if (programOf(program) !== 'git') return undefined
  const texts = rest.map((word) => textOf(word) ?? '')
  const has = (pattern: RegExp) => texts.some((text) => pattern.test(text))
  if (has(/^clean$/) && has(/^-\w*[xX]/) && !has(/^-\w*n|^--dry-run$/)) return 'it deletes files that git ignores'
  if (has(/^stash$/) && has(/^(?:drop|clear)$/)) return 'it deletes stashed work'
  if (has(/^branch$/) && has(/^-\w*D/)) return 'it deletes a branch that may not be merged'
  if (has(/^(?:reflog)$/) && has(/^(?:expire|delete)$/)) return 'it deletes the history of branches'
  return undefined
}

function isInStore(path: string, root: string): boolean {
  return isWithin(path, root) || relative(root, path).split(sep).includes('.git')
}

/** Folders and files that tools recreate. */
const madeAgain = new Set(
  `node_modules dist build out target coverage tmp temp .cache .next .nuxt .output .turbo .parcel-cache .svelte-kit .vite .gradle .tox
  .venv venv __pycache__ .pytest_cache .mypy_cache .ruff_cache .nyc_output .DS_Store`.split(/\s+/),
)

function isMadeAgain(path: string): boolean {
  const parts = path.split('/').filter((part) => part !== '')
  return parts.some((part) => madeAgain.has(part)) || /\.(?:log|tmp|pyc|o|class|tsbuildinfo|tgz)$/.test(basename(path))
}

const maxMs = 5_000

/** Relative to the workspace. Empty if it is not a repository, because checkpoints then have everything. */
function ignoredIn(paths: readonly string[], root: string): Promise<readonly string[]> {
  const listed = ['ls-files', '-z', '--others', '--ignored', '--exclude-standard', '--directory', '--']
  const { flags, env } = safeGit()
  const args = ['--literal-pathspecs', ...flags, ...listed, ...paths]
  return new Promise((resolve) => {
    execFile('git', args, { cwd: root, env, timeout: maxMs, maxBuffer: 1 << 24 }, (_, output) => {
      resolve(output.split('\0').filter((path) => path !== ''))
    })
  })
}
