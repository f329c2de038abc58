// Modules that the library and the command run in threads of their own: `new URL('./NAME.ts', import.meta.url)`. A bundler does not see them,
// so each is built to a file of its own, next to the file that names it.
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { root } from '../steps.ts'

const reference = /new URL\('\.\/([\w-]+)\.ts', import\.meta\.url\)/g

/** The source of each, by its name. */
export function workerEntries(rooms: readonly string[]): Readonly<Record<string, string>> {
  const sources = globSync(
    rooms.map((room) => `${room}/src/**/*.ts`),
    { cwd: root },
  ).filter((path) => !/\.test\.ts$|[\\/]testing[\\/]/.test(path))
  const entries: Record<string, string> = {}
  for (const source of sources) {
    for (const [, name = ''] of readFileSync(join(root, source), 'utf8').matchAll(reference)) {
      const path = join(root, dirname(source), `${name}.ts`)
      if (entries[name] !== undefined && entries[name] !== path) {
        throw new Error(`Two workers are called ${basename(path)}: ${entries[name]} and ${path}. Rename one.`)
      }
      entries[name] = path
    }
  }
  return entries
}

/** Replaces the source by the built file. All built files are in one folder. */
export function withBuiltWorkers(code: string): string {
  return code.replace(reference, "new URL('./$1.js', import.meta.url)")
}
