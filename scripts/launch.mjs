// The way in: `npm start`, `npm test`, `./everlong …` all come through here.
// Plain JavaScript for Node 18 and later. It makes sure that the dependencies of the lock file and a
// Node that is new enough are there (inside this folder, never outside it), then goes on with that Node.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { nodeIn, nodePackage } from './node-package.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const oldestNode = [22, 18]
const privateNodeRange = '^26.7.0'
const privateFolder = join(root, '.everlong')

const jobs = {
  start: ['cli/src/main.ts', 'demo'],
  cli: ['cli/src/main.ts'],
  test: ['scripts/test.ts'],
  'test:agents': ['scripts/test-agents.ts'],
  'test:adapters': ['scripts/test-config.ts', 'adapters'],
  'test:terminal': ['scripts/test-config.ts', 'terminal'],
  'test:browser': ['scripts/test-config.ts', 'browser'],
  check: ['scripts/check.ts'],
  bench: ['bench/src/main.ts'],
  example: ['examples/src/simulated/run.ts'],
  build: ['scripts/build.ts'],
  docs: ['scripts/docs.ts'],
  'build:plugins': ['scripts/build-plugins.ts'],
  'build:playground': ['viewer/build-playground.ts'],
  package: ['scripts/package.ts'],
  release: ['scripts/release.ts'],
  'test:package': ['scripts/test-package.ts'],
  format: ['scripts/format.ts'],
  'soak:properties': ['scripts/soak-properties.ts'],
  'soak:stores': ['engine/src/stores/testing/soak.ts'],
  'soak:gateway': ['gateway/src/testing/soak.ts'],
  'soak:agent': ['bench/src/soak/agent.ts'],
}

const [jobName = '', ...words] = process.argv.slice(2)
const job = jobs[jobName]
if (!job) fail(`launch: there is no job "${jobName}". Jobs: ${Object.keys(jobs).join(', ')}.`, 2)

const node = isNewEnough(process.versions.node) ? process.execPath : privateNode()
installDependencies()
run([join(root, job[0]), ...job.slice(1), ...words])

function isNewEnough(version) {
  const [major, minor] = version.split('.').map(Number)
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
}

function privateNode() {
  const name = nodePackage()
  const folder = join(privateFolder, 'node')
  const binary = nodeIn(folder)
  if (existsSync(binary)) return binary

  say(`This machine has Node ${process.versions.node}; Everlong needs ${oldestNode.join('.')} or later.`)
  say(`Fetching a private one into ${relativeName(folder)} (once).`)
  const fresh = `${folder}.${process.pid}`
  mkdirSync(fresh, { recursive: true })
  writeFileSync(join(fresh, 'package.json'), '{"private":true}\n')
  const args = ['install', '--no-save', '--no-package-lock', '--no-audit', '--no-fund', `${name}@${privateNodeRange}`]
  const outcome = npm(args, { cwd: fresh, node: process.execPath })
  if (outcome.status !== 0) {
    rmSync(fresh, { recursive: true, force: true })
    fail(
      `launch: could not fetch ${name}@${privateNodeRange} from the npm registry:\n${lastLines(outcome.stderr)}\n` +
        `Install Node ${oldestNode.join('.')} or later yourself, or try again with a network.`,
    )
  }
  rmSync(folder, { recursive: true, force: true })
  renameSync(fresh, folder)
  return binary
}

/** Installs the lock file's packages, once per version of the lock file. */
function installDependencies() {
  const stamp = join(root, 'node_modules', '.everlong-stamp')
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return

  say('Installing the dependencies of the lock file (once).')
  // Not `npm ci`, which refuses a lock file without a platform binary that the registry did not offer.
  const outcome = npm(['install', '--no-save', '--no-audit', '--no-fund'], { cwd: root, node })
  if (outcome.status !== 0) fail(`launch: npm install failed:\n${lastLines(outcome.stderr || outcome.stdout)}`)
  writeFileSync(stamp, wanted)
}

function npm(args, { cwd, node }) {
  const env = { ...process.env, PATH: `${dirname(node)}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH}` }
  // npm sets these for its children. They would direct the inner npm to the outer one's command.
  for (const name of Object.keys(env)) if (/^npm_(config_local_prefix|lifecycle|package)_?/.test(name)) delete env[name]
  const options = { cwd, env, encoding: 'utf8', maxBuffer: 64 << 20 }
  const own = process.env.npm_execpath
  if (own && /npm-cli\.[cm]?js$/.test(own)) return spawnSync(node, [own, ...args], options)
  return spawnSync('npm', args, { ...options, shell: process.platform === 'win32' })
}

async function run(args) {
  process.env.NODE_COMPILE_CACHE ??= join(privateFolder, 'compiled')
  if (node === process.execPath) {
    const { enableCompileCache } = await import('node:module')
    enableCompileCache?.()
    process.argv = [process.execPath, ...args]
    await import(pathToFileURL(args[0]).href)
    return
  }
  const watch = pathToFileURL(join(root, 'scripts', 'end-with-parent.mjs')).href
  const child = spawn(node, ['--import', watch, ...args], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
}

function relativeName(path) {
  return path.slice(root.length + 1)
}

function lastLines(text) {
  return text.trim().split('\n').slice(-12).join('\n')
}

function say(text) {
  process.stderr.write(`${text}\n`)
}

function fail(text, code = 1) {
  say(text)
  process.exit(code)
}
