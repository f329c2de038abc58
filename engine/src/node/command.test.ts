// `npx everlong` without an installed command: npm runs it, and this program ends with its exit code.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const folder = mkdtempSync(join(tmpdir(), 'everlong-command-'))
afterAll(() => rmSync(folder, { recursive: true }))

const program = join(import.meta.dirname, 'command.ts')

/** Runs a copy without a command next to it, with a fake npm. */
function run(npm: string): { readonly status: number | null; readonly stdout: string } {
  const place = mkdtempSync(join(folder, 'project-'))
  mkdirSync(join(place, 'node_modules', 'everlong'), { recursive: true })
  writeFileSync(join(place, 'node_modules', 'everlong', 'package.json'), '{ "name": "everlong", "version": "1.2.3" }')
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
  copyFileSync(program, join(place, 'command.ts'))
  writeFileSync(join(place, 'npm-cli.cjs'), npm)
  const env = { ...process.env, npm_execpath: join(place, 'npm-cli.cjs') }
  return spawnSync(process.execPath, [join(place, 'command.ts'), 'lost', 'a b'], { cwd: place, env, encoding: 'utf8' })
}

test('npm gets the version of the library and the words, and its exit code is passed on', () => {
  const { status, stdout } = run('console.log(JSON.stringify(process.argv.slice(2))); process.exit(3)')
  expect([status, JSON.parse(stdout)]).toEqual([3, ['exec', '--', '@everlong/cli@1.2.3', 'lost', 'a b']])
})

test('a run that succeeds ends with 0, and one that was killed with 1', () => {
  expect([run('').status, run("process.kill(process.pid, 'SIGKILL')").status]).toEqual([0, 1])
})
