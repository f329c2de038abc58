// Creates the data folder. `mkdir` with `recursive` never returns below /proc, so each level is made by itself.
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export function makeFolder(path: string): void {
  const missing: string[] = []
  for (let at = resolve(path); !existsSync(at); at = dirname(at)) missing.unshift(at)
  for (const folder of missing) mkdirSync(folder, { mode: 0o700 })
}
