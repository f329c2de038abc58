// Reads of files in a conversation, and which are stale: read again later, or the file was changed since.
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock, textOf } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import { changedBy, type ToolCall, toolCall } from '../tools/call.ts'

export type AnsweredCall = { readonly call: ToolCall; readonly result: ToolResultBlock }

export type FileRead = {
  readonly path: string
  /** Both included; `to` is Infinity if the read goes to the end. */
  readonly from: number
  readonly to: number
  readonly toolUseId: string
  readonly result: ToolResultBlock
}

export function readBy(call: ToolCall, result: ToolResultBlock): FileRead | undefined {
  if (call.type !== 'read' || call.path === undefined) return undefined
  const [from, to] = call.lines
  return reached({ path: call.path, from, to, toolUseId: result.tool_use_id, result })
}

/** Clients end the read of a whole file here. */
const maxLines = 2_000

/** A read to the end that was cut short shows no line after the cut. */
function reached(read: FileRead): FileRead {
  if (read.to !== Number.POSITIVE_INFINITY) return read
  const text = textOf([read.result])
  if (text.length < maxLines) return read
  const isCut = /\btruncated\b/i.test(text.slice(-300))
  const lines = text.split('\n').length
  return lines >= maxLines || isCut ? { ...read, to: read.from + lines - 1 } : read
}

/** Some clients answer a second read of an unchanged file with a pointer to the first. */
export function isPointer(result: ToolResultBlock): boolean {
  if (typeof result.content === 'string' && result.content.length >= 500) return false
  const text = textOf([result])
  return text.length < 500 && /\bunchanged since\b/i.test(text)
}

/** The reads whose every line a later read of the same file shows again, in order. A pointer shows no line. */
export function duplicateReads(messages: readonly Message[]): readonly FileRead[] {
  const calls = new Map<string, ToolCall>()
  const answered: AnsweredCall[] = []
  for (const block of messages.flatMap(({ content }) => blocksOf(content))) {
    if (isToolUse(block)) calls.set(block.id, toolCall(block))
    const call = isToolResult(block) ? calls.get(block.tool_use_id) : undefined
    if (call && isToolResult(block) && !isPointer(block)) answered.push({ call, result: block })
  }
  const stale = staleReads(answered, () => false)
  return answered
    .filter(({ result }) => stale.get(result.tool_use_id) === 'read-again')
    .flatMap(({ call, result }) => readBy(call, result) ?? [])
}

export type WhyStale = 'read-again' | 'changed-since'

/** By tool use id. A result for which `isGone` holds, or that points to an older one, shows no line again. */
export function staleReads<Call extends AnsweredCall>(
  calls: readonly Call[],
  isGone: (call: Call) => boolean,
): ReadonlyMap<string, WhyStale> {
  const stale = new Map<string, WhyStale>()
  const later = new Map<string, FileRead[]>()
  const changed = new Set<string>()
  for (const answered of calls.toReversed()) {
    const { call, result } = answered
    if (result.is_error === true) continue
    for (const path of changedBy(call)) changed.add(path)
    const read = readBy(call, result)
    if (!read) continue
    const shown = later.get(read.path) ?? []
    later.set(read.path, shown)
    const isShown = shown.some(({ from, to }) => from <= read.from && to >= read.to)
    const isChanged = changed.has(read.path) && read.from === 1 && read.to === Number.POSITIVE_INFINITY
    const why = isShown ? 'read-again' : isChanged ? 'changed-since' : undefined
    // Of several reads with one id the newest that is stale counts.
    if (why !== undefined && !stale.has(read.toolUseId)) stale.set(read.toolUseId, why)
    if (!isShown && !isGone(answered) && !isPointer(result)) shown.push(read)
  }
  return stale
}
