// `npm run test:agents [-- WORDS]`: builds the plug-ins, installs the real agents into .everlong/agents, and drives them
// against the simulator. An agent that cannot be installed is skipped with a message.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runStep } from './steps.ts'

/** A package of npm and its version. Pinned: what is tested is what the docs speak of. */
const agents: Readonly<Record<string, string>> = {
  '@anthropic-ai/claude-code': '2.1.325',
  '@anthropic-ai/claude-agent-sdk': '0.3.325',
}

const folder = join(root, '.everlong/agents')
mkdirSync(folder, { recursive: true })
let available: Readonly<Record<string, string>> = {}
for (const [name, version] of Object.entries(agents)) {
  const wanted = { ...available, [name]: version }
  if (isInstalled(name, version) || installs(wanted)) available = wanted
  else console.log(`skipped: ${name} ${version} could not be installed from npm`)
}

if (Object.keys(available).length > 0) {
  const config = join(root, 'vitest.agents.config.ts')
  const isBuilt = await runStep({ name: 'build', script: join(root, 'scripts/build-plugins.ts') })
  const args = ['run', '--config', config, ...process.argv.slice(2)]
  const isGreen =
    isBuilt &&
    (await runStep({ name: 'agents', script: join(root, 'node_modules/vitest/vitest.mjs'), args }, { show: true }))
  process.exitCode = isGreen ? 0 : 1
}

function isInstalled(name: string, version: string): boolean {
  const manifest = join(folder, 'node_modules', name, 'package.json')
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === version
}

function installs(dependencies: Readonly<Record<string, string>>): boolean {
  const manifest = join(folder, 'package.json')
  rmSync(manifest, { force: true })
  writeFileSync(manifest, JSON.stringify({ private: true, dependencies }))
  // The install scripts of agents only put the binary of this platform in place.
  const options = ['--no-audit', '--no-fund', '--no-package-lock', '--foreground-scripts']
  const { status } = spawnSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit', shell: false })
  return status === 0 && Object.entries(dependencies).every(([name, version]) => isInstalled(name, version))
}
