// Where Codex keeps its sessions, which of them belong to a project, and what the last compaction of one kept.
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { forEachEntry } from 'everlong/node'
import { isObject, readBoundary, stringAt, textOf } from 'everlong/transcript'

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

/** Rollouts name their folder in the first line, and never another one later: each is read once. */
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
  return path === '' || !(path === '..' || path.startsWith('../') || path.startsWith('..\\'))
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

export type LastCompaction = {
  readonly boundary: string
  /** What the new history holds beside the summary. */
  readonly kept: readonly string[]
}

export function lastCompaction(rollout: string): LastCompaction | undefined {
  let found: { readonly boundary: string; readonly kept: string[]; readonly line: number } | undefined
  forEachEntry(rollout, ({ record, position }) => {
    if (readBoundary(record) !== undefined) {
      found = { boundary: stringAt(record, 'uuid') ?? '', kept: [], line: position.line }
    } else if (found?.line === position.line && record.isCompactSummary !== true && isObject(record.message)) {
      found.kept.push(textOf(record.message.content))
    }
  })
  return found
}
