// Which files an archive is made of: a transcript with its sub-agents and the results stored apart, or all of these
// below a folder. It only looks at names and first lines; what is in the files is not its business.
import { accessSync, closeSync, constants, type Dirent, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { stringAt } from '../../core/message/json.ts'
import { decodeLine } from '../../core/transcript/format/decode.ts'
import { findTranscripts } from '../read/stats.ts'
import { resultsFolder, resultsName, sessionFolder } from '../session/session-folder.ts'
import { diskProblem } from '../write/disk.ts'

export type ArchiveFile = {
  readonly path: string
  /** Below the archive's folder, with forward slashes. It names the file in the database and on cards. */
  readonly name: string
  /** A transcript, or a single large tool result, whose id is the file's name. */
  readonly type: 'transcript' | 'result'
  readonly size: number
  readonly modified: number
}

/**
 * Lists the files as they are at each call, oldest first, so that what was said last is indexed last. What a file
 * beside the transcript says of its session is looked up once.
 */
export function createLister(root: string): () => readonly ArchiveFile[] {
  const known = new Map<string, readonly string[]>()
  const idsOf = (path: string) => {
    const ids = known.get(path) ?? sessionIds(path)
    if (ids.length > 0) known.set(path, ids)
    return ids
  }
  return () => listFiles(root, idsOf)
}

type IdsOf = (path: string) => readonly string[]

function listFiles(root: string, idsOf: IdsOf): readonly ArchiveFile[] {
  const isFolder = statSync(root).isDirectory()
  const base = isFolder ? root : dirname(root)
  const found = isFolder ? below(root) : around(root, idsOf)
  return (
    found
      // A compaction's own run holds what the session holds, once more.
      .filter(({ path }) => path === root || !basename(path).startsWith('agent-acompact-'))
      .flatMap(({ path, type }) => {
        const stat = statOf(path)
        const name = relative(base, path).split(sep).join('/')
        return stat === undefined ? [] : [{ path, name, type, size: stat.size, modified: stat.mtimeMs }]
      })
      .toSorted((a, b) => a.modified - b.modified || (a.name < b.name ? -1 : 1))
  )
}

type Found = Pick<ArchiveFile, 'path' | 'type'>

function below(folder: string): readonly Found[] {
  const transcripts = findTranscripts([folder]).files.map((path): Found => ({ path, type: 'transcript' }))
  accessSync(folder, constants.R_OK)
  return [...transcripts, ...resultFolders(folder).flatMap(resultFiles)]
}

/** At any depth. A folder that may not be read costs nothing but itself. */
function resultFolders(folder: string): readonly string[] {
  return itemsIn(folder)
    .filter((item) => item.isDirectory())
    .map((item) => join(folder, item.name))
    .flatMap((path) => [...(basename(path) === resultsName ? [path] : []), ...resultFolders(path)])
}

function around(transcript: string, idsOf: IdsOf): readonly Found[] {
  const own = idsOf(transcript)
  const beside = agentFiles(dirname(transcript)).filter(
    (path) => path !== transcript && idsOf(path).some((id) => own.includes(id)),
  )
  const agents = [...beside, ...agentFiles(join(sessionFolder(transcript), 'subagents'))]
  const transcripts = [transcript, ...agents].map((path): Found => ({ path, type: 'transcript' }))
  return [...transcripts, ...resultFiles(resultsFolder(transcript))]
}

function agentFiles(folder: string): readonly string[] {
  return filesIn(folder).filter((path) => basename(path).startsWith('agent-') && path.endsWith('.jsonl'))
}

function resultFiles(folder: string): readonly Found[] {
  return filesIn(folder).map((path) => ({ path, type: 'result' }))
}

/** Files only: a link may lead anywhere. */
function filesIn(folder: string): readonly string[] {
  return itemsIn(folder)
    .filter((item) => item.isFile())
    .map((item) => join(folder, item.name))
}

function itemsIn(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    diskProblem(error)
    return [] // Most sessions have no such folder.
  }
}

function statOf(path: string): { readonly size: number; readonly mtimeMs: number } | undefined {
  try {
    return statSync(path)
  } catch (error) {
    diskProblem(error)
    return undefined // Removed since it was listed.
  }
}

const look = 64 << 10

/** The session ids on the first lines. An agent's file names its session from its first line on. */
function sessionIds(path: string): readonly string[] {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(look)
    const lines = buffer.toString('utf8', 0, readSync(file, buffer, 0, look, 0)).split('\n')
    const records = lines.slice(0, 20).flatMap((line) => decodeLine(line).records)
    const ids = records.map((record) => stringAt(record, 'sessionId')).filter((id) => id !== undefined)
    return [...new Set(ids)]
  } finally {
    closeSync(file)
  }
}
