// Finds the file reads in a conversation, in the spellings of well-known agents, and which of them a later read of the
// same lines brings again. It looks at tool requests and results; it never reads files.
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock, type ToolUseBlock, textOf } from '../message/block.ts'
import { arrayAt, numberAt, stringAt } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import { type NamedKinds, pathOf, pathsChanged, toolKind } from './tool-kinds.ts'

export type FileRead = {
  readonly path: string
  /** First and last line, both included; the last is Infinity when the read goes to the end. */
  readonly from: number
  readonly to: number
  readonly toolUseId: string
  /** The result as it stands in the conversation. */
  readonly result: ToolResultBlock
}

const firstKeys = ['offset', 'start_line', 'startLine', 'line_start', 'start_line_one_indexed']
const lastKeys = ['end_line', 'endLine', 'line_end', 'end_line_one_indexed_inclusive']

/** Every read that has a result without error, in order. */
export function fileReads(messages: readonly Message[]): readonly FileRead[] {
  return answeredCalls(messages).flatMap((call) => {
    const event = fileEventOf(call)
    return event?.type === 'read' ? [event.read] : []
  })
}

/** The reads whose every line a later read of the same file brings again. A pointer to an older read brings no line. */
export function duplicateReads(messages: readonly Message[]): readonly FileRead[] {
  const later = new Map<string, Covered>()
  const duplicates: FileRead[] = []
  const reads = fileReads(messages).filter(({ result }) => !isPointer(result))
  for (const read of reads.toReversed()) {
    const covered = later.get(read.path) ?? createCovered()
    later.set(read.path, covered)
    if (covered.holds(read)) duplicates.push(read)
    else covered.add(read)
  }
  return duplicates.reverse()
}

/** Some clients answer a second read of an unchanged file with a pointer to the first. */
export function isPointer(result: ToolResultBlock): boolean {
  if (typeof result.content === 'string' && result.content.length >= 500) return false
  const text = textOf([result])
  return text.length < 500 && /\bunchanged since\b/i.test(text)
}

/** A call with what it brought. */
export type AnsweredCall = { readonly call: ToolUseBlock; readonly result: ToolResultBlock }

type Range = Pick<FileRead, 'from' | 'to'>
type Covered = { readonly holds: (range: Range) => boolean; readonly add: (range: Range) => void }

/**
 * The lines that some single read brings. Of reads within another only the other is kept, so first and last lines rise
 * together and one look is enough: the same file may be read thousands of times.
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

export type FileEvent =
  | { readonly type: 'read'; readonly read: FileRead }
  | { readonly type: 'changed'; readonly paths: readonly string[] }

/** What a call did to files; undefined when it did nothing, or failed. */
export function fileEventOf({ call, result }: AnsweredCall, named?: NamedKinds): FileEvent | undefined {
  const kind = result.is_error === true ? undefined : toolKind(call, named)
  if (kind !== 'read' && kind !== 'edit' && kind !== 'write') return undefined
  const read = readOf(call, named)
  if (read) return { type: 'read', read: { ...reached(read, result), toolUseId: result.tool_use_id, result } }
  const paths = pathsChanged(call, named)
  return paths.length > 0 ? { type: 'changed', paths } : undefined
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

/** What a call asks to read; undefined when it reads no file. */
export function readOf(request: ToolUseBlock, named?: NamedKinds): Pick<FileRead, 'path' | 'from' | 'to'> | undefined {
  const command = stringAt(request.input, 'command')
  const path = pathOf(request.input)
  if (toolKind(request, named) !== 'read' || path === undefined) return undefined
  if (command !== undefined && command !== 'view' && command !== 'read') return undefined
  return { path, ...linesOf(request.input) }
}

/** Clients end the read of a whole file here. */
const mostLines = 2_000

/** A read that was asked to go to the end and was cut short brings what it brought, and nothing behind that again. */
function reached<R extends Pick<FileRead, 'from' | 'to'>>(read: R, result: ToolResultBlock): R {
  if (read.to !== Number.POSITIVE_INFINITY) return read
  const text = typeof result.content === 'string' ? result.content : textOf(result.content)
  if (text.length < mostLines) return read
  const isCut = /\btruncated\b/i.test(text.slice(-300))
  const lines = linesIn(text)
  return lines >= mostLines || isCut ? { ...read, to: read.from + lines - 1 } : read
}

function linesIn(text: string): number {
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

function linesOf(input: unknown): Pick<FileRead, 'from' | 'to'> {
  const [first, last] = arrayAt(input, 'view_range').filter((line) => typeof line === 'number')
  // Counted from 0 in some tools, from 1 in others: both 0 and 1 are the beginning.
  const from = Math.max(1, first ?? firstNumber(input, firstKeys) ?? 1)
  const limit = numberAt(input, 'limit')
  const to = last ?? firstNumber(input, lastKeys) ?? (limit === undefined ? undefined : from + limit - 1)
  return { from, to: to === undefined || to < 0 ? Number.POSITIVE_INFINITY : to }
}

function firstNumber(input: unknown, keys: readonly string[]): number | undefined {
  return keys.map((key) => numberAt(input, key)).find((value) => value !== undefined)
}
