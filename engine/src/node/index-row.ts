// Reads the index row of a line (ids, type, usage) from its head and its tail, without decoding what lies between.
// It knows the key orders that Claude Code writes. Whatever looks different in the least is left to the exact reader:
// then it says so by returning false, and nothing it wrote may be used.
import { idLength, readId } from './uuid-table.ts'

export type Row = {
  /** 'user', 'assistant', … as far as the index tells types apart; '' for a side entry. */
  type: string
  sidechain: boolean
  hasParent: boolean
  readonly uuid: Uint32Array
  readonly parent: Uint32Array
  /** Tokens in the context after the answer; 0 where the line has no usage. */
  contextTokens: number
  outputTokens: number
}

export function emptyRow(): Row {
  const ids = { uuid: new Uint32Array(4), parent: new Uint32Array(4) }
  return { type: '', sidechain: false, hasParent: false, ...ids, contextTokens: 0, outputTokens: 0 }
}

const headLength = 640
const tailLength = 640
const usageTailLength = 2600
const rootStart = Buffer.from('{"parentUuid":null,"isSidechain":')
const childStart = Buffer.from('{"parentUuid":"')
const sideStart = Buffer.from('{"type":"')
const uuidKey = Buffer.from('"uuid":"')
const timestampBehind = Buffer.from('","timestamp":"')

/** Fills the row from the line in buffer[start, end); false when the exact reader must see it. */
export function readRow(buffer: Buffer, start: number, end: number, row: Row): boolean {
  row.contextTokens = 0
  row.outputTokens = 0
  if (buffer[end - 1] !== 0x7d) return false
  if (startsWith(buffer, start, sideStart)) return readSideRow(buffer, start, end, row)

  let at = start
  row.hasParent = startsWith(buffer, start, childStart)
  if (row.hasParent) {
    if (!readId(buffer, start + childStart.length, row.parent)) return false
    at = start + childStart.length + idLength
  } else if (!startsWith(buffer, start, rootStart)) return false
  const head = latin1(buffer, at, Math.min(end, at + headLength))
  const flag = head.indexOf('"isSidechain":')
  if (flag < 0 || flag > 24) return false
  row.sidechain = head.startsWith('true', flag + 14)
  return readBody(buffer, end, { start, at, head }, row)
}

type Start = { readonly start: number; readonly at: number; readonly head: string }

function readBody(buffer: Buffer, end: number, from: Start, row: Row): boolean {
  const tailStart = Math.max(from.at, end - tailLength)
  const tail = latin1(buffer, tailStart, end)
  const key = tail.lastIndexOf('"uuid":"')
  // Behind the last uuid of the line only plain values may stand; then it is the record's own.
  if (key >= 0 && tail.indexOf('}', key) === tail.length - 1 && tail.indexOf('{', key) < 0) {
    if (!readId(buffer, tailStart + key + uuidKey.length, row.uuid)) return false
    row.type = typeBefore(tail, key) ?? typeInHead(from.head)
    if (row.type === 'assistant') readUsageRow(buffer, from.at, end, row)
    return isPlain(row.type, from.head)
  }
  // Results of tools come with the raw result behind the uuid: the first uuid behind the message is the record's.
  if (typeInHead(from.head) !== 'user') return false
  const found = buffer.indexOf(uuidKey, from.at)
  if (found < 0 || found >= end || !readId(buffer, found + uuidKey.length, row.uuid)) return false
  row.type = 'user'
  return startsWith(buffer, found + uuidKey.length + idLength, timestampBehind)
}

/** Boundaries are few and say much: the exact reader reads them. */
function isPlain(type: string, head: string): boolean {
  if (type === 'system') return head.includes('"subtype":"') && !head.includes('compact_boundary')
  return type === 'user' || type === 'assistant' || type === 'attachment' || type === 'progress'
}

function readSideRow(buffer: Buffer, start: number, end: number, row: Row): boolean {
  const found = buffer.subarray(start, end).indexOf(uuidKey)
  row.type = ''
  row.sidechain = false
  row.hasParent = false
  return found < 0
}

/** The type that stands right before the uuid. */
function typeBefore(tail: string, key: number): string | undefined {
  if (tail.endsWith('"type":"assistant",', key)) return 'assistant'
  if (tail.endsWith('"type":"attachment",', key)) return 'attachment'
  if (tail.endsWith('"type":"progress",', key)) return 'progress'
  return undefined
}

/** The first type in the head, if nothing was opened before it: then it is the record's own. */
function typeInHead(head: string): string {
  const key = head.indexOf('"type":"')
  const open = head.indexOf('{')
  if (key < 0 || (open >= 0 && open < key)) return ''
  return head.slice(key + 8, head.indexOf('"', key + 8))
}

function readUsageRow(buffer: Buffer, from: number, end: number, row: Row): void {
  const tail = latin1(buffer, Math.max(from, end - usageTailLength), end)
  const at = tail.lastIndexOf('"usage":{')
  if (at < 0) return
  const input = numberAfter(tail, '"input_tokens":', at)
  const written = numberAfter(tail, '"cache_creation_input_tokens":', at)
  const read = numberAfter(tail, '"cache_read_input_tokens":', at)
  row.outputTokens = numberAfter(tail, '"output_tokens":', at)
  row.contextTokens = input + written + read + row.outputTokens
}

function numberAfter(text: string, key: string, from: number): number {
  const at = text.indexOf(key, from)
  if (at < 0) return 0
  let value = 0
  for (let i = at + key.length; ; i++) {
    const digit = text.charCodeAt(i) - 48
    if (!(digit >= 0 && digit <= 9)) return value
    value = value * 10 + digit
  }
}

function latin1(buffer: Buffer, start: number, end: number): string {
  return buffer.toString('latin1', start, end)
}

function startsWith(buffer: Buffer, at: number, bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) if (buffer[at + i] !== bytes[i]) return false
  return true
}
