// Whether git, started in a folder of the workspace, does more than look at the workspace. A folder that was copied, or that a
// command made, brings its own settings: they can name programs, files elsewhere, and other repositories.
import { dirname, join, resolve } from 'node:path'
import { isWithin } from '../files/paths.ts'
import type { Disk } from './disk.ts'

type Where = { readonly root: string; readonly disk: Disk }

/** A folder in which git finds a repository, and where git keeps it: often `.git`, and the main repository of a worktree. */
type Repository = { readonly folder: string; readonly stores: readonly string[] }

export function gitLeaves(folder: string, where: Where): boolean {
  const { disk } = where
  return repositoriesFrom(disk.realPath(folder), disk).some(
    (each) =>
      each.stores.some((store) => runsPrograms(store, disk)) ||
      reachesOutside(each, where) ||
      nestedIn(each, disk)?.every((store) => !runsPrograms(store, disk)) !== true,
  )
}

/** Here and in all folders above, because git tries the next if one is not valid. A bare repository has no `.git`. */
function repositoriesFrom(folder: string, disk: Disk): readonly Repository[] {
  const git = join(folder, '.git')
  const isBare = disk.list(folder).some((name) => /^head$/i.test(name))
  const places = [...(disk.exists(git) ? [linkedStore(folder, disk) ?? git] : []), ...(isBare ? [folder] : [])]
  const own = { folder, stores: places.flatMap((store) => [store, ...commonStores(store, disk)]) }
  const above = dirname(folder) === folder ? [] : repositoriesFrom(dirname(folder), disk)
  return places.length === 0 ? above : [own, ...above]
}

/** The folder that the file `.git` of this folder names. Undefined if it is not such a file. */
function linkedStore(folder: string, disk: Disk): string | undefined {
  const target = /^gitdir: (.+)$/m.exec(disk.read(join(folder, '.git')) ?? '')?.[1]
  return target === undefined ? undefined : resolve(folder, target.trim())
}

function commonStores(store: string, disk: Disk): readonly string[] {
  const common = disk.read(join(store, 'commondir'))?.trim()
  return common === undefined ? [] : [resolve(store, common)]
}

/**
 * The stores of a worktree or a submodule, which has a file `.git`. Anybody can write such a file, so the store must name this folder
 * as its own: otherwise there are none.
 */
export function ownLinkedStores(folder: string, disk: Disk): readonly string[] {
  const store = linkedStore(folder, disk)
  if (store === undefined) return []
  const back = disk.read(join(store, 'gitdir'))?.trim()
  if (back !== undefined) return resolve(store, back) === join(folder, '.git') ? withCommon(store, disk) : []
  return workTrees(store, disk)?.includes(disk.realPath(folder)) ? [store] : []
}

function withCommon(store: string, disk: Disk): readonly string[] {
  const common = commonStores(store, disk)
  return common.length === 0 ? [] : [store, ...common]
}

/** Settings that contain a program, or another file with settings. */
const runningSettings =
  /\b(?:fsmonitor|external|textconv|command|program|process|clean|smudge|pager|editor|hookspath|sshcommand|askpass|helper|path|showsignature|uploadpack|vcs|allow|gitproxy)\s*=|\bext::/i

/**
 * True if `git status` or `git diff` would run a program. Settings that cannot be read, because they are too long or in a pipe,
 * may name anything.
 */
function runsPrograms(store: string, disk: Disk): boolean {
  const settings = settingsIn(store, disk)
  const hook = join(store, 'hooks', 'post-index-change')
  return settings.some((text) => text === undefined || runningSettings.test(text)) || disk.exists(hook)
}

function settingsIn(store: string, disk: Disk): readonly (string | undefined)[] {
  const files = ['config', 'config.worktree'].map((name) => join(store, name))
  return files.filter(disk.exists).map(disk.read)
}

/** Folders whose files its settings make it compare. Undefined if they cannot be read for certain. */
function workTrees(store: string, disk: Disk): readonly string[] | undefined {
  const values = settingsIn(store, disk).flatMap((text = '') =>
    [...text.matchAll(/\bworktree[ \t]*=(.*)/gi)].map(([, value = '']) => value.trim()),
  )
  if (values.some((value) => /["\\#;]/.test(value))) return undefined
  return values.map((value) => disk.realPath(resolve(store, value)))
}

/** Prints files or objects of other places. Repositories around the workspace were not brought by anything in it. */
function reachesOutside({ folder, stores }: Repository, { root, disk }: Where): boolean {
  if (!isWithin(root, folder)) return false
  const isInside = (path: string) => isWithin(root, disk.realPath(path))
  const isOwn = (store: string) => isInside(store) || ownLinkedStores(folder, disk).includes(store)
  if (!stores.every(isOwn)) return true
  return stores
    .filter(isInside)
    .some((store) => !(workTrees(store, disk)?.every(isInside) ?? false) || !objectsIn(store, disk)?.every(isInside))
}

/** The folders from which it reads objects. Undefined if that cannot be read. */
function objectsIn(store: string, disk: Disk): readonly string[] | undefined {
  const objects = join(store, 'objects')
  const list = join(objects, 'info', 'alternates')
  const text = disk.exists(list) ? disk.read(list) : ''
  if (text === undefined || /^"/m.test(text)) return undefined
  const others = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const own = disk.list(objects).map((name) => join(objects, name))
  return [objects, ...own, ...others.map((line) => resolve(objects, line))]
}

/** The mode of a repository inside of another one, in the index. */
const gitlink = Buffer.from([0, 0, 0xe0, 0])
const maxFiles = 500_000

/** `git status` also looks into repositories inside of the folder that are in its index. Undefined if there are too many files to look for them. */
function nestedIn({ folder, stores }: Repository, disk: Disk): readonly string[] | undefined {
  if (!stores.some((store) => disk.contains(join(store, 'index'), gitlink))) return []
  const { files, isCut } = disk.filesBelow(folder, maxFiles)
  if (isCut) return undefined
  const folders = files.filter((path) => /\/\.git(?:\/HEAD)?$/.test(path)).map((path) => path.replace(/\/\.git.*$/, ''))
  return folders
    .filter((each) => each !== folder)
    .map((each) => linkedStore(each, disk) ?? join(each, '.git'))
    .flatMap((store) => [store, ...commonStores(store, disk)])
}
