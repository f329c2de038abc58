// Reads of files in a conversation. A read is stale if the lines were read again later or the file has changed.
import { blocksOf, isToolResult, isToolUse, type Message, type ToolResultBlock, textOf } from '../message/message.ts'
import { changedBy, type ToolCall, toolCall } from '../tools/call.ts'

export type AnsweredCall = { readonly call: ToolCall; readonly result: ToolResultBlock }

export type FileRead = {
  readonly path: string
  /** Both ends are included. `to` is Infinity if the read goes to the end. */
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

/** Clients read at most this many lines of a file at once. */
const maxLines = 2_000

/** Ends a read at its cut if it was cut short. */
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

/** The reads whose lines were all shown again by a later read of the same file, in order. A pointer shows no lines. */
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

/** Stale reads by tool use id. A result shows no lines if `isGone` holds for it or if it points to an older one. */
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
    // If several reads have one id, the newest stale one counts.
    if (why !== undefined && !stale.has(read.toolUseId)) stale.set(read.toolUseId, why)
    if (!isShown && !isGone(answered) && !isPointer(result)) shown.push(read)
  }
  return stale
}
