// Peers that are too heavy for everybody's install: bench/apart lists them, and they are installed there when a benchmark
// first needs them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from '../root.ts'

const folder = join(root, 'bench', 'apart')

/** A module of one of them, by its place below node_modules. */
export async function importApart<T>(path: string): Promise<T> {
  fetchOnce()
  return (await import(pathToFileURL(join(folder, 'node_modules', path)).href)) as T
}

export function fetchOnce(): void {
  if (existsSync(join(folder, 'node_modules'))) return
  console.error('Fetching the heavy peers into bench/apart (about 320 MB, once) …')
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock']
  const { status, stderr } = spawnSync('npm', args, {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm install in bench/apart failed:\n${stderr}`)
}
