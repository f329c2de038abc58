// Stores tool results next to the session before they are cleared from the view, in the place where Claude Code keeps large ones:
// SESSION/tool-results/ID.txt. Never overwrites a file and never leaves that folder.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type JsonObject, objectAt, stringAt } from '../../core/message/json.ts'
import { blocksOf, isText, isToolResult, textOf } from '../../core/message/message.ts'
import type { Conversation } from '../../core/session/conversation.ts'
import type { View } from '../../core/transcript/view/fold.ts'
import { makeSessionFolder, resultsFolder } from '../session/session-folder.ts'
import { createFile, type Disk, type DiskProblem, diskProblem, nodeDisk } from './disk.ts'

export type ToolResult = { readonly toolUseId: string; readonly content: unknown }

export type StoredResults =
  | {
      readonly type: 'stored'
      readonly folder: string
      readonly written: readonly string[]
      readonly kept: readonly string[]
      /** Results with more than text (images), which only the transcript has. */
      readonly notText: readonly string[]
    }
  | ({ readonly type: 'store-failed' } & DiskProblem)

/** Wraps a conversation so that results are stored before an edit clears them. The transcript has them in any case. */
export function keepingResults(
  conversation: Conversation,
  transcript: string,
  onProblem: (problem: string) => void,
): Conversation {
  const { view, record, edit: apply } = conversation
  return {
    ...conversation,
    edit: (edits) => {
      const ids = new Set(edits.flatMap((edit) => (edit.type === 'clear-results' ? edit.toolUseIds : [])))
      const items = ids.size === 0 ? [] : resultsIn(view()).filter(({ toolUseId }) => ids.has(toolUseId))
      const results = originalResults({ entry: (uuid) => ({ record: record(uuid) ?? {} }) }, items)
      const stored = results.length === 0 ? undefined : storeResults(transcript, results)
      if (stored?.type === 'store-failed') onProblem(stored.message)
      return apply(edits)
    },
  }
}

function resultsIn({ messages, sources }: View) {
  return messages.flatMap(({ content }, at) =>
    blocksOf(content)
      .filter(isToolResult)
      .map(({ tool_use_id }) => ({ toolUseId: tool_use_id, uuids: sources[at]?.uuids ?? [] })),
  )
}

/** The results as recorded, regardless of later edits. */
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

/** The block with the result of this call. */
export function resultBlock(record: JsonObject, toolUseId: string): JsonObject | undefined {
  return blocksOf(objectAt(record, 'message')?.content).find(
    (block) =>
      (isToolResult(block) || block.type.endsWith('tool_result')) && stringAt(block, 'tool_use_id') === toolUseId,
  )
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

/** Undefined if a text file cannot hold everything: other blocks, or a lone surrogate, which UTF-8 cannot encode. */
function textIn(content: unknown): string | undefined {
  const blocks = blocksOf(content)
  const isWhole = !Array.isArray(content) || (blocks.length === content.length && blocks.every(isText))
  const text = typeof content === 'string' ? content : textOf(blocks)
  return isWhole && text.isWellFormed() ? text : undefined
}

const safeName = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/
/** Reserved on Windows. */
const deviceName = /^(con|prn|aux|nul|com\d|lpt\d)$/i

/** Ids are untrusted. An unsafe one gets a hash, so that no two collide. */
export function fileNameOf(toolUseId: string): string {
  if (safeName.test(toolUseId) && !deviceName.test(toolUseId)) return toolUseId
  const plain = toolUseId.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 40)
  return `id-${plain}-${createHash('sha256').update(toolUseId).digest('hex').slice(0, 32)}`
}
