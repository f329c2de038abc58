// How the person at hand runs this program, for commands to copy.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Surroundings } from './surroundings.ts'

export function programName({ cwd, env }: Pick<Surroundings, 'cwd' | 'env'>): string {
  if (existsSync(join(cwd, 'scripts/launch.mjs'))) return './everlong'
  return env.npm_command === 'exec' ? 'npx @everlong/cli' : 'everlong'
}
