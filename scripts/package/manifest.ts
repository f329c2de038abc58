// The published package.json files. In the checkout, exports and bins name TypeScript sources; in a package, the built
// JavaScript.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { basename, dirname } from 'node:path/posix'
import { root } from '../steps.ts'

export type Versions = Readonly<Record<string, string>>

export type Manifest = {
  readonly name: string
  readonly version: string
  readonly exports?: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly dependencies?: Versions
  readonly peerDependencies?: Versions
  readonly [field: string]: unknown
}

export function manifestOf(room: string): Manifest {
  return JSON.parse(readFileSync(join(root, room, 'package.json'), 'utf8'))
}

/** The folders of all packages in a checkout, the root as `.`. */
export function packageFolders(checkout: string): readonly string[] {
  const { workspaces } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { workspaces: string[] }
  const manifests = globSync(
    workspaces.map((room) => `${room}/package.json`),
    { cwd: checkout },
  )
  return ['.', ...manifests.map((path) => dirname(path.replaceAll('\\', '/'))).toSorted()]
}

/** `./src/adapters/opentelemetry.ts` is built to `opentelemetry`. */
export function compiledName(source: string): string {
  return basename(source, '.ts')
}

/** The sources to build for these exports or bins, by compiled name. */
export function entriesOf(...named: readonly (Versions | undefined)[]): Readonly<Record<string, string>> {
  const sources = named.flatMap((each) => Object.values(each ?? {})).filter((source) => source.endsWith('.ts'))
  return Object.fromEntries(sources.map((source) => [compiledName(source), source]))
}

/** The exports of a library without the made-up sessions, which only the tests and benchmarks of this checkout use. */
export function publishedExports({ exports = {} }: Manifest): Versions {
  return Object.fromEntries(Object.entries(exports).filter(([subpath]) => subpath !== './internal/testing'))
}

/**
 * `repository`, `homepage` and `bugs` of a published package. npm compares them with the repository whose workflow publishes, so
 * they are taken from that workflow; a package that is packed by hand has none.
 */
export function repositoryFields(room: string, env: NodeJS.ProcessEnv): Readonly<Record<string, unknown>> {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = env
  if (!server || !name) return {}
  const url = `${server}/${name}`
  return {
    repository: { type: 'git', url: `git+${url}.git`, directory: room },
    homepage: `${url}#readme`,
    bugs: `${url}/issues`,
  }
}

/** The library: every published export as JavaScript and declarations. */
export function publishedLibrary(manifest: Manifest): Manifest {
  const { exports: ___, bin = {}, scripts: _, devDependencies: __, ...rest } = manifest
  const compiled = Object.entries(publishedExports(manifest)).map(([subpath, source]) => {
    if (!source.endsWith('.ts')) return [subpath, source]
    const target = `./dist/${compiledName(source)}`
    return [subpath, { types: `${target}.d.ts`, default: `${target}.js` }]
  })
  return { ...rest, bin: compiledBin(bin), exports: Object.fromEntries(compiled) }
}

/** The command line: a bin and nothing to import. It depends on what its built files import. */
export function publishedCommand(manifest: Manifest, dependencies: Versions): Manifest {
  const { exports: _, bin = {}, scripts: __, devDependencies: ___, ...rest } = manifest
  return { ...rest, bin: compiledBin(bin), exports: { './package.json': './package.json' }, dependencies }
}

function compiledBin(bin: Versions): Versions {
  return Object.fromEntries(Object.entries(bin).map(([name, source]) => [name, `dist/${compiledName(source)}.js`]))
}
