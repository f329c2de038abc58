// The machine that something is installed on: the home folder, the Node that hooks run with, and where built plug-ins are.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import type { Environment } from 'everlong'
import type { Place } from './target.ts'

/** The search of the plug-ins needs node:sqlite without a flag. */
const oldestNode: readonly [number, number] = [22, 16]

/** cli/ in a checkout, or where npm installed the package. Sources are nested deeper than built files. */
const packageRoot = nearestPackage(import.meta.dirname)
const checkout = dirname(packageRoot)
/** In the published package; a checkout has them next to the rooms. */
const packagedPlugins = join(packageRoot, 'plugins')
const isPackage = existsSync(packagedPlugins)

function nearestPackage(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : nearestPackage(dirname(folder))
}

/** A plug-in that cannot be read or built; the message says what to do. */
export class MissingPlugin extends Error {}

export function placeOf(env: Environment): Place {
  return { home: homeOf(env), env, node: nodeCommand(env), pluginFile: readPluginFile }
}

export function homeOf(env: Environment): string {
  const home = env.HOME ?? env.USERPROFILE
  return home !== undefined && isAbsolute(home) ? home : homedir()
}

/** The one place that knows where plug-ins are. */
function pluginFolder(plugin: string): string {
  return join(isPackage ? packagedPlugins : join(checkout, 'plugins'), plugin)
}

function readPluginFile(plugin: string, path: string): string {
  const file = join(pluginFolder(plugin), path)
  if (!existsSync(file) && path.startsWith('dist/') && !isPackage) build(plugin)
  const remedy = isPackage ? 'Install @everlong/cli again.' : 'Run npm run build:plugins first.'
  if (!existsSync(file)) throw new MissingPlugin(`${file} does not exist. ${remedy}`)
  return readFileSync(file, 'utf8')
}

function build(plugin: string): void {
  const script = join(checkout, 'scripts', 'build-plugins.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, plugin], { cwd: checkout, encoding: 'utf8' })
  if (status === 0) return
  const why = stderr?.trim().split('\n').at(-1) ?? ''
  throw new MissingPlugin(
    `The plug-in ${plugin} could not be built. Run npm run build:plugins to see why. ${why}`.trim(),
  )
}

/** `node` survives an update of Node; the path of this Node is for machines whose own is missing or too old. */
function nodeCommand(env: Environment): string {
  const isOnPath = (env.PATH ?? '').split(delimiter).some((folder) => isAbsolute(folder) && hasNode(folder))
  if (!isOnPath) return process.execPath
  const { stdout } = spawnSync('node', ['--version'], { encoding: 'utf8', env: { ...env }, timeout: 10_000 })
  const [major = 0, minor = 0] = (/^v(\d+)\.(\d+)/.exec(stdout ?? '') ?? []).slice(1).map(Number)
  const isNewEnough = major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
  return isNewEnough ? 'node' : process.execPath
}

function hasNode(folder: string): boolean {
  return existsSync(join(folder, process.platform === 'win32' ? 'node.exe' : 'node'))
}
