// Paths of sessions that a gateway has encrypted. Light, because it runs before every command.
import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** A transcript that is encrypted, or a folder of a gateway that has one. */
export function isSealedPath(argument: string): boolean {
  if (argument.startsWith('-')) return false
  try {
    if (statSync(argument).isFile()) return argument.endsWith('.jsonl') && isSealedFile(argument)
    return isOfGateway(resolve(argument)) && transcriptsIn(sessionsOf(argument)).some(isSealedFile)
  } catch {
    // Nothing is at this path, or it cannot be read. The command reports that.
    return false
  }
}

/** The sessions folder of a gateway, or the folder itself. */
function sessionsOf(folder: string): string {
  return existsSync(join(folder, 'gateway.db')) ? join(folder, 'sessions') : folder
}

/** The files of a folder and of the folders in it. */
function transcriptsIn(folder: string): readonly string[] {
  const items = readdirSync(folder, { withFileTypes: true })
  const inFolders = items.filter((item) => item.isDirectory()).flatMap(({ name }) => filesIn(join(folder, name)))
  return [...filesIn(folder), ...inFolders]
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(folder, name))
}

/** DATA, DATA/sessions or DATA/sessions/TENANT. Other folders are not searched, because they may have thousands of files. */
function isOfGateway(folder: string): boolean {
  const above = [folder, dirname(folder), dirname(dirname(folder))]
  return above.some((place) => existsSync(join(place, 'gateway.db')))
}

/** The readable part of a record comes first and is short. */
const headBytes = 2_048

function isSealedFile(path: string): boolean {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(headBytes)
    return head.toString('utf8', 0, readSync(file, head, 0, headBytes, 0)).includes('"everlongSealed":{"key":')
  } finally {
    closeSync(file)
  }
}

/** The folder of the sessions at a path. A folder of tenants must have only one. */
export function tenantFolderOf(folder: string): string | readonly string[] {
  if (filesIn(folder).length > 0) return folder
  const below = sessionsOf(folder)
  const tenants = readdirSync(below, { withFileTypes: true }).filter((item) => item.isDirectory())
  const names = tenants.map(({ name }) => join(below, name))
  return names.length === 1 ? (names[0] ?? folder) : names
}
