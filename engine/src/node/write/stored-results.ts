// Puts tool results beside the session before they are cleared from the view, where Claude Code keeps large ones and
// people look: SESSION/tool-results/ID.txt. It never overwrites a file and never leaves that folder.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { blocksOf, isText, textOf } from '../../core/message/block.ts'
import type { JsonObject } from '../../core/message/json.ts'
import { resultBlock } from '../archive/originals.ts'
import { makeSessionFolder, resultsFolder } from '../session/session-folder.ts'
import { type Disk, type DiskProblem, diskProblem, nodeDisk } from './disk.ts'
import { createFile } from './whole-file.ts'

export type ToolResult = { readonly toolUseId: string; readonly content: unknown }

export type StoredResults =
  | {
      readonly type: 'stored'
      readonly folder: string
      /** Paths of the files. */
      readonly written: readonly string[]
      /** Files that were there already. */
      readonly kept: readonly string[]
      /** Results that are more than text (images): the transcript alone has them. */
      readonly notText: readonly string[]
    }
  | ({ readonly type: 'store-failed' } & DiskProblem)

/** The results as they were recorded, whatever edits say of them. Entries that hold none of them are passed over. */
export function originalResults(
  file: { readonly entry: (uuid: string) => { readonly record: JsonObject } | undefined },
  items: readonly { readonly toolUseId?: string; readonly uuids: readonly string[] }[],
): readonly ToolResult[] {
  return items.flatMap(({ toolUseId, uuids }) => {
    if (toolUseId === undefined) return []
    const blocks = uuids.map((uuid) => resultBlock(file.entry(uuid)?.record ?? {}, toolUseId))
    const block = blocks.find((found) => found !== undefined)
    return block ? [{ toolUseId, content: block.content }] : []
  })
}

export function storeResults(transcript: string, results: readonly ToolResult[], disk: Disk = nodeDisk): StoredResults {
  const folder = resultsFolder(transcript)
  const written: string[] = []
  const kept: string[] = []
  const notText: string[] = []
  try {
    if (results.length > 0) makeSessionFolder(folder, disk)
    for (const { toolUseId, content } of results) {
      const text = textIn(content)
      const path = join(folder, `${fileNameOf(toolUseId)}.txt`)
      if (text === undefined) notText.push(toolUseId)
      else (createFile(path, Buffer.from(text), { disk, flush: false }) ? written : kept).push(path)
    }
    return { type: 'stored', folder, written, kept, notText }
  } catch (error) {
    return { type: 'store-failed', ...diskProblem(error) }
  }
}

/** Undefined when a text file would not hold all of it: other blocks, or half a character, which UTF-8 cannot say. */
function textIn(content: unknown): string | undefined {
  const blocks = blocksOf(content)
  const isWhole = !Array.isArray(content) || (blocks.length === content.length && blocks.every(isText))
  const text = typeof content === 'string' ? content : textOf(blocks)
  return isWhole && text.isWellFormed() ? text : undefined
}

/** What a file may be called everywhere. Ids come from the transcript, and may be anything. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
/** Names that Windows keeps for devices. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)$/i

/** The id itself where it can be a name; else what is plain of it, and a hash so that no two meet. */
export function fileNameOf(toolUseId: string): string {
  if (plainName.test(toolUseId) && !device.test(toolUseId)) return toolUseId
  const plain = toolUseId.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)
  return `id-${plain}-${createHash('sha256').update(toolUseId).digest('hex').slice(0, 32)}`
}
