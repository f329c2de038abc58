// Removes what was cached from a transcript, for a session that is erased.
import { rmSync } from 'node:fs'
import { cachePlace } from '../index/cache-place.ts'
import { indexFolder } from '../index/sidecar.ts'
import { archiveFolder } from './archive.ts'
import { discardDatabase } from './database.ts'

/** The file must still exist. Archives of whole folders drop it at their next refresh. */
export function discardCaches(path: string): void {
  rmSync(cachePlace(indexFolder(), path, 'index'), { force: true })
  discardDatabase(cachePlace(archiveFolder(), path, 'db'))
}
