// What each message did to files: reads, edits and writes by tools and shell commands, and files that the client put into
// the context. Everybody who asks which files were touched, shown or changed reads this.
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock, type ToolUseBlock, textOf } from '../message/block.ts'
import { dropOldest } from '../message/drop-oldest.ts'
import { type JsonObject, objectAt, parseObject, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { readBy } from '../tokens/file-reads.ts'
import { type Lines, type NamedKinds, type ToolCall, toolCall } from '../tools/call.ts'
import type { PatchedFile, TextEdit } from '../tools/patch.ts'
import { mayChange, readScript, removes, type Script } from '../tools/shell-effects.ts'

export type FileTouch =
  | { readonly type: 'read'; readonly path: string; readonly lines: Lines; readonly by: Answered }
  | (Change & { readonly type: 'changed'; readonly by: Answered })
  | { readonly type: 'attached'; readonly path: string; readonly kind: string; readonly attachment: JsonObject }

type Change = {
  readonly path: string
  /** Of a patch. */
  readonly act?: PatchedFile['act']
  /** The whole text, where the call wrote it. */
  readonly text?: string
  readonly edits: readonly TextEdit[]
}

/** A call and its result, which did not report an error. */
export type Answered = {
  readonly call: ToolCall
  readonly result: ToolResultBlock
  /** The client's own record of the result. */
  readonly raw: JsonObject | undefined
}

export type FileNews = {
  readonly touches: readonly FileTouch[]
  /** Commands and agents that may have changed more than they name. They come before the touches. */
  readonly unsure: readonly Unsure[]
}

export type Unsure = {
  readonly mayChange: (path: string) => boolean
  readonly removes: (path: string) => boolean
}

/** Takes messages in order and returns what each did. */
export type FileWalk = (message: ViewMessage, record?: JsonObject) => FileNews

/** A call that was stopped gets no result, and is forgotten after so many others. */
const mostOpenCalls = 256

export function createFileWalk(named: NamedKinds = {}): FileWalk {
  const calls = new Map<string, ToolUseBlock>()
  return (message, record) => {
    const touches: FileTouch[] = attachedIn(message, record)
    const unsure: Unsure[] = []
    for (const block of blocksOf(message.content)) {
      if (isToolUse(block)) calls.set(block.id, block)
      const use = isToolResult(block) ? calls.get(block.tool_use_id) : undefined
      if (!use || !isToolResult(block)) continue
      calls.delete(use.id)
      if (isDenied(block, record)) continue
      const call = toolCall(use, named)
      const script = call.type === 'command' ? readScript(call.script) : undefined
      // A command that failed may have changed something before it did.
      unsure.push(...unsureAfter(call, script, block.is_error === true))
      if (block.is_error === true) continue
      const by = { call, result: block, raw: objectAt(record, 'toolUseResult') }
      touches.push(...(script ? scriptTouches(script, by) : toolTouches(by)))
    }
    dropOldest(calls, mostOpenCalls)
    return { touches, unsure }
  }
}

/** It was never run. */
function isDenied({ is_error, content }: ToolResultBlock, record: JsonObject | undefined): boolean {
  if (record?.toolDenialKind !== undefined) return true
  return (
    is_error === true &&
    /\bdoesn't want to (?:proceed|take this action)|\bwas rejected\b|\bPermission\b.{0,200}\bdenied\b/.test(
      textOf(content).slice(0, 500),
    )
  )
}

/** Agents of these types only look. */
const lookingAgent = /explore|plan|search|review/i

function unsureAfter(call: ToolCall, script: Script | undefined, isError: boolean): readonly Unsure[] {
  if (script) {
    const isChange = script.isWide || script.files.some(({ act }) => act !== 'read')
    return isChange
      ? [{ mayChange: (path) => mayChange(script, path), removes: (path) => !isError && removes(script, path) }]
      : []
  }
  if (call.type !== 'agent' || lookingAgent.test(call.agentType ?? '')) return []
  return [{ mayChange: () => true, removes: () => false }]
}

function toolTouches(by: Answered): readonly FileTouch[] {
  const read = readBy(by.call, by.result)
  if (read) return [{ type: 'read', path: read.path, lines: [read.from, read.to], by }]
  return changesBy(by.call).map((change) => ({ type: 'changed', ...change, by }))
}

function changesBy(call: ToolCall): readonly Change[] {
  if (call.type === 'patch') return call.files
  if (call.path === undefined) return []
  if (call.type === 'edit') return [{ path: call.path, edits: call.edits }]
  if (call.type !== 'write') return []
  return [{ path: call.path, edits: [], ...(call.text === undefined ? {} : { text: call.text }) }]
}

const wholeFile: Lines = [1, Number.POSITIVE_INFINITY]

function scriptTouches({ files }: Script, by: Answered): readonly FileTouch[] {
  return files.flatMap(({ path, act, lines = wholeFile }): readonly FileTouch[] => {
    if (act === 'read') return [{ type: 'read', path, lines, by }]
    return act === 'named' ? [] : [{ type: 'changed', path, edits: [], by }]
  })
}

/** Attachments about one file. A person's own edit is announced this way as well. */
const fileKinds = new Set(['file', 'already_read_file', 'compact_file_reference', 'edited_text_file', 'files'])

function attachedIn({ attachment: kind, content, origin }: ViewMessage, record: JsonObject | undefined): FileTouch[] {
  if (origin !== 'attachment' || kind === undefined || !fileKinds.has(kind)) return []
  // Without its record, an attachment is the JSON that stands in the message.
  const attachment = objectAt(record, 'attachment') ?? (typeof content === 'string' ? parseObject(content) : undefined)
  const path = stringAt(attachment, 'filename')
  return attachment === undefined || path === undefined ? [] : [{ type: 'attached', path, kind, attachment }]
}
