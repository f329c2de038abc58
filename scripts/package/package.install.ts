// In an empty project with the registry at hand: the library compiles and runs, the command runs through npx, on every Node
// that we promise.
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { session } from 'everlong/internal/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nodeIn } from '../node-package.mjs'
import { root } from '../steps.ts'
import { manifestOf } from './manifest.ts'
import { emptyProject, output, packInto, run, type Tarballs, temporaryFolder } from './testing.ts'

const folder = temporaryFolder()
afterAll(folder.remove, 60_000)

const project = join(folder.path, 'project')
const sample = join(folder.path, 'session.jsonl')
writeFileSync(sample, session().user('Hello.').assistant('Hello.').text)
// A separate cache, so that nothing of ours stays in the cache of the person who runs this.
const env = { HOME: join(folder.path, 'home'), npm_config_cache: join(folder.path, 'npm-cache'), NO_COLOR: '1' }
const node = (version: string) => nodeIn(join(root, '.everlong/nodes', version))
let tarballs: Tarballs

beforeAll(() => {
  tarballs = packInto(folder.path)
  emptyProject(project)
  const packages = [tarballs.library, 'typescript@latest', '@types/node@latest']
  output('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: project, env })
  copyFileSync(join(root, 'examples/src/ten-lines.ts'), join(project, 'ten-lines.ts'))
})

test.each(['22', '24', '26'])('the ten lines run on Node %s', (version) => {
  const lines = output(node(version), ['ten-lines.ts'], { cwd: project })
  expect(lines).toMatch(/^prepared: ready; found again: [1-9]\d*; \d+ % left\n$/)
})

test.each([
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
])('the ten lines compile under strict with module %s and %s resolution', (module, moduleResolution) => {
  const compilerOptions = { strict: true, noEmit: true, target: 'es2023', module, moduleResolution, types: ['node'] }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['ten-lines.ts'] }))
  expect(run(process.execPath, ['node_modules/typescript/bin/tsc'], { cwd: project })).toEqual({
    status: 0,
    stdout: '',
    stderr: '',
  })
})

describe.each(['22', '24', '26'])('npx on Node %s', (version) => {
  const empty = emptyProject(join(folder.path, `empty-${version}`))
  const everlong = (...words: readonly string[]) =>
    output('npx', ['--yes', `--package=${tarballs.command}`, 'everlong', ...words], {
      cwd: empty,
      node: node(version),
      env,
    })

  test('says its version', () => {
    expect(everlong('--version')).toBe(`${manifestOf('cli').version}\n`)
  })

  test('inspects a session', () => {
    const [line] = everlong('inspect', sample).split('\n')
    expect(line).toBe(sample)
  })

  test('works as an agent', () => {
    const words = ['--model', 'demo', '--permission-mode', 'allow', '-p', 'Fix the bugs.', '--output', 'json']
    const work = emptyProject(join(empty, 'work'))
    expect(JSON.parse(everlong('agent', work, ...words))).toMatchObject({ exitCode: 0, reason: 'finished' })
  })

  test('plays the demonstration', () => {
    const lines = everlong('demo', '--fast', '--folder', join(empty, 'demo'))
    expect(lines).toContain('Done in')
    expect(lines).not.toContain('not seen')
  })
})

test('on a Node that is too old, npx says which one is needed', () => {
  const words = ['--yes', `--package=${tarballs.command}`, 'everlong', '--version']
  const { status, stdout, stderr } = run('npx', words, { cwd: project, node: node('22.17'), env })
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(/^everlong: this is Node 22\.17\.\d+, and the everlong command needs 22\.18 or later\. /m)
})
