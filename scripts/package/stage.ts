// Prepares the packages in separate folders, so that packing changes nothing in the checkout.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildPage, pagePackages } from '@everlong/viewer/build'
import { root } from '../steps.ts'
import { buildCommand, buildLibrary } from './build.ts'
import { type Manifest, manifestOf, publishedCommand, publishedLibrary, repositoryFields } from './manifest.ts'
import { packagedPage } from './pages.ts'

export type Staged = { readonly name: string; readonly version: string; readonly folder: string }

/** `everlong`: the library, its docs and the examples. */
export async function stageLibrary(folder: string): Promise<Staged> {
  await buildLibrary(join(folder, 'dist'))
  const examples = filesOf('examples/src/*.ts').filter((path) => !path.endsWith('.test.ts'))
  // The animated picture is only for the README of the repository.
  copy(
    ['LICENSE', ...examples, ...filesOf('docs/contexts/*', 'docs/pictures/*.{png,svg}', 'skills/*/SKILL.md')],
    folder,
  )
  copyPages('engine/README.md', filesOf('docs/*.md', 'docs/api/*.md'), folder)
  return finish(folder, 'engine', publishedLibrary(manifestOf('engine')))
}

/** `@everlong/cli`: the command with agent, simulator and plug-ins inside, and its docs. */
export async function stageCommand(folder: string): Promise<Staged> {
  const { imported, bundled } = await buildCommand(join(folder, 'dist'))
  copy(['LICENSE'], folder)
  copyPlugins(folder)
  cpSync(await buildPage(), join(folder, 'dist/page'), { recursive: true })
  const inside = [...new Set([...bundled, ...pagePackages()])].toSorted()
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licensesOf(inside))
  copy(filesOf('docs/pictures/viewer-*'), folder)
  copyPages('cli/README.md', ['docs/command-line.md', 'docs/viewer.md'], folder)
  return finish(folder, 'cli', publishedCommand(manifestOf('cli'), imported))
}

/** The files that `everlong install` puts into agents. */
function copyPlugins(folder: string): void {
  const script = join(root, 'scripts/build-plugins.ts')
  const { status } = spawnSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('The plug-ins could not be built. Run npm run build:plugins to see why.')
  const isSource = (path: string) => /[\\/](src|node_modules|package\.json)$/.test(path)
  for (const manifest of filesOf('plugins/*/package.json')) {
    const plugin = dirname(manifest)
    cpSync(join(root, plugin), join(folder, plugin), { recursive: true, filter: (path) => !isSource(path) })
  }
}

/** The licenses of the packages inside the built files, which must be included. */
function licensesOf(packages: readonly string[]): string {
  const texts = packages.map((name) => {
    const folder = join(root, 'node_modules', name)
    const { version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const by = typeof author === 'object' ? author.name : author
    const texts = globSync('{LICENSE,LICENCE,license}*', { cwd: folder })
    const whole = texts.map((file) => readFileSync(join(folder, file), 'utf8').trim())
    return [`${name} ${version}: ${license} license${by ? `, by ${by}` : ''}`, ...whole].join('\n\n')
  })
  return `${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`
}

/** Paths from the root, with slashes on every system. */
function filesOf(...patterns: readonly string[]): readonly string[] {
  return globSync(patterns, { cwd: root }).map((path) => path.replaceAll('\\', '/'))
}

function copy(paths: readonly string[], folder: string): void {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path))
  }
}

/** The README of the room becomes the package's. */
function copyPages(readme: string, pages: readonly string[], folder: string): void {
  copy(pages, folder)
  const has = (path: string) => existsSync(join(folder, path))
  for (const { from, to } of [{ from: readme, to: 'README.md' }, ...pages.map((page) => ({ from: page, to: page }))]) {
    writeFileSync(join(folder, to), packagedPage(readFileSync(join(root, from), 'utf8'), { from, to }, has))
  }
}

function finish(folder: string, room: string, manifest: Manifest): Staged {
  const whole = { ...manifest, ...repositoryFields(room, process.env) }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(whole, null, 2)}\n`)
  return { name: manifest.name, version: manifest.version, folder }
}
