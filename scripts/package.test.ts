// The packages as somebody gets them: packed, installed into an empty folder without a network, imported by every subpath
// and run. `npm run test:package` does the same with the registry, on every Node we promise.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { session } from 'everlong/internal/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { manifestOf, packageFolders, publishedExports, repositoryFields } from './package/manifest.ts'
import { linksIn } from './package/pages.ts'
import { emptyProject, output, packInto, run, type Tarballs, temporaryFolder } from './package/testing.ts'
import { root } from './steps.ts'

const folder = temporaryFolder()
afterAll(folder.remove, 60_000)

const host = join(folder.path, 'host')
const modules = join(host, 'node_modules')
const library = join(modules, 'everlong')
const command = join(modules, '@everlong/cli')
const subpaths = Object.keys(publishedExports(manifestOf('engine')))
let tarballs: Tarballs
let untouched: string

const changes = () => output('git', ['status', '--porcelain'], { cwd: root })

beforeAll(() => {
  untouched = changes()
  tarballs = packInto(folder.path)
  emptyProject(host)
  output('npm', ['install', '--offline', '--no-audit', '--no-fund', tarballs.library], { cwd: host })
  // Without a network its dependencies cannot be installed: those of the checkout, and no others, take their place.
  mkdirSync(command, { recursive: true })
  output('tar', ['xzf', tarballs.command, '--strip-components=1', '-C', command], { cwd: host })
  for (const name of Object.keys(JSON.parse(readFileSync(join(command, 'package.json'), 'utf8')).dependencies)) {
    link(name)
  }
}, 240_000)

/** A package of the checkout in the host. */
function link(name: string): void {
  const place = join(modules, name)
  mkdirSync(dirname(place), { recursive: true })
  if (!existsSync(place)) symlinkSync(join(root, 'node_modules', name), place)
}

function filesIn(path: string): readonly string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(path.length + 1)
        .replaceAll('\\', '/'),
    )
    .toSorted()
}

test('packing leaves the checkout as it was', () => {
  expect(changes()).toBe(untouched)
})

test('the command depends on packages that are installed here, not on modules of Node', () => {
  const { dependencies } = JSON.parse(readFileSync(join(command, 'package.json'), 'utf8'))
  const missing = Object.keys(dependencies).filter(
    (name) => !existsSync(join(root, 'node_modules', name, 'package.json')),
  )
  expect(missing).toEqual([])
  expect(Object.entries(dependencies).filter(([, version]) => version === '*')).toEqual([])
})

test('npm pack in a room refuses with a sentence', () => {
  const { status, stderr } = run('npm', ['pack', '--dry-run'], { cwd: join(root, 'engine') })
  expect([status === 0, stderr.includes('Run "npm run package" at the root')]).toEqual([false, true])
})

test.each(packageFolders(root))('%s has the script that refuses npm pack', (room) => {
  const { version, scripts } = manifestOf(room) as { version?: string; scripts?: { prepack?: string } }
  const script = relative(join(root, room), join(root, 'scripts/refuse-pack.mjs')).replaceAll('\\', '/')
  // Without a version npm refuses before it runs any script, in words of its own.
  expect([version, scripts?.prepack]).toEqual([manifestOf('.').version, `node ${script}`])
})

test('the library holds built files, declarations, docs, examples, README and license, and no tests', () => {
  const files = filesIn(library)
  const usual =
    /^(dist\/[\w-]+(\.d\.ts|\.js)|docs\/(api\/)?[\w-]+\.md|docs\/(contexts|pictures)\/.*|skills\/[\w-]+\/SKILL\.md|examples\/src\/[\w-]+\.ts)$/
  expect(files.filter((name) => !usual.test(name))).toEqual(['LICENSE', 'README.md', 'package.json'])
  const built = files.filter((name) => name.startsWith('dist/')).length
  // Each entry and what it shares with others, as code and declarations. The internal entries share much with the public ones.
  expect(built).toBeLessThan(8 * subpaths.length)
})

test('the tarballs stay small', () => {
  const megabytes = (path: string) => statSync(path).size / 1e6
  // Pictures of the docs take a third of the library, the page of the viewer and the agent most of the command.
  expect(megabytes(tarballs.library)).toBeLessThan(1.6)
  expect(megabytes(tarballs.command)).toBeLessThan(4.5)
})

test('a package names the repository whose workflow publishes it, and none if it is packed by hand', () => {
  const env = { GITHUB_SERVER_URL: 'https://git.example', GITHUB_REPOSITORY: 'team/everlong' }
  expect(repositoryFields('cli', env)).toEqual({
    repository: { type: 'git', url: 'git+https://git.example/team/everlong.git', directory: 'cli' },
    homepage: 'https://git.example/team/everlong#readme',
    bugs: 'https://git.example/team/everlong/issues',
  })
  expect(repositoryFields('cli', {})).toEqual({})
})

test('the README of the library lists every entry', () => {
  const readme = readFileSync(join(library, 'README.md'), 'utf8')
  const entries = subpaths.filter((path) => path !== './package.json').map((path) => `everlong${path.slice(1)}`)
  expect(entries.filter((entry) => !readme.includes(`| \`${entry}\` |`))).toEqual([])
})

