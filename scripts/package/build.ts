// Builds the published packages: the library with its declarations, and the command line with everything of ours inside.
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { build, type InlineConfig } from 'tsdown'
import { root } from '../steps.ts'
import { entriesOf, manifestOf, publishedExports, type Versions } from './manifest.ts'
import { withBuiltWorkers, workerEntries } from './workers.ts'

const common = {
  config: false,
  format: 'esm',
  hash: false,
  fixedExtension: false,
  logLevel: 'error',
} satisfies InlineConfig

/** One JavaScript file and one declaration file per entry, and shared files. */
export async function buildLibrary(outDir: string): Promise<void> {
  const manifest = manifestOf('engine')
  await build({
    ...common,
    cwd: join(root, 'engine'),
    entry: { ...entriesOf(publishedExports(manifest)), ...workerEntries(['engine']) },
    plugins: [{ name: 'workers', transform: withBuiltWorkers }],
    outDir,
    tsconfig: join(root, 'tsconfig.build.json'),
    platform: 'neutral',
    target: 'es2023',
    dts: true,
    // In every file, because the first one loaded must report the problem before it fails for an obscure reason.
    banner: {
      js: `if (!Array.prototype.toSorted) throw new Error('everlong needs Node 20 or later, or a browser of 2023 or later.')`,
    },
    deps: { neverBundle: true },
  })
  await build({
    ...common,
    cwd: join(root, 'engine'),
    entry: entriesOf(manifest.bin),
    outDir,
    clean: false,
    platform: 'node',
    target: 'node20',
    dts: false,
  })
}

/** Large packages of which the command uses a small part. Bundling them saves `npx` some 90 MB. */
const bundledPackages = ['gpt-tokenizer', 'highlight.js', 'openai', '@anthropic-ai/sdk']

/** Builds the page of the viewer in a checkout. The package holds the built page instead. */
const onlyInCheckout = '@everlong/viewer/build'

/** What goes into the command besides the library. */
const rooms = ['simulator', 'agent', 'viewer', 'cli']

export type Built = {
  /** The npm packages that the built files import, with their versions. */
  readonly imported: Versions
  /** The npm packages that are inside the built files. */
  readonly bundled: readonly string[]
}

export async function buildCommand(outDir: string): Promise<Built> {
  const versions = installedPackages()
  const [bundle] = await build({
    ...common,
    cwd: join(root, 'cli'),
    entry: { ...entriesOf(manifestOf('cli').bin), ...workerEntries(['engine', ...rooms]) },
    plugins: [{ name: 'workers', transform: withBuiltWorkers }],
    outDir,
    platform: 'node',
    target: 'node22',
    dts: false,
    deps: { neverBundle: [/^node:/, onlyInCheckout, ...Object.keys(versions).map(inPackage)], alwaysBundle: [/.*/] },
  })
  const chunks = (bundle?.chunks ?? []).filter((chunk) => chunk.type === 'chunk')
  const files = new Set(chunks.map(({ fileName }) => fileName))
  const imports = chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])
  const isOutside = (name: string) => !isBuiltin(name) && name !== onlyInCheckout && !files.has(name)
  const external = imports.filter(isOutside)
  const modules = chunks.flatMap(({ moduleIds }) => moduleIds).map((path) => path.replaceAll('\\', '/'))
  const inside = modules.flatMap((path) => /.*\/node_modules\/(.*)/.exec(path)?.[1] ?? [])
  return {
    imported: Object.fromEntries(packagesOf(external).map((name) => [name, versionOf(name, versions)])),
    bundled: packagesOf(inside),
  }
}

function versionOf(name: string, versions: Versions): string {
  const version = versions[name]
  if (version === undefined) throw new Error(`The command imports ${name}, but no room lists it in its dependencies.`)
  return version
}

/** `@scope/name/file.js` is in `@scope/name`. */
function packagesOf(paths: readonly string[]): readonly string[] {
  const names = paths.map((path) => {
    const parts = path.split('/')
    return parts.slice(0, path.startsWith('@') ? 2 : 1).join('/')
  })
  return [...new Set(names)].toSorted()
}

function inPackage(name: string): RegExp {
  return new RegExp(`^${name}($|/)`)
}

/** Packages that npm must install with the command if it imports them: those of its rooms that are neither ours nor bundled. */
function installedPackages(): Versions {
  const all = rooms.flatMap((room) => Object.entries(manifestOf(room).dependencies ?? {}))
  const isInside = (name: string) => /^(@everlong\/|everlong$)/.test(name) || bundledPackages.includes(name)
  return Object.fromEntries(all.filter(([name]) => !isInside(name)))
}
