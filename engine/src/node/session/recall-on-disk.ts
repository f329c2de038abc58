// Recall for a session on disk: from its archive, or by reading the file where this Node has no SQLite.
import type { Store } from '../../core/ports/store.ts'
import { fromEntries, type OpenedSession } from '../../core/session/platform.ts'
import { type Archive, openArchive } from '../archive/archive.ts'
import { hasSqlite } from '../archive/database.ts'

type Recall = Pick<OpenedSession, 'recall' | 'read'>

export function recallOnDisk(path: string, entries: Store['entries']): Recall {
  if (!hasSqlite()) return fromEntries(entries)
  return {
    recall: (words, limit) => withArchive(path, (archive) => archive.search({ words, limit })),
    read: (id) => withArchive(path, (archive) => archive.read(id)?.text),
  }
}

async function withArchive<T>(path: string, use: (archive: Archive) => T): Promise<T> {
  const archive = openArchive(path)
  try {
    return use(archive)
  } finally {
    archive.close()
  }
}