test('the command holds built files, the plug-ins, docs and licenses, and no sources', () => {
  const files = filesIn(command)
  const built = /^(dist\/[\w-]+\.js|dist\/page\/assets\/[\w-]+\.(js|css)|plugins\/[\w-]+\/.*)$/
  expect(files.filter((name) => !built.test(name))).toEqual([
    'LICENSE',
    'README.md',
    'THIRD-PARTY-LICENSES',
    'dist/page/index.html',
    'docs/command-line.md',
    'docs/pictures/viewer-compaction.png',
    'docs/pictures/viewer-session.png',
    'docs/pictures/viewer-sessions.png',
    'docs/viewer.md',
    'package.json',
  ])
  expect(files.filter((name) => /\.ts$|node_modules/.test(name))).toEqual([])
})

test('the command names the licenses of the packages inside it: those of the page, and none of the tools that build it', () => {
  const text = readFileSync(join(command, 'THIRD-PARTY-LICENSES'), 'utf8')
  const names = [...text.matchAll(/^(\S+) \d[\w.-]*: .* license/gm)].map(([, name]) => name)
  expect(names).toContain('@tanstack/virtual-core')
  expect(names).toContain('react-dom')
  expect(names.filter((name = '') => /^(vite|rolldown|postcss|jiti)\b/.test(name))).toEqual([])
})

test('every module that the command runs in a thread is there', () => {
  const built = filesIn(command).filter((name) => name.startsWith('dist/'))
  const named = built.flatMap((name) =>
    [...readFileSync(join(command, name), 'utf8').matchAll(/new URL\(["']\.\/([^"']+)["'], import\.meta\.url\)/g)].map(
      ([, file = '']) => `dist/${file}`,
    ),
  )
  expect(named).toContain('dist/agent-worker.js')
  expect(named.filter((name) => !built.includes(name))).toEqual([])
})

test('no page in a package links to a file that is not in it', () => {
  for (const path of [library, command]) {
    const has = (name: string) => existsSync(join(path, name))
    const pages = filesIn(path).filter((name) => name.endsWith('.md') && !name.startsWith('plugins/'))
    expect(pages.length).toBeGreaterThan(1)
    const links = pages.flatMap((page) => linksIn(readFileSync(join(path, page), 'utf8'), page))
    expect(links.filter((link) => !has(link.path))).toEqual([])
  }
})

test('publint and arethetypeswrong find nothing wrong', () => {
  const bin = (name: string) => join(root, 'node_modules', name)
  const cwd = folder.path
  for (const tarball of [tarballs.library, tarballs.command]) {
    output(process.execPath, [bin('publint/src/cli.js'), tarball, '--strict'], { cwd })
  }
  // Only ESM: require() of it works from Node 22 on.
  const attw = bin('@arethetypeswrong/cli/dist/index.js')
  output(process.execPath, [attw, tarballs.library, '--profile', 'esm-only'], { cwd })
})

test.each([true, false])('official SDK types fit without casts, exactOptionalPropertyTypes %s', (exact) => {
  for (const name of ['@anthropic-ai/sdk', 'openai', '@types/node', 'undici-types']) link(name)
  cpSync(join(root, 'examples/src/official-types.ts'), join(host, 'official-types.ts'))
  const flags = [
    '--noEmit',
    '--strict',
    '--target',
    'es2023',
    '--module',
    'nodenext',
    '--types',
    'node',
    '--singleThreaded',
  ]
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const options = [...flags, '--exactOptionalPropertyTypes', String(exact), 'official-types.ts']
  output(process.execPath, [compiler, ...options], { cwd: host })
})

type NodeAt = { readonly name: string; readonly path: string }

const old = oldNode()
const nodes: readonly NodeAt[] = [{ name: 'this Node', path: process.execPath }, ...(old ? [old] : [])]

describe.each(nodes)('on $name', ({ name, path }) => {
  test('every subpath can be imported without an SDK, and a session on disk works', () => {
    const script = `
      const subpaths = Object.keys((await import('everlong/package.json', { with: { type: 'json' } })).default.exports)
      for (const path of subpaths.slice(0, -1)) await import('everlong' + path.slice(1))
      const { offline } = await import('everlong')
      const { createEngine } = await import('everlong/node')
      const session = await createEngine({ model: offline() }).start({ path: 'session of ${name}.jsonl' })
      session.add({ role: 'user', content: 'Never drop orders_2019. ' + 'It is needed. '.repeat(500) })
      session.record({ content: 'I will not. '.repeat(500) })
      const { type } = await session.compact()
      const { matches } = await session.recall('orders_2019')
      await session.close()
      console.log(subpaths.length, type, matches.length > 0)`
    writeFileSync(join(host, 'imports.mjs'), script)
    const [last] = output(path, ['imports.mjs'], { cwd: host }).trim().split('\n').slice(-1)
    expect(last).toBe(`${subpaths.length} compacted true`)
  })

  test('worker threads find their file, do the work, and let the process end', () => {
    const script = `
      import { offline } from 'everlong'
      import { createEngine } from 'everlong/node'
      const worked = async (worker) => {
        let ids = 0
        const problems = []
        const ports = { now: () => 1_000_000, newId: () => 'id-' + ++ids }
        const onEvent = ({ type, problem }) => type === 'worker-failed' && problems.push(problem)
        const session = await createEngine({ model: offline(), worker, ports, onEvent }).start({ id: 'one' })
        session.add({ role: 'user', content: 'Never drop orders_2019. ' + 'It is needed. '.repeat(500) })
        session.record({ content: 'I will not. '.repeat(500) })
        const { type, records } = await session.compact()
        return { type, records: JSON.stringify(records), problems }
      }
      const [here, there] = [await worked(false), await worked(true)]
      console.log(there.type, there.records === here.records, there.problems)`
    writeFileSync(join(host, 'worker.mjs'), script)
    expect(output(path, ['worker.mjs'], { cwd: host }).trim()).toBe('compacted true []')
  })
})

