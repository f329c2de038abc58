// `npm run test:agents [-- WORDS]`: builds the plug-ins, installs the real agents into .everlong/agents, and drives them
// against the simulator. An agent that cannot be installed is skipped with a message.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runStep } from './steps.ts'

/** A package of npm and its version. Pinned, so that the tested version is the one in the docs. */
const agents: Readonly<Record<string, string>> = {
  '@anthropic-ai/claude-code': '2.1.327',
  '@anthropic-ai/claude-agent-sdk': '0.3.325',
  '@openai/codex': '0.166.0',
  'opencode-ai': '1.18.33',
  '@earendil-works/pi-coding-agent': '1.5.0',
}

/** Agents whose program is bundled, and the packages that it still needs. Not every registry has the others. */
const bundled: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '@earendil-works/pi-coding-agent': { jiti: '2.7.0' },
}

const folder = join(root, '.everlong/agents')
mkdirSync(folder, { recursive: true })
let available: Readonly<Record<string, string>> = {}
for (const [name, version] of Object.entries(agents)) {
  const wanted = { ...available, [name]: version }
  const alone = () => ({ ...available, [name]: unpacked(name, version) })
  if (isInstalled(name, version) || installs(wanted)) available = wanted
  else if (name in bundled && installs(alone())) available = alone()
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
  // The install scripts of agents only copy the binary for this platform.
  const options = ['--no-audit', '--no-fund', '--no-package-lock', '--foreground-scripts']
  const { status } = spawnSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit', shell: false })
  return status === 0 && Object.keys(dependencies).every((name) => isInstalled(name, agents[name] ?? ''))
}

/** The package in its own folder, installing only what its bundle needs. */
function unpacked(name: string, version: string): string {
  const place = join(folder, 'unpacked', name)
  mkdirSync(place, { recursive: true })
  const options = { cwd: place, stdio: 'ignore', shell: false } as const
  const [file] = spawnSync('npm', ['pack', `${name}@${version}`, '--silent'], { ...options, stdio: 'pipe' })
    .stdout.toString()
    .split('\n')
  spawnSync('tar', ['-xzf', file ?? '', '--strip-components=1'], options)
  const manifest = join(place, 'package.json')
  if (!existsSync(manifest)) return version
  const { devDependencies: _, ...own } = JSON.parse(readFileSync(manifest, 'utf8'))
  writeFileSync(manifest, JSON.stringify({ ...own, dependencies: bundled[name] }))
  return `file:${place}`
}
