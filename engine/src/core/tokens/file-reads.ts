// Reads of files in a conversation, and which of them are stale: a later read shows the same lines, or the file was
// changed since. It looks at tool calls and their results; it never reads files.
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
  const lines = text.split('\n').length
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
  const stale = createStaleReads()
  const reads = answeredCalls(messages).flatMap((call) => {
    stale.take(call, { gone: false })
    const event = fileEventOf(call)
    if (event?.type !== 'read' || isPointer(call.result)) return []
    return [{ read: event.read, followed: stale.readsOf(event.read.toolUseId).at(-1) }]
  })
  return reads.filter(({ followed }) => followed?.why === 'read-again').map(({ read }) => read)
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

export type WhyStale = 'read-again' | 'changed-since'

export type StaleReads = {
  /**
   * Takes in the next call, and returns how to take it back. A result that is gone, or is only a pointer, shows nothing
   * again.
   */
  readonly take: (call: AnsweredCall, is: { readonly gone: boolean }) => (() => void) | undefined
  /** The reads with this id, oldest first. They are updated while more calls are taken in. */
  readonly readsOf: (toolUseId: string) => readonly FollowedRead[]
}

export type FollowedRead = { readonly why: WhyStale | undefined }
type Read = { readonly from: number; readonly to: number; why: WhyStale | undefined }

/** Why the newest stale one is stale. */
export function whyStale(reads: readonly FollowedRead[]): WhyStale | undefined {
  for (let at = reads.length - 1; at >= 0; at--) if (reads[at]?.why !== undefined) return reads[at]?.why
  return undefined
}

const noReads: readonly FollowedRead[] = []

export function createStaleReads(): StaleReads {
  const byId = new Map<string, Read[]>()
  /** By path: the reads that no later one shows again. */
  const alone = new Map<string, Set<Read>>()
  const readsOf = (path: string): Set<Read> => {
    const known = alone.get(path) ?? new Set()
    alone.set(path, known)
    return known
  }
  const takeRead = (path: string, read: Read, covers: boolean) => {
    const reads = readsOf(path)
    const covered = covers ? [...reads].filter(({ from, to }) => from >= read.from && to <= read.to) : []
    const before = covered.map(({ why }) => why)
    for (const other of covered) {
      other.why = 'read-again'
      reads.delete(other)
    }
    reads.add(read)
    return () => {
      reads.delete(read)
      for (const [at, other] of covered.entries()) {
        other.why = before[at]
        reads.add(other)
      }
    }
  }
  const takeChange = (paths: readonly string[]) => {
    const changed = paths.flatMap((path) => [...(alone.get(path) ?? [])]).filter((read) => isWhole(read) && !read.why)
    for (const read of changed) read.why = 'changed-since'
    return () => {
      for (const read of changed) read.why = undefined
    }
  }
  return {
    take: (call, is) => {
      const event = fileEventOf(call)
      if (!event) return undefined
      if (event.type === 'changed') return takeChange(event.paths)
      const { path, from, to, toolUseId, result } = event.read
      const read: Read = { from, to, why: undefined }
      const undo = takeRead(path, read, !is.gone && !isPointer(result))
      const same = byId.get(toolUseId)
      if (same) same.push(read)
      else byId.set(toolUseId, [read])
      return () => {
        undo()
        byId.get(toolUseId)?.pop()
      }
    },
    readsOf: (toolUseId) => byId.get(toolUseId) ?? noReads,
  }
}

function isWhole({ from, to }: Read): boolean {
  return from === 1 && to === Number.POSITIVE_INFINITY
}
