// The folders that a plug-in filled while it ran: which of them exist, and which folders would have to exist for them.
import { globSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { InstallTarget, Place } from './target.ts'

/** Those that exist. A link is none: it leads somewhere else. */
export function dataFolders(target: InstallTarget, place: Place): readonly string[] {
  const found = (target.data?.(place) ?? []).flatMap((data) => {
    if (typeof data === 'string') return [data]
    return globSync(data.match, { cwd: data.folder }).map((name) => join(data.folder, name))
  })
  return found.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
}

/** A path in each of them, whether it exists or not, as far as it is known beforehand. */
export function dataPaths(target: InstallTarget, place: Place): readonly string[] {
  return (target.data?.(place) ?? []).map((data) => (typeof data === 'string' ? data : join(data.folder, 'any')))
}
