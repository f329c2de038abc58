// Where Codex keeps its sessions, and which of them belong to a project.
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative, sep } from 'node:path'

export type Environment = { readonly [name: string]: string | undefined }

export function sessionsFolder(env: Environment): string {
  return join(env.CODEX_HOME ?? join(env.HOME ?? homedir(), '.codex'), 'sessions')
}

/** The repository that a folder is in, else the folder itself. */
export function projectOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at
    if (dirname(at) === at) return folder
  }
}

/** A rollout names its folder in its first line, so each is looked into once. */
export function createProjectFilter(project: string): (rollout: string) => boolean {
  const known = new Map<string, boolean>()
  return (rollout) => {
    const answer = known.get(rollout) ?? isInside(project, folderOf(rollout))
    known.set(rollout, answer)
    return answer
  }
}

function isInside(project: string, folder: string | undefined): boolean {
  if (folder === undefined) return false
  const path = relative(project, folder)
  return path !== '..' && !path.startsWith(`..${sep}`)
}

const headBytes = 16 << 10

/** The folder comes before the base instructions, which can be long: the line is searched, not parsed. */
function folderOf(rollout: string): string | undefined {
  const file = openSync(rollout, 'r')
  try {
    const buffer = Buffer.alloc(headBytes)
    const head = buffer.toString('utf8', 0, readSync(file, buffer, 0, headBytes, 0))
    const [, cwd] = /"cwd":("(?:[^"\\]|\\.)*")/.exec(head) ?? []
    return cwd === undefined ? undefined : JSON.parse(cwd)
  } finally {
    closeSync(file)
  }
}
