// Lays out what is published in folders of its own, so that nothing in the checkout is changed for packing.
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { root } from '../steps.ts'
import { buildCommand, buildLibrary } from './build.ts'
import { type Manifest, manifestOf, publishedCommand, publishedLibrary } from './manifest.ts'
import { packagedPage } from './pages.ts'

export type Staged = { readonly name: string; readonly version: string; readonly folder: string }

/** `everlong`: the library, its docs and the examples. */
export async function stageLibrary(folder: string): Promise<Staged> {
  await buildLibrary(join(folder, 'dist'))
  copy(
    ['LICENSE', ...globSync('examples/src/*.ts', { cwd: root }).filter((path) => !path.endsWith('.test.ts'))],
    folder,
  )
  copy(globSync('docs/contexts/*', { cwd: root }), folder)
  cpSync(join(root, 'engine/README.md'), join(folder, 'README.md'))
  copyPages(['README.md', ...globSync(['docs/*.md', 'docs/api/*.md'], { cwd: root })], folder)
  return finish(folder, publishedLibrary(manifestOf('engine')))
}

/** `@everlong/cli`: the command with agent, simulator and plug-ins inside, and its docs. */
export async function stageCommand(folder: string): Promise<Staged> {
  const { imported, bundled } = await buildCommand(join(folder, 'dist'))
  copy(['LICENSE'], folder)
  cpSync(join(root, 'cli/README.md'), join(folder, 'README.md'))
  cpSync(join(root, 'cli/assets'), join(folder, 'assets'), { recursive: true })
  writeFileSync(join(folder, 'THIRD-PARTY-LICENSES'), licensesOf(bundled))
  await copyPlugins(folder)
  copyPages(['README.md', 'docs/command-line.md'], folder)
  return finish(folder, publishedCommand(manifestOf('cli'), imported))
}

/** What `everlong install` puts into agents. */
async function copyPlugins(folder: string): Promise<void> {
  await import('../build-plugins.ts')
  const isSource = (path: string) => /^plugins\/[^/]+\/(src|node_modules|package\.json)($|\/)/.test(path)
  cpSync(join(root, 'plugins'), join(folder, 'plugins'), {
    recursive: true,
    filter: (path) => !isSource(relative(root, path).replaceAll('\\', '/')),
  })
}

/** The licenses of the packages inside the built files, which ask to go along. */
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

function copy(paths: readonly string[], folder: string): void {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    cpSync(join(root, path), join(folder, path))
  }
}

function copyPages(paths: readonly string[], folder: string): void {
  for (const path of paths.filter((path) => !existsSync(join(folder, path)))) copy([path], folder)
  const has = (path: string) => existsSync(join(folder, path))
  for (const path of paths) {
    const text = readFileSync(join(folder, path), 'utf8')
    writeFileSync(join(folder, path), packagedPage(text, path.replaceAll('\\', '/'), has))
  }
}

function finish(folder: string, manifest: Manifest): Staged {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return { name: manifest.name, version: manifest.version, folder }
}
