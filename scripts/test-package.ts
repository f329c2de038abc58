// `npm run test:package`: packs, installs into empty projects from the npm registry, and runs there on every Node that we
// promise. The Nodes come from npm too, once, into .everlong/nodes. Skipped with a message where the registry is not reached.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { nodeIn, nodePackage } from './node-package.mjs'
import { emptyProject } from './package/testing.ts'
import { root, runStep } from './steps.ts'

const versions = ['22.17', '22', '24', '26']

function fetchNode(version: string): boolean {
  const folder = join(root, '.everlong/nodes', version)
  if (existsSync(nodeIn(folder))) return true
  mkdirSync(folder, { recursive: true })
  emptyProject(folder)
  const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', `${nodePackage()}@${version}`]
  console.log(`Fetching Node ${version} into .everlong/nodes (once).`)
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  return status === 0 && existsSync(nodeIn(folder))
}

const missing = versions.filter((version) => !fetchNode(version))
if (missing.length > 0) {
  console.log(`skipped: Node ${missing.join(', ')} could not be fetched from the npm registry`)
} else {
  const config = join(root, 'vitest.package.config.ts')
  const args = ['run', '--config', config, ...process.argv.slice(2)]
  const step = { name: 'packages', script: join(root, 'node_modules/vitest/vitest.mjs'), args }
  process.exitCode = (await runStep(step, { show: true })) ? 0 : 1
}
