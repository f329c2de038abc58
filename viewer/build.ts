// Builds the page: for `npm run package`, and in a checkout when `everlong view` first runs after a change.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const root = import.meta.dirname
const folder = join(root, 'dist/page')
const stamp = join(root, 'dist/page.stamp')
const packages = join(root, 'dist/page.packages.json')

/** Builds it if a source has changed, and returns its folder. `onStart` is called before a build. */
export async function buildPage(onStart: () => void = () => undefined): Promise<string> {
  const wanted = sourceHash()
  if (existsSync(stamp) && existsSync(folder) && existsSync(packages) && readFileSync(stamp, 'utf8') === wanted)
    return folder
  onStart()
  const output = await build({ configFile: join(root, 'vite.config.ts'), logLevel: 'error' })
  const chunks = [output].flat().flatMap((one) => ('output' in one ? one.output : []))
  const modules = chunks.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []))
  const names = modules.flatMap(
    (path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path.replaceAll('\\', '/'))?.[1] ?? [],
  )
  writeFileSync(packages, JSON.stringify([...new Set(names)].toSorted()))
  writeFileSync(stamp, wanted)
  return folder
}

/** The npm packages inside the page, after it was built. */
export function pagePackages(): readonly string[] {
  return JSON.parse(readFileSync(packages, 'utf8')) as readonly string[]
}

/** Covers all sources of the page and the versions of its packages. */
function sourceHash(): string {
  const files = globSync(['src/page/**/*', 'src/data/*.ts', 'vite.config.ts', 'package.json'], { cwd: root })
  const hash = createHash('sha256')
  for (const file of files.filter((name) => /\.\w+$/.test(name)).toSorted())
    hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/** The playground, as files for any static host. */
export async function buildPlayground(outDir: string): Promise<void> {
  const input = join(root, 'src/page/playground.html')
  await build({
    configFile: join(root, 'vite.config.ts'),
    logLevel: 'error',
    base: './',
    build: { outDir, rollupOptions: { input } },
  })
}