const bin = join(command, 'dist/bin.js')

test('the command runs from node_modules', () => {
  const { version } = manifestOf('cli')
  expect(output(process.execPath, [bin, '--version'], { cwd: host })).toBe(`${version}\n`)
  const file = join(host, 'session.jsonl')
  const rule = 'Never drop the table orders_2019.'
  writeFileSync(
    file,
    session()
      .user(rule)
      .assistant('I will not.')
      .boundary()
      .summary('1. Request: the user wants the reports to be faster.')
      .user('Continue.').text,
  )
  const lost = output(process.execPath, [bin, 'lost', file], { cwd: host, env: { npm_command: 'exec' } })
  expect(lost).toContain(`npx @everlong/cli recall ${file}`)
  const report = JSON.parse(output(process.execPath, [bin, 'inspect', file, '--json'], { cwd: host }))
  const here = JSON.parse(
    output(process.execPath, [join(root, 'cli/src/main.ts'), 'inspect', file, '--json'], { cwd: host }),
  )
  expect(report).toEqual(here)
})

const plugins = packageFolders(root).flatMap((path) => (path.startsWith('plugins/') ? [basename(path)] : []))

test('the command installs every plug-in from the package, and removes it again', () => {
  const home = join(folder.path, 'home')
  mkdirSync(home)
  const everlong = (...words: readonly string[]) =>
    output(process.execPath, [bin, ...words], { cwd: host, env: { HOME: home } })
  const built = () => filesIn(home).filter((name) => name.endsWith('.js')).length
  for (const plugin of plugins) {
    const before = built()
    everlong('install', plugin)
    expect([plugin, built() > before]).toEqual([plugin, true])
  }
  const status = everlong('status')
  for (const plugin of plugins) expect(status).toMatch(new RegExp(`${plugin} +installed`))
  for (const plugin of plugins) everlong('uninstall', plugin)
  expect(readdirSync(home)).toEqual([])
})

test.runIf(old)('on an older Node the command says which one it needs', () => {
  const { status, stdout, stderr } = run(old?.path ?? '', [bin, '--version'], { cwd: host })
  expect([status, stdout, stderr.split('. ')[0]]).toEqual([
    1,
    '',
    `everlong: this is Node ${old?.version}, and the everlong command needs 22.18 or later`,
  ])
})

test('the bin of the library runs the command that is installed nearby', () => {
  const forward = join(library, 'dist/command.js')
  expect(output(process.execPath, [forward, '--version'], { cwd: host })).toBe(`${manifestOf('cli').version}\n`)
})

test('where the command is not installed, the bin of the library has npm fetch its own version, or says what to type', () => {
  const lonely = emptyProject(join(folder.path, 'lonely'))
  cpSync(library, join(lonely, 'node_modules/everlong'), { recursive: true })
  const forward = join(lonely, 'node_modules/everlong/dist/command.js')
  const without = run(process.execPath, [forward, 'demo'], { cwd: lonely })
  expect([without.status, without.stderr]).toEqual([
    1,
    'everlong: the command is in another package. Run: npx @everlong/cli\n',
  ])
  // Stands in for npm: shows what it is asked.
  const npm = join(lonely, 'npm-cli.mjs')
  writeFileSync(npm, 'console.log(JSON.stringify(process.argv.slice(2))); process.exitCode = 7')
  const asked = run(process.execPath, [forward, 'inspect', 'a file.jsonl'], { cwd: lonely, env: { npm_execpath: npm } })
  expect([asked.status, JSON.parse(asked.stdout)]).toEqual([
    7,
    ['exec', '--', `@everlong/cli@${manifestOf('engine').version}`, 'inspect', 'a file.jsonl'],
  ])
})

/** The Node of the PATH, where that is a 20: the oldest that the library promises. */
function oldNode(): (NodeAt & { readonly version: string }) | undefined {
  const { stdout } = spawnSync('node', ['-p', 'process.versions.node + " " + process.execPath'], { encoding: 'utf8' })
  const [version = '', path = ''] = (stdout ?? '').trim().split(' ')
  return version.startsWith('20.') ? { name: 'Node 20', path, version } : undefined
}
