// The project that `everlong init` changes: its package.json, its source files and its package manager. Only reads.
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type Sdk, sdks } from './sdks.ts'

export type Project = {
  readonly folder: string
  readonly sdks: readonly Sdk[]
  readonly dependencies: ReadonlySet<string>
  readonly manager: Manager
  readonly hasEverlong: boolean
}

export type Manager = { readonly name: string; readonly install: readonly string[] }

export type SourceFile = { readonly path: string; readonly text: string }

const managers: Readonly<Record<string, Manager>> = {
  'pnpm-lock.yaml': { name: 'pnpm', install: ['add', 'everlong'] },
  'yarn.lock': { name: 'yarn', install: ['add', 'everlong'] },
  'bun.lock': { name: 'bun', install: ['add', 'everlong'] },
  'bun.lockb': { name: 'bun', install: ['add', 'everlong'] },
  'package-lock.json': { name: 'npm', install: ['install', 'everlong'] },
}
const npm: Manager = { name: 'npm', install: ['install', 'everlong'] }

export class NoProject extends Error {}

/** Throws `NoProject` with a sentence for the user. */
export function readProject(folder: string): Project {
  const path = join(folder, 'package.json')
  if (!existsSync(path))
    throw new NoProject(`${folder} has no package.json. Run it in the folder of your project, or npm init first.`)
  const dependencies = dependenciesOf(path)
  const found = sdks.filter(({ packages }) => packages.some((name) => dependencies.has(name)))
  return {
    folder,
    sdks: found,
    dependencies,
    manager: managerOf(folder),
    hasEverlong: dependencies.has('everlong') && isInstalled(folder, 'everlong'),
  }
}

function dependenciesOf(path: string): ReadonlySet<string> {
  let manifest: unknown
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw new NoProject(`${path} is not valid JSON: ${error.message}.`)
    throw error
  }
  const groups = ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies']
  const { ...fields } = (typeof manifest === 'object' ? manifest : {}) as Record<string, unknown>
  return new Set(groups.flatMap((group) => Object.keys(fields[group] ?? {})))
}

/** True if the package is in a node_modules of this folder or a parent. */
export function isInstalled(folder: string, name: string): boolean {
  return above(folder).some((each) => existsSync(join(each, 'node_modules', name)))
}

function managerOf(folder: string): Manager {
  for (const each of above(folder)) {
    const lock = Object.keys(managers).find((name) => existsSync(join(each, name)))
    if (lock !== undefined) return managers[lock] ?? npm
    if (existsSync(join(each, '.git'))) return npm
  }
  return npm
}

function above(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [folder] : [folder, ...above(parent)]
}

const skipped = new Set(['node_modules', 'dist', 'build', 'out', 'coverage', 'vendor'])
const maxFiles = 20_000
const maxBytes = 1_000_000

/** The project's own source files that mention one of these packages. Links are not followed. */
export function sourceFiles(folder: string, packages: readonly string[]): readonly SourceFile[] {
  return pathsIn(folder).flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    return packages.some((name) => text.includes(name)) ? [{ path: relative(folder, path), text }] : []
  })
}

function pathsIn(folder: string): readonly string[] {
  const paths: string[] = []
  const folders = [folder]
  for (const each of folders) {
    for (const entry of readdirSync(each, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(each, entry.name)
      if (entry.isDirectory() && !entry.name.startsWith('.') && !skipped.has(entry.name)) folders.push(path)
      else if (entry.isFile() && /(?<!\.d)\.[cm]?[jt]sx?$/.test(entry.name) && lstatSync(path).size <= maxBytes)
        paths.push(path)
    }
    if (paths.length > maxFiles) break
  }
  return paths.slice(0, maxFiles)
}
