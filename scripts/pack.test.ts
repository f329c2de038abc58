// The package as somebody installs it: packed with npm from a copy of the checkout, installed into an empty folder without
// a network, imported by every subpath, on this Node and on Node 20 where one is found.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from './steps.ts'

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'everlong-pack-')))
afterAll(() => rmSync(folder, { recursive: true, force: true }), 60_000)

const checkout = join(folder, 'checkout')
const host = join(folder, 'host')
const tarball = join(folder, 'everlong-0.1.0.tgz')

/** Without what an npm that runs the tests tells its children about its own package. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))

function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  expect(`${command} ${args.join(' ')}: ${status}\n${status === 0 ? '' : stdout + stderr}`).toBe(
    `${command} ${args.join(' ')}: 0\n`,
  )
  return stdout
}

beforeAll(() => {
  mkdirSync(checkout)
  for (const name of ['engine/package.json', 'engine/README.md', 'engine/src', 'scripts', 'docs']) {
    cpSync(join(root, name), join(checkout, name), { recursive: true })
  }
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json', 'LICENSE']) {
    cpSync(join(root, name), join(checkout, name))
  }
  linkModules()
  symlinkSync(join(root, '.everlong'), join(checkout, '.everlong'))
  run('npm', ['pack', '--pack-destination', folder], join(checkout, 'engine'))
  mkdirSync(host)
  writeFileSync(join(host, 'package.json'), '{ "private": true, "type": "module" }')
  run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], host)
}, 240_000)

/** The modules of the checkout one by one, with a stamp that tells the launcher there is nothing to install. */
function linkModules(): void {
  const modules = join(checkout, 'node_modules')
  mkdirSync(modules)
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '.everlong-stamp') symlinkSync(join(root, 'node_modules', name), join(modules, name))
  }
  const lock = readFileSync(join(checkout, 'package-lock.json'))
  writeFileSync(join(modules, '.everlong-stamp'), createHash('sha256').update(lock).digest('hex'))
}

test('packing leaves the checkout as it was', () => {
  expect(readdirSync(join(checkout, 'engine')).toSorted()).toEqual(['README.md', 'dist', 'package.json', 'src'])
})

test('the package holds built files, declarations, docs, README and license, and no tests', () => {
  const files = readdirSync(join(host, 'node_modules/everlong'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .toSorted()
  expect(files.filter((name) => !/^(dist\/[\w-]+(\.d\.ts|\.js)|docs\/[\w-]+\.md)$/.test(name))).toEqual([
    'LICENSE',
    'README.md',
    'dist',
    'docs',
    'package.json',
  ])
  expect(files.length).toBeLessThan(120)
})

test('publint and arethetypeswrong find nothing wrong', () => {
  const bin = (name: string) => join(root, 'node_modules', name)
  run(process.execPath, [bin('publint/src/cli.js'), tarball, '--strict'], folder)
  // Only ESM: require() of it works from Node 22 on.
  run(process.execPath, [bin('@arethetypeswrong/cli/dist/index.js'), tarball, '--profile', 'esm-only'], folder)
})

test.each([true, false])('official SDK types fit without casts, exactOptionalPropertyTypes %s', (exact) => {
  for (const name of ['@anthropic-ai', 'openai', '@types']) {
    const link = join(host, 'node_modules', name)
    if (!existsSync(link)) symlinkSync(join(root, 'node_modules', name), link)
  }
  cpSync(join(root, 'examples/src/official-types.ts'), join(host, 'official-types.ts'))
  const flags = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node']
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const options = [...flags, '--exactOptionalPropertyTypes', String(exact), 'official-types.ts']
  run(process.execPath, [compiler, ...options], host)
})

type NodeAt = { readonly name: string; readonly path: string }

const nodes: readonly NodeAt[] = [{ name: 'this Node', path: process.execPath }, ...oldNodes()]

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
    const [last] = run(path, ['--input-type=module', '-e', script], host).trim().split('\n').slice(-1)
    const manifest = JSON.parse(readFileSync(join(root, 'engine', 'package.json'), 'utf8')) as {
      readonly exports: object
    }
    expect(last).toBe(`${Object.keys(manifest.exports).length} compacted true`)
  })
})

/** The Node of the PATH, where that is a 20: the oldest that we promise. */
function oldNodes(): readonly NodeAt[] {
  const { stdout } = spawnSync('node', ['-p', 'process.version + " " + process.execPath'], { encoding: 'utf8' })
  const [version = '', path = ''] = (stdout ?? '').trim().split(' ')
  return version.startsWith('v20.') ? [{ name: 'Node 20', path }] : []
}
