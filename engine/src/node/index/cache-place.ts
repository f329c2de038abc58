// Where what we derive from a transcript is cached, and how it is told whether that still fits. Never beside the
// transcript itself, and never anything that could not be made again.
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readFully } from '../read/lines.ts'

/** `EVERLONG_CACHE_DIR`, else the user's cache folder. */
export function cacheFolder(): string {
  return process.env.EVERLONG_CACHE_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'everlong')
}

/** The file in `folder` for what is derived from this path: the same under every name the path has. */
export function cachePlace(folder: string, path: string, ending: string): string {
  return join(folder, `${hash(Buffer.from(realpathSync(path)))}.${ending}`)
}

/** A fingerprint of what was read up to `end`: the bytes right before it, and those of the start. */
export function markAt(path: string, end: number): string {
  const file = openSync(path, 'r')
  try {
    if (fstatSync(file).size < end) return 'shorter'
    const tail = Buffer.alloc(Math.min(4096, end))
    readFully(file, tail, end - tail.length)
    const head = Buffer.alloc(Math.min(4096, end))
    readFully(file, head, 0)
    return hash(head, tail)
  } finally {
    closeSync(file)
  }
}

function hash(...parts: readonly Buffer[]): string {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest('hex').slice(0, 32)
}
