// The folders that a plug-in filled while it ran: existing ones, and parent folders that must exist for them.
import { globSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { InstallTarget, Place } from './target.ts'

/** Existing folders; `made` are the folders that did not exist before the installation. Skips links, which lead elsewhere. */
export function dataFolders(target: InstallTarget, place: Place, made: readonly string[]): readonly string[] {
  const found = (target.data?.(place) ?? []).flatMap((data) => {
    if (typeof data === 'string') return [data]
    const { folder, match, ifEmpty = false } = data
    if (ifEmpty && !made.includes(folder)) return []
    const paths = globSync(match, { cwd: folder }).map((name) => join(folder, name))
    return ifEmpty ? paths.filter(isEmptyFolder) : paths
  })
  return found.filter(isFolder)
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function isEmptyFolder(path: string): boolean {
  return isFolder(path) && readdirSync(path).length === 0
}

/** A path in each of them, existing or not, as far as it is known in advance. */
export function dataPaths(target: InstallTarget, place: Place): readonly string[] {
  return (target.data?.(place) ?? []).map((data) => (typeof data === 'string' ? data : join(data.folder, 'any')))
}
