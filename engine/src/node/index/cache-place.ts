// Where caches of a transcript are stored, and how to detect that they are stale. Never next to the transcript, and only data
// that can be rebuilt.
import { createHash } from 'node:crypto'
import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from '../../core/settings/resolve.ts'
import { readBytes } from '../read/entries.ts'

export function cacheFolder(env: Environment = process.env, home = homedir()): string {
  return env.EVERLONG_CACHE_DIR ?? join(env.XDG_CACHE_HOME ?? join(home, '.cache'), 'everlong')
}

/** The cache file for a path, the same for all links to it. */
export function cachePlace(folder: string, path: string, ending: string): string {
  return join(folder, `${hash(Buffer.from(realpathSync(path)))}.${ending}`)
}

/** A fingerprint of the first `end` bytes: their head and their tail. */
export function markAt(path: string, end: number): string {
  if (statSync(path).size < end) return 'shorter'
  return hash(readBytes(path, 0, Math.min(4096, end)), readBytes(path, Math.max(0, end - 4096), end))
}

function hash(...parts: readonly Buffer[]): string {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest('hex').slice(0, 32)
}
