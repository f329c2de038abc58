// Settings of the plug-in: from opencode's configuration, or from `everlong.json` next to it. Everything is off by default.
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isObject, numberAt } from 'everlong/internal'

export type Environment = { readonly [name: string]: string | undefined }

export type Settings = {
  /** Results with more characters are stored in full and shortened in the context. Undefined: none are. */
  readonly largeResults: number | undefined
}

const smallest = 1_000

export function readSettings(options: unknown, env: Environment): Settings {
  const given = isObject(options) ? options : fromFile(join(configFolder(env), 'everlong.json'))
  const largeResults = numberAt(given, 'largeResults')
  if (largeResults !== undefined && largeResults < smallest) {
    throw new Error(`largeResults is ${largeResults}; the smallest value is ${smallest} characters.`)
  }
  return { largeResults }
}

function fromFile(path: string): unknown {
  if (!existsSync(path)) return {}
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`${path} cannot be read. ${error instanceof Error ? error.message : String(error)}`)
  }
}

function configFolder(env: Environment): string {
  return env.OPENCODE_CONFIG_DIR ?? join(env.XDG_CONFIG_HOME ?? join(env.HOME ?? homedir(), '.config'), 'opencode')
}

/** Where copies, stored results and the index of a project are. `everlong uninstall opencode` removes it. */
export function dataFolder(directory: string, env: Environment): string {
  const data = env.XDG_DATA_HOME ?? join(env.HOME ?? homedir(), '.local', 'share')
  return join(data, 'everlong', 'opencode', directory.replaceAll(/[^a-zA-Z0-9]/g, '-').slice(-100))
}
