// `npm run package [-- FOLDER]`: makes the tarballs that are published, in dist/ or in the folder given. They are packed from
// temporary folders; the checkout is not changed.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Staged, stageCommand, stageLibrary } from './package/stage.ts'
import { root } from './steps.ts'

const [folder = join(root, 'dist')] = process.argv.slice(2)
const target = resolve(folder)
const staging = mkdtempSync(join(tmpdir(), 'everlong-pack-'))
try {
  mkdirSync(target, { recursive: true })
  pack(await stageLibrary(join(staging, 'library')))
  pack(await stageCommand(join(staging, 'command')))
} finally {
  rmSync(staging, { recursive: true, force: true })
}

function pack(staged: Staged): void {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', target]
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: staged.folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm pack failed for ${staged.name}:\n${stderr}`)
  const [packed] = Object.values(JSON.parse(stdout)) as { filename: string; size: number; entryCount: number }[]
  if (packed === undefined) throw new Error(`npm pack said nothing about ${staged.name}:\n${stdout}`)
  const size = `${packed.entryCount} files, ${Math.round(packed.size / 1024)} KB`
  console.log(`${staged.name}@${staged.version}: ${join(target, packed.filename)} (${size})`)
}
