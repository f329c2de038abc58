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
  return fileEvents(messages).flatMap((event) => (event.type === 'read' ? [event.read] : []))
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

/**
 * Reads whose every line stands further down again, and whole reads of files that were changed since. A result that is
 * no longer there, or only says that nothing changed, does not bring anything again.
 */
export function staleReads(messages: readonly Message[], isGone: (read: FileRead) => boolean): readonly StaleRead[] {
  const stale: StaleRead[] = []
  const later = new Map<string, FileRead[]>()
  const changed = new Set<string>()
  for (const event of fileEvents(messages).toReversed()) {
    if (event.type === 'changed') {
      for (const path of event.paths) changed.add(path)
      continue
    }
    const { read } = event
    const covering = later.get(read.path) ?? []
    const isAgain = covering.some(({ from, to }) => from <= read.from && to >= read.to)
    const isWhole = read.from === 1 && read.to === Number.POSITIVE_INFINITY
    if (isAgain) stale.push({ ...read, why: 'read-again' })
    else if (isWhole && changed.has(read.path)) stale.push({ ...read, why: 'changed-since' })
    if (!isAgain && !isGone(read) && !isPointer(read)) later.set(read.path, [...covering, read])
  }
  return stale.reverse()
}

/** Some clients answer a second read of an unchanged file with a pointer to the first. */
function isPointer({ result }: FileRead): boolean {
  const text = textOf([result])
  return text.length < 500 && /\bunchanged since\b/i.test(text)
}

type FileEvent =
  | { readonly type: 'read'; readonly read: FileRead }
  | { readonly type: 'changed'; readonly paths: readonly string[] }

function fileEvents(messages: readonly Message[]): readonly FileEvent[] {
  const requests = new Map<string, ToolUseBlock>()
  const events: FileEvent[] = []
  for (const { content } of messages) {
    if (typeof content === 'string') continue
    for (const block of blocksOf(content)) {
      if (isToolUse(block)) requests.set(block.id, block)
      if (!isToolResult(block) || block.is_error === true) continue
      const request = requests.get(block.tool_use_id)
      const read = request && readOf(request)
      const paths = request ? pathsChanged(request) : []
      if (read) events.push({ type: 'read', read: { ...read, toolUseId: block.tool_use_id, result: block } })
      else if (paths.length > 0) events.push({ type: 'changed', paths })
    }
  }
  return events
}

function readOf(request: ToolUseBlock): Pick<FileRead, 'path' | 'from' | 'to'> | undefined {
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
