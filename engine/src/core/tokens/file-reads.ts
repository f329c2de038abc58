// Reads of files in a conversation, and those whose lines a later read shows again. It looks at tool calls and their
// results; it never reads files.
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock, type ToolUseBlock, textOf } from '../message/block.ts'
import type { Message } from '../message/message.ts'
import { changedBy, type ToolCall, toolCall } from '../tools/call.ts'

/** A call with its result. */
export type AnsweredCall = { readonly call: ToolUseBlock; readonly result: ToolResultBlock }

export type FileRead = {
  readonly path: string
  /** First and last line, both included; the last is Infinity when the read goes to the end. */
  readonly from: number
  readonly to: number
  readonly toolUseId: string
  /** The result as it stands in the conversation. */
  readonly result: ToolResultBlock
}

export type FileEvent =
  | { readonly type: 'read'; readonly read: FileRead }
  | { readonly type: 'changed'; readonly paths: readonly string[] }

/** What a call did to files; undefined when it did nothing, or failed. */
export function fileEventOf({ call, result }: AnsweredCall): FileEvent | undefined {
  if (result.is_error === true) return undefined
  const made = toolCall(call)
  const read = readBy(made, result)
  if (read) return { type: 'read', read }
  const paths = changedBy(made)
  return paths.length > 0 ? { type: 'changed', paths } : undefined
}

/** Which lines of a file a call showed. */
export function readBy(call: ToolCall, result: ToolResultBlock): FileRead | undefined {
  if (call.type !== 'read' || call.path === undefined) return undefined
  const [from, to] = call.lines
  return reached({ path: call.path, from, to, toolUseId: result.tool_use_id, result })
}

/** Clients end the read of a whole file here. */
const mostLines = 2_000

/** A read to the end that was cut short shows no line behind the cut. */
function reached(read: FileRead): FileRead {
  if (read.to !== Number.POSITIVE_INFINITY) return read
  const text = textOf([read.result])
  if (text.length < mostLines) return read
  const isCut = /\btruncated\b/i.test(text.slice(-300))
  const lines = linesIn(text)
  return lines >= mostLines || isCut ? { ...read, to: read.from + lines - 1 } : read
}

/** Some clients answer a second read of an unchanged file with a pointer to the first. */
export function isPointer(result: ToolResultBlock): boolean {
  if (typeof result.content === 'string' && result.content.length >= 500) return false
  const text = textOf([result])
  return text.length < 500 && /\bunchanged since\b/i.test(text)
}

/** The reads whose every line a later read of the same file shows again, in order. A pointer shows no line. */
export function duplicateReads(messages: readonly Message[]): readonly FileRead[] {
  const later = new Map<string, Covered>()
  const duplicates: FileRead[] = []
  for (const call of answeredCalls(messages).toReversed()) {
    const event = fileEventOf(call)
    if (event?.type !== 'read' || isPointer(call.result)) continue
    const { read } = event
    const covered = later.get(read.path) ?? createCovered()
    later.set(read.path, covered)
    if (covered.holds(read)) duplicates.push(read)
    else covered.add(read)
  }
  return duplicates.reverse()
}

type Range = Pick<FileRead, 'from' | 'to'>
type Covered = { readonly holds: (range: Range) => boolean; readonly add: (range: Range) => void }

/**
 * Whether a single read shows all of a range. A read inside another is dropped, so first and last lines rise together and
 * one look-up is enough: the same file may be read thousands of times.
 */
export function createCovered(): Covered {
  const rising: Range[] = []
  /** How many begin at this line or before it. */
  const upTo = (line: number): number => {
    let low = 0
    let high = rising.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((rising[middle]?.from ?? 0) <= line) low = middle + 1
      else high = middle
    }
    return low
  }
  return {
    holds: ({ from, to }) => (rising[upTo(from) - 1]?.to ?? -1) >= to,
    add: (range) => {
      let first = upTo(range.from)
      while (first > 0 && rising[first - 1]?.from === range.from) first--
      let end = first
      while (end < rising.length && (rising[end]?.to ?? 0) <= range.to) end++
      rising.splice(first, end - first, range)
    },
  }
}

function answeredCalls(messages: readonly Message[]): readonly AnsweredCall[] {
  const calls = new Map<string, ToolUseBlock>()
  const found: AnsweredCall[] = []
  for (const block of messages.flatMap(({ content }) => blocksOf(content))) {
    if (isToolUse(block)) calls.set(block.id, block)
    const call = isToolResult(block) ? calls.get(block.tool_use_id) : undefined
    if (call && isToolResult(block)) found.push({ call, result: block })
  }
  return found
}

function linesIn(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
