// Which versions of the peers a figure was measured with.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.ts'

/** Of packages in the common install. */
export function versionsOf(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, versionOf(name)]))
}

function versionOf(name: string): string {
  const path = ['bench/node_modules', 'node_modules'].map((place) => join(root, place, name, 'package.json'))
  for (const file of path) {
    try {
      return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return 'not installed'
}

export function versionsInWords(versions: Readonly<Record<string, string>>): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')
}
