// Which versions of the peers a figure was measured with.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../root.ts'

/** Of installed packages, and of those that bench/apart lists. */
export function versionsOf(names: readonly string[]): Readonly<Record<string, string>> {
  const apart = read('bench/apart/package.json')?.dependencies ?? {}
  return Object.fromEntries(names.map((name) => [name, apart[name] ?? installedVersion(name) ?? 'not installed']))
}

function installedVersion(name: string): string | undefined {
  const manifests = ['bench/node_modules', 'node_modules'].map((folder) => read(join(folder, name, 'package.json')))
  return manifests.find((manifest) => manifest !== undefined)?.version
}

type Manifest = { readonly version: string; readonly dependencies?: Readonly<Record<string, string>> }

function read(path: string): Manifest | undefined {
  const file = join(root, path)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined
}

export function versionsInWords(versions: Readonly<Record<string, string>>): string {
  return Object.entries(versions)
    .map(([name, version]) => `${name} ${version}`)
    .join(', ')
}
