// Finds the file reads in a conversation, in the spellings of well-known agents, and which of them a later read of the
// same lines, or a change, has made worthless. It looks at tool requests and results; it never reads files.
import { blocksOf, isToolResult, isToolUse, type ToolResultBlock, type ToolUseBlock, textOf } from '../message/block.ts'
import { arrayAt, numberAt, stringAt } from '../message/json.ts'
import type { Message } from '../message/message.ts'
import { pathOf, pathsChanged, toolKind } from './tool-kinds.ts'

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

/** The reads whose every line a later read of the same file brings again. */
export function duplicateReads(messages: readonly Message[]): readonly FileRead[] {
  const covering = new Map<string, FileRead[]>()
  const duplicates: FileRead[] = []
  for (const read of fileReads(messages).toReversed()) {
    const later = covering.get(read.path) ?? []
    if (later.some(({ from, to }) => from <= read.from && to >= read.to)) duplicates.unshift(read)
    else covering.set(read.path, [...later, read])
  }
  return duplicates
}

/** Why a read is worth nothing any more. */
export type StaleRead = FileRead & { readonly why: 'read-again' | 'changed-since' }

/** A call with what it brought. */
export type AnsweredCall = { readonly call: ToolUseBlock; readonly result: ToolResultBlock }

/**
 * Reads whose every line stands further down again, and whole reads of files that were changed since. A result that is
 * no longer there, or only says that nothing changed, does not bring anything again. In the order given.
 */
export function staleReads<C extends AnsweredCall>(
  calls: readonly C[],
  how: { readonly isGone: (call: C) => boolean; readonly eventOf?: (call: C) => FileEvent | undefined },
): readonly StaleRead[] {
  const { isGone, eventOf = fileEventOf } = how
  const stale: StaleRead[] = []
  const later = new Map<string, FileRead[]>()
  const changed = new Set<string>()
  for (const call of calls.toReversed()) {
    const event = eventOf(call)
    if (event?.type === 'changed') for (const path of event.paths) changed.add(path)
    if (event?.type !== 'read') continue
    const { read } = event
    const covering = later.get(read.path) ?? []
    const isAgain = covering.some(({ from, to }) => from <= read.from && to >= read.to)
    const isWhole = read.from === 1 && read.to === Number.POSITIVE_INFINITY
    if (isAgain) stale.push({ ...read, why: 'read-again' })
    else if (isWhole && changed.has(read.path)) stale.push({ ...read, why: 'changed-since' })
    if (!isAgain && !isGone(call) && !isPointer(read)) later.set(read.path, [...covering, read])
  }
  return stale.reverse()
}

/** Some clients answer a second read of an unchanged file with a pointer to the first. */
export function isPointer({ result }: FileRead): boolean {
  const text = textOf([result])
  return text.length < 500 && /\bunchanged since\b/i.test(text)
}

export type FileEvent =
  | { readonly type: 'read'; readonly read: FileRead }
  | { readonly type: 'changed'; readonly paths: readonly string[] }

/** What a call did to files; undefined when it did nothing, or failed. */
export function fileEventOf({ call, result }: AnsweredCall): FileEvent | undefined {
  if (result.is_error === true) return undefined
  const read = readOf(call)
  if (read) return { type: 'read', read: { ...read, toolUseId: result.tool_use_id, result } }
  const paths = pathsChanged(call)
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
export function readOf(request: ToolUseBlock): Pick<FileRead, 'path' | 'from' | 'to'> | undefined {
  const command = stringAt(request.input, 'command')
  const path = pathOf(request.input)
  if (toolKind(request) !== 'read' || path === undefined) return undefined
  if (command !== undefined && command !== 'view' && command !== 'read') return undefined
  return { path, ...linesOf(request.input) }
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
