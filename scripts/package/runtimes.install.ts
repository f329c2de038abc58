// The packed library in other runtimes: Bun, Deno and workerd (Cloudflare), each as npm delivers it. A session in memory in
// each of them, and one on disk where there is a disk.
import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { root } from '../steps.ts'
import { emptyProject, output, packInto, run, temporaryFolder } from './testing.ts'

const folder = temporaryFolder()
afterAll(folder.remove, 60_000)

const project = emptyProject(join(folder.path, 'project'))
const packages = ['@oven/bun-linux-x64', '@deno/linux-x64-glibc', '@cloudflare/workerd-linux-64'] as const
const [bun, deno, workerd] = [
  ['@oven/bun-linux-x64', 'bin/bun'],
  ['@deno/linux-x64-glibc', 'deno'],
  ['@cloudflare/workerd-linux-64', 'bin/workerd'],
].map(([name = '', file = '']) => join(project, 'node_modules', name, file)) as [string, string, string]

/** Needs only the language and what browsers have. */
const program = `import { createEngine, estimateTokens, offline } from 'everlong'
export async function play() {
  const session = await createEngine({ model: offline() }).start()
  for (let at = 0; at < 20; at++) {
    session.add({ role: 'user', content: 'Step ' + at + '. Never drop the table orders_2019.' })
    const prepared = await session.prepare()
    if (prepared.type !== 'ready') throw new Error('not ready: ' + prepared.why)
    session.record({ content: 'Done with step ' + at + '. ' + 'It was long. '.repeat(200) })
  }
  const { type } = await session.compact()
  const { matches } = await session.recall('orders_2019')
  const isKept = JSON.stringify(session.messages()).includes('Never drop the table orders_2019.')
  await session.close()
  return [type, isKept, matches.length > 0, estimateTokens('How long is this?') > 0].join(' ')
}
`
const expected = 'compacted true true true'

describe.skipIf(process.platform !== 'linux' || process.arch !== 'x64')('on Linux', () => {
  beforeAll(() => {
    const { library } = packInto(folder.path)
    output('npm', ['install', '--no-audit', '--no-fund', library, ...packages], { cwd: project })
    writeFileSync(join(project, 'program.mjs'), program)
    writeFileSync(join(project, 'run.mjs'), `import { play } from './program.mjs'\nconsole.log(await play())\n`)
    copyFileSync(join(root, 'examples/src/ten-lines.ts'), join(project, 'ten-lines.ts'))
    expect([bun, deno, workerd].filter((file) => !existsSync(file))).toEqual([])
  })

  test('Bun: in memory, and on disk', () => {
    expect(output(bun, ['run.mjs'], { cwd: project })).toBe(`${expected}\n`)
    expect(output(bun, ['ten-lines.ts'], { cwd: project })).toMatch(/^prepared: ready; found again: [1-9]/)
  })

  test('Deno: in memory without any permission, and on disk', () => {
    const closed = ['run', '--no-prompt', '--node-modules-dir=manual', '--no-lock']
    expect(output(deno, [...closed, 'run.mjs'], { cwd: project })).toBe(`${expected}\n`)
    const open = ['run', '-A', '--node-modules-dir=manual', '--no-lock', 'ten-lines.ts']
    expect(output(deno, open, { cwd: project })).toMatch(/^prepared: ready; found again: [1-9]/)
  })

  test('workerd: in memory', async () => {
    const worker = `import { play } from './program.mjs'
export default { async test() {
  const played = await play()
  if (played !== ${JSON.stringify(expected)}) throw new Error(played)
} }`
    await build({
      stdin: { contents: worker, resolveDir: project },
      bundle: true,
      format: 'esm',
      outfile: join(project, 'worker.js'),
    })
    const config = `using Workerd = import "/workerd/workerd.capnp";
const unitTests :Workerd.Config = (services = [(name = "play", worker = (
  modules = [(name = "worker", esModule = embed "worker.js")], compatibilityDate = "2026-01-01"))]);`
    writeFileSync(join(project, 'config.capnp'), config)
    const ran = run(workerd, ['test', 'config.capnp'], { cwd: project })
    expect(ran).toMatchObject({ status: 0 })
    expect(ran.stderr).toContain('[ PASS ]')
  })
})
