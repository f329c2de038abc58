// Commands for people to copy into a shell.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Io } from '../io.ts'

/** How the user started this program: from a checkout, with npx, or installed. */
export function programName({ cwd, env }: Pick<Io, 'cwd' | 'env'>): string {
  if (existsSync(join(cwd, 'scripts/launch.mjs'))) return './everlong'
  return env.npm_command === 'exec' ? 'npx @everlong/cli' : 'everlong'
}

/** Quotes a text as one word of a POSIX shell: `a b` becomes `'a b'`. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
