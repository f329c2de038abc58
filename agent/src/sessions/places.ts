// The folders for a person's files: settings, trusted folders, and the sessions of each project.
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Environment } from 'everlong'

/** `EVERLONG_HOME`, or `.everlong` in the person's own folder. */
export function homeOf(env: Environment): string {
  return env.EVERLONG_HOME ? resolve(env.EVERLONG_HOME) : join(homedir(), '.everlong')
}

/** One folder per project: its name, and a hash of its whole path. */
export function sessionsFolder(home: string, folder: string): string {
  const path = resolve(folder)
  const hash = createHash('sha256').update(path).digest('hex').slice(0, 10)
  const name = basename(path)
    .replaceAll(/[^A-Za-z0-9_.-]/g, '-')
    .replace(/^\.+/, '')
    .slice(0, 60)
  return join(home, 'projects', `${name || 'root'}-${hash}`)
}
