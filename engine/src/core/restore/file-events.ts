// What each message did to files: reads, edits and writes by tools and by shell commands, files that the client put into
// the context. One walk for everybody who asks which files were touched, shown or changed.

import type { Lines } from '../ledger/facts.ts'
import { filesInScript } from '../ledger/script-files.ts'
import { commandOf } from '../ledger/tools.ts'
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock, type ToolUseBlock, textOf } from '../message/block.ts'
import { dropOldest } from '../message/drop-oldest.ts'
import { isObject, type JsonObject, objectAt, stringAt } from '../message/json.ts'
import type { ViewMessage } from '../message/message.ts'
import { toolJob } from '../message/tool-names.ts'
import { fileEventOf } from '../tokens/file-reads.ts'
import { type NamedKinds, toolKind } from '../tokens/tool-kinds.ts'
import { mayChange, removes, shellChanges } from './shell-changes.ts'

export type FileTouch =
  | { readonly type: 'read'; readonly path: string; readonly lines: Lines; readonly by: Answered }
  | { readonly type: 'changed'; readonly path: string; readonly by: Answered }
  | { readonly type: 'attached'; readonly path: string; readonly kind: string; readonly attachment: JsonObject }

/** A call and its result, which did not report an error. */
export type Answered = {
  readonly call: ToolUseBlock
  readonly result: ToolResultBlock
  /** The client's own account of the result. */
  readonly raw: JsonObject | undefined
  readonly isShell: boolean
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
      const call = isToolResult(block) ? calls.get(block.tool_use_id) : undefined
      if (!call || !isToolResult(block)) continue
      calls.delete(call.id)
      if (isDenied(block, record)) continue
      const isShell = toolKind(call, named) === 'shell'
      // A command that failed may have changed something before it did.
      unsure.push(...unsureAfter(call, { isShell, isError: block.is_error === true }))
      if (block.is_error === true) continue
      const by = { call, result: block, raw: objectAt(record, 'toolUseResult'), isShell }
      touches.push(...(isShell ? shellTouches(by) : toolTouches(by, named)))
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

function unsureAfter(
  { name, input }: ToolUseBlock,
  { isShell, isError }: { readonly isShell: boolean; readonly isError: boolean },
): readonly Unsure[] {
  if (isShell) {
    const changes = shellChanges(commandOf(input))
    return changes.isWide || changes.names.length > 0
      ? [{ mayChange: (path) => mayChange(changes, path), removes: (path) => !isError && removes(changes, path) }]
      : []
  }
  if (toolJob(name) !== 'agent' || /explore|plan|search|review/i.test(stringAt(input, 'subagent_type') ?? '')) return []
  return [{ mayChange: () => true, removes: () => false }]
}

function toolTouches(by: Answered, named: NamedKinds): readonly FileTouch[] {
  const event = fileEventOf(by, named)
  if (event?.type === 'changed') return event.paths.map((path) => ({ type: 'changed', path, by }))
  if (!event) return []
  const { path, from, to } = event.read
  return [{ type: 'read', path, lines: [from, to], by }]
}

function shellTouches(by: Answered): readonly FileTouch[] {
  return filesInScript(commandOf(by.call.input)).map(({ path, whole = path, act, seen }) =>
    act === 'read'
      ? { type: 'read', path: whole, lines: seen ?? [1, Number.POSITIVE_INFINITY], by }
      : { type: 'changed', path: whole, by },
  )
}

/** Attachments about one file. A person's own edit is announced this way as well. */
const fileKinds = new Set(['file', 'already_read_file', 'compact_file_reference', 'edited_text_file', 'files'])

function attachedIn({ attachment: kind, content, origin }: ViewMessage, record: JsonObject | undefined): FileTouch[] {
  if (origin !== 'attachment' || kind === undefined || !fileKinds.has(kind)) return []
  const attachment = objectAt(record, 'attachment') ?? parsed(content)
  const path = stringAt(attachment, 'filename')
  return attachment === undefined || path === undefined ? [] : [{ type: 'attached', path, kind, attachment }]
}

/** Without its record, an attachment is the JSON that stands in the message. */
function parsed(content: ViewMessage['content']): JsonObject | undefined {
  if (typeof content !== 'string' || !content.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(content)
    return isObject(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}
