// Installs packages that not everybody needs into a separate folder when they are first used.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './steps.ts'

export type Fetching = {
  /** From the root, with a package.json. */
  readonly folder: string
  /** What is fetched and its size, for people. */
  readonly what: string
}

export function fetchPackages({ folder, what }: Fetching): void {
  const cwd = join(root, folder)
  // npm writes it last, so an install that was stopped is made again.
  if (existsSync(join(cwd, 'node_modules/.package-lock.json'))) return
  console.error(`Fetching ${what} into ${folder}, once …`)
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-package-lock']
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' })
  if (status !== 0) throw new Error(`npm install in ${folder} failed:\n${stderr}`)
}
