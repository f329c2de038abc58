// Finds the file reads in a conversation, in the spellings of well-known agents, and which of them a later read of the
// same lines has made redundant. It looks at tool requests only; it never reads files.
import { type Block, blocksOf, isToolResult, isToolUse, type ToolUseBlock } from '../message/block.ts'
import { arrayAt, numberAt, stringAt } from '../message/json.ts'
import type { Message } from '../message/message.ts'

export type FileRead = {
  readonly path: string
  /** First and last line, both included; the last is Infinity when the read goes to the end. */
  readonly from: number
  readonly to: number
  readonly toolUseId: string
  /** The result as it stands in the conversation. */
  readonly result: Block
}

const readTools = ['read', 'readfile', 'readtextfile', 'view', 'viewfile', 'openfile', 'fsread', 'cat']
/** Tools that read only when their `command` says so. */
const editorTools = ['strreplacebasededittool', 'strreplaceeditor', 'editor']
const pathKeys = [
  'file_path',
  'path',
  'filename',
  'filePath',
  'file',
  'target_file',
  'absolute_path',
  'relative_path',
  'notebook_path',
]
const firstKeys = ['offset', 'start_line', 'startLine', 'line_start', 'start_line_one_indexed']
const lastKeys = ['end_line', 'endLine', 'line_end', 'end_line_one_indexed_inclusive']

/** Every read that has a result without error, in order. */
export function fileReads(messages: readonly Message[]): readonly FileRead[] {
  const requests = new Map<string, ToolUseBlock>()
  const reads: FileRead[] = []
  for (const block of messages.flatMap((message) => blocksOf(message.content))) {
    if (isToolUse(block)) requests.set(block.id, block)
    if (!isToolResult(block) || block.is_error === true) continue
    const request = requests.get(block.tool_use_id)
    const read = request && readOf(request)
    if (read) reads.push({ ...read, toolUseId: block.tool_use_id, result: block })
  }
  return reads
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

/** The file or folder that a tool request names, as it is spelled there. */
export function pathIn(input: unknown): string | undefined {
  return firstString(input, pathKeys)
}

function readOf({ name, input }: ToolUseBlock): Pick<FileRead, 'path' | 'from' | 'to'> | undefined {
  const plain = (name.split('__').at(-1) ?? name).toLowerCase().replace(/[^a-z]/g, '')
  const command = stringAt(input, 'command')
  const isRead = readTools.includes(plain) || (editorTools.includes(plain) && command === 'view')
  const path = pathIn(input)
  if (!isRead || path === undefined || (command !== undefined && command !== 'view' && command !== 'read'))
    return undefined
  return { path: path.replace(/^(\.\/)+/, ''), ...linesOf(input) }
}

function linesOf(input: unknown): Pick<FileRead, 'from' | 'to'> {
  const [first, last] = arrayAt(input, 'view_range').filter((line) => typeof line === 'number')
  // Counted from 0 in some tools, from 1 in others: both 0 and 1 are the beginning.
  const from = Math.max(1, first ?? firstNumber(input, firstKeys) ?? 1)
  const limit = numberAt(input, 'limit')
  const to = last ?? firstNumber(input, lastKeys) ?? (limit === undefined ? undefined : from + limit - 1)
  return { from, to: to === undefined || to < 0 ? Number.POSITIVE_INFINITY : to }
}

function firstString(input: unknown, keys: readonly string[]): string | undefined {
  return keys.map((key) => stringAt(input, key)).find((value) => value !== undefined && value !== '')
}

function firstNumber(input: unknown, keys: readonly string[]): number | undefined {
  return keys.map((key) => numberAt(input, key)).find((value) => value !== undefined)
}
