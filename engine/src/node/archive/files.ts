// Lists the files of an archive: a transcript with its sub-agents and stored results, or all of these below a folder.
import { accessSync, constants, statSync } from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { stringAt } from '../../core/message/json.ts'
import { decodeLine } from '../../core/transcript/format/decode.ts'
import { readBytes } from '../read/entries.ts'
import { findTranscripts } from '../read/stats.ts'
import { filesIn, isAgentFile, itemsIn, resultsFolder, resultsName, sessionFolder } from '../session/session-folder.ts'
import { tolerating } from '../write/disk.ts'

export type ArchiveFile = {
  readonly path: string
  /** Relative to the archive's folder, with forward slashes. Names the file in the database and on cards. */
  readonly name: string
  /** A `result` is one large tool result, named after its tool use id. */
  readonly type: 'transcript' | 'result'
  readonly size: number
  readonly modified: number
}

/** The name of the session that a file belongs to: its sub-agents and stored results are in its folder. */
export function sessionOf(name: string): string {
  return name.replace(/\/(subagents|tool-results)\/[^/]+$|\.[^./]+$/, '')
}

/** The current files, oldest first. `includes` picks transcripts of a folder that many projects share. */
export function listFiles(root: string, includes: (path: string) => boolean = () => true): readonly ArchiveFile[] {
  const isFolder = statSync(root).isDirectory()
  const base = isFolder ? root : dirname(root)
  const { transcripts, results } = isFolder ? below(root) : around(root)
  // A compaction's own run repeats the session.
  const wanted = transcripts.filter(
    (path) => path === root || (!basename(path).startsWith('agent-acompact-') && includes(path)),
  )
  const listed = (paths: readonly string[], type: ArchiveFile['type']) =>
    paths.flatMap((path) => {
      const stat = tolerating(() => statSync(path))
      if (stat === undefined) return [] // Removed since it was listed.
      return { path, name: relative(base, path).split(sep).join('/'), type, size: stat.size, modified: stat.mtimeMs }
    })
  return [...listed(wanted, 'transcript'), ...listed(results, 'result')].toSorted(
    (a, b) => a.modified - b.modified || (a.name < b.name ? -1 : 1),
  )
}

type Found = { readonly transcripts: readonly string[]; readonly results: readonly string[] }

function below(folder: string): Found {
  const transcripts = findTranscripts([folder]).files
  accessSync(folder, constants.R_OK)
  return { transcripts, results: resultFolders(folder).flatMap(filesIn) }
}

function resultFolders(folder: string): readonly string[] {
  return itemsIn(folder)
    .filter((item) => item.isDirectory())
    .map((item) => join(folder, item.name))
    .flatMap((path) => [...(basename(path) === resultsName ? [path] : []), ...resultFolders(path)])
}

function around(transcript: string): Found {
  const own = sessionIds(transcript)
  const beside = filesIn(dirname(transcript)).filter(
    (path) => isAgentFile(path) && path !== transcript && sessionIds(path).some((id) => own.includes(id)),
  )
  const inFolder = filesIn(join(sessionFolder(transcript), 'subagents')).filter(isAgentFile)
  return { transcripts: [transcript, ...beside, ...inFolder], results: filesIn(resultsFolder(transcript)) }
}

const headBytes = 64 << 10

function sessionIds(path: string): readonly string[] {
  const head = readBytes(path, 0, Math.min(headBytes, statSync(path).size)).toString('utf8')
  const records = head
    .split('\n')
    .slice(0, 20)
    .flatMap((line) => decodeLine(line).records)
  return records.flatMap((record) => stringAt(record, 'sessionId') ?? [])
}
