// `npm run test:agents`: builds the plug-ins, installs the real agents into .everlong/agents, and drives them against the
// simulator. Skipped with a message where an agent cannot be installed.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runStep } from './steps.ts'

const agents = { '@anthropic-ai/claude-code': '2.1.325' }
const folder = join(root, '.everlong/agents')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: agents }))
// Its install script only links the binary of this platform.
const options = ['--no-audit', '--no-fund', '--no-package-lock', '--foreground-scripts']
const { status } = spawnSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit', shell: false })
const isThere = existsSync(join(folder, 'node_modules/.bin/claude'))

if (status !== 0 || !isThere) {
  console.log('skipped: Claude Code could not be installed from npm')
} else {
  const config = join(root, 'vitest.agents.config.ts')
  const isBuilt = await runStep({ name: 'build', script: join(root, 'scripts/build-plugins.ts') })
  const args = ['run', '--config', config, ...process.argv.slice(2)]
  const isGreen =
    isBuilt &&
    (await runStep({ name: 'agents', script: join(root, 'node_modules/vitest/vitest.mjs'), args }, { show: true }))
  process.exitCode = isGreen ? 0 : 1
}
