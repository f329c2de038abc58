// What `npm pack` and `npm publish` in engine/ run before and after: `prepare` builds, puts the docs in, and swaps in the
// published package.json; `restore` takes all that back.
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedManifest } from './manifest.ts'
import { root } from './steps.ts'

const engine = join(root, 'engine')
const manifest = join(engine, 'package.json')
/** The package.json of the checkout, while the published one is in its place. */
const original = join(engine, 'package.checkout.json')
const docs = join(engine, 'docs')

if (process.argv[2] === 'prepare') await prepare()
else restore()

async function prepare(): Promise<void> {
  // A pack that failed halfway left it.
  if (existsSync(original)) restore()
  rmSync(join(engine, 'dist'), { recursive: true, force: true })
  await import('./build.ts')
  copyFileSync(join(root, 'LICENSE'), join(engine, 'LICENSE'))
  mkdirSync(join(docs, 'api'), { recursive: true })
  for (const name of globSync(['*.md', 'api/*.md'], { cwd: join(root, 'docs') })) {
    copyFileSync(join(root, 'docs', name), join(docs, name))
  }
  const published = publishedManifest(JSON.parse(readFileSync(manifest, 'utf8')))
  renameSync(manifest, original)
  writeFileSync(manifest, `${JSON.stringify(published, null, 2)}\n`)
}

function restore(): void {
  if (existsSync(original)) renameSync(original, manifest)
  rmSync(join(engine, 'LICENSE'), { force: true })
  rmSync(docs, { recursive: true, force: true })
}
