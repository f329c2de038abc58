// What the tests of the packages share: running a command, and a folder that is removed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { root } from '../steps.ts'

export type Ran = { readonly status: number | null; readonly stdout: string; readonly stderr: string }

/** Removes variables with which an npm that runs the tests tells its children about its own package. */
const inherited = /^npm_(?!config_)|^npm_config_local_prefix$|^NODE_(ENV|OPTIONS)$/
const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !inherited.test(name)))

export type RunOptions = {
  readonly cwd: string
  /** The Node that comes first in the PATH. Default: this one. */
  readonly node?: string
  readonly env?: Readonly<Record<string, string>>
}

export function run(command: string, args: readonly string[], { cwd, node = process.execPath, env }: RunOptions): Ran {
  const path = `${dirname(node)}${delimiter}${process.env.PATH}`
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    env: { ...clean, PATH: path, ...env },
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  })
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' }
}

/** The output of a command that must succeed. */
export function output(command: string, args: readonly string[], options: RunOptions): string {
  const { status, stdout, stderr } = run(command, args, options)
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`)
  return stdout
}

export type Folder = { readonly path: string; readonly remove: () => void }

export function temporaryFolder(): Folder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'everlong-package-')))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** An empty project in this folder. */
export function emptyProject(path: string): string {
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'package.json'), '{ "private": true, "type": "module" }')
  return path
}

export type Tarballs = { readonly library: string; readonly command: string }

/** The tarballs as `npm run package` makes them. */
export function packInto(folder: string): Tarballs {
  const lines = output(process.execPath, [join(root, 'scripts/package.ts'), folder], { cwd: root }).split('\n')
  const [library = '', command = ''] = lines.flatMap((line) => /: (.*\.tgz) /.exec(line)?.[1] ?? [])
  return { library, command }
}
