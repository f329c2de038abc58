// Reads the index row of a line (ids, type, usage) from its head and tail without decoding the rest. Knows the key orders of
// Claude Code and accepts a line only if it is whole and contains no second record. For any other line it returns false, the row
// is invalid, and the exact reader must read the line.
import type { EntryType } from '../../core/transcript/tree/graph.ts'
import { type Chunk, chunkOf, endsWith, type Known, known, pattern, readContextTokens } from './pattern.ts'
import { idLength, readId } from './uuids.ts'

export type Row = {
  type: EntryType
  sidechain: boolean
  /** `last` is the entry read before this one; `named` has its id in `parent`. */
  parentIs: 'none' | 'last' | 'named'
  readonly uuid: Uint32Array
  readonly parent: Uint32Array
  contextTokens: number
}

export function emptyRow(): Row {
  const ids = { uuid: new Uint32Array(4), parent: new Uint32Array(4) }
  return { type: '', sidechain: false, parentIs: 'none', ...ids, contextTokens: 0 }
}

export type RowReader = (buffer: Buffer, start: number, end: number, row: Row) => boolean

const headLength = 640
const tailLength = 640
const timestampLength = 24
const openBrace = 0x7b
const closeBrace = 0x7d
const rootStart = pattern('{"parentUuid":null,"isSidechain":')
const childStart = pattern('{"parentUuid":"')
const sidechainAfter = pattern('","isSidechain":')
const sideStart = pattern('{"type":"')
const userBefore = pattern('"type":"user","message":')
const progressBefore = pattern('"type":"progress","data":')
const assistantBefore = pattern('"type":"assistant",')
const attachmentBefore = pattern('"type":"attachment",')
const uuidKey = pattern('"uuid":"')
const uuidAfterMessageBytes = Buffer.from('},"uuid":"')
const uuidAfterMessage = pattern('},"uuid":"')
const timestampAfter = pattern('","timestamp":"')
const timestampBefore = pattern('"timestamp":"')
const resultAfter = pattern('","toolUseResult":')
const callKey = pattern('"sourceToolAssistantUUID":"')
/** From the uuid's key to the end of the timestamp. */
const stampLength = uuidKey.length + idLength + timestampAfter.length + timestampLength

/** `U`: rare in text, and in the keys `parentUuid` and `toolUseResult`. */
const rareLetter = 0x55
/** `Uuid":` */
const recordKey = [0x64697555, 0x3a22] as const
const resultToLetter = '","tool'.length

/** Most lines of a session end in the same fields (folder, session, version …). A remembered ending is known to be complete. */
type Memory = {
  /** From the timestamp on. */
  readonly endings: Known[]
  /** From the user type on. */
  readonly closings: Known[]
  /** The bytes of the uuid read last. */
  readonly last: Uint32Array
}

type Line = Chunk & { readonly start: number; readonly end: number; readonly memory: Memory }

export function createRowReader(): RowReader {
  const memory: Memory = { endings: [], closings: [], last: new Uint32Array(idLength / 4) }
  const line = { ...chunkOf(Buffer.alloc(0)), start: 0, end: 0, memory }
  return (buffer, start, end, row) => {
    if (line.buffer !== buffer) Object.assign(line, chunkOf(buffer))
    line.start = start
    line.end = end
    row.contextTokens = 0
    if (buffer[end - 1] !== closeBrace) return false
    if (sideStart.isAt(line, start)) return readSideRow(line, row)
    const at = readParent(line, row)
    const key = at < 0 ? -1 : readTreeRow(line, at, row)
    return key >= 0 && readUuid(line, key + uuidKey.length, row)
  }
}

/** Reads the parent and the sidechain flag; returns the offset after them, or -1. */
function readParent(line: Line, row: Row): number {
  const { buffer, start } = line
  let at = start + rootStart.length
  if (childStart.isAt(line, start)) {
    const id = start + childStart.length
    if (!sidechainAfter.isAt(line, id + idLength)) return -1
    at = id + idLength + sidechainAfter.length
    // Usually the previous entry, so nothing to decode or look up.
    row.parentIs = isLast(line, id) ? 'last' : 'named'
    if (row.parentIs === 'named' && !readId(line.view, id, row.parent)) return -1
  } else {
    row.parentIs = 'none'
    if (!rootStart.isAt(line, start)) return -1
  }
  row.sidechain = buffer[at] === 0x74
  return at
}

function readUuid({ view, end, memory }: Line, id: number, row: Row): boolean {
  if (id + idLength > end || !readId(view, id, row.uuid)) return false
  const { last } = memory
  for (let i = 0; i < last.length; i++) last[i] = view.getUint32(id + i * 4, true)
  return true
}

function isLast({ view, memory }: Line, id: number): boolean {
  const { last } = memory
  for (let i = 0; i < last.length; i++) if (view.getUint32(id + i * 4, true) !== last[i]) return false
  return true
}

/** Sets the type; returns the offset of the uuid's key, or -1. */
function readTreeRow(line: Line, at: number, row: Row): number {
  const { buffer, end, memory } = line
  const result = findResult(line, at)
  if (result === mayBeginAgain) return -1
  for (const ending of memory.endings) {
    const key = end - ending.length - stampLength
    if (key <= at || !endsWith(line, end, ending) || !uuidKey.isAt(line, key)) continue
    if (readStamped(line, key, row)) return key
  }
  const open = buffer.indexOf(openBrace, at)
  if (open >= 0 && open < end) {
    if (userBefore.isAt(line, open - userBefore.length)) return readUser(line, result < 0 ? open : result, row)
    if (progressBefore.isAt(line, open - progressBefore.length)) return readProgress(line, open, row)
  }
  return readUnknown(line, at, row)
}

const noResult = -1
const mayBeginAgain = -2

/**
 * The end of the message before `toolUseResult`, noResult, or mayBeginAgain if a second record may begin on the line. Text inside
 * a string cannot look like a key, because its quotes are escaped.
 */
function findResult(line: Line, at: number): number {
  const { buffer, end } = line
  let found = noResult
  for (let place = buffer.indexOf(rareLetter, at); place >= 0 && place < end; ) {
    if (isRecordKey(line, place)) return mayBeginAgain
    if (found < 0 && resultAfter.isAt(line, place - resultToLetter)) {
      const message = place - resultToLetter - stampLength - 2
      if (uuidAfterMessage.isAt(line, message)) found = message
    }
    place = buffer.indexOf(rareLetter, place + 1)
  }
  return found
}

function isRecordKey({ view, size }: Line, at: number): boolean {
  return at + 6 <= size && view.getInt32(at, true) === recordKey[0] && view.getUint16(at + 4, true) === recordKey[1]
}

/** The first uuid after the message is the record's own; a raw tool result after it may contain others. */
function readUser(line: Line, at: number, row: Row): number {
  const { buffer, end } = line
  const found = uuidAfterMessage.isAt(line, at) ? at : buffer.indexOf(uuidAfterMessageBytes, at)
  const key = found + 2
  if (found < 0 || key + stampLength >= end) return -1
  if (!timestampAfter.isAt(line, key + uuidKey.length + idLength)) return -1
  row.type = 'user'
  return isClosed(line, key) ? key : -1
}

/** True if the line ends with its record instead of a cut. */
function isClosed(line: Line, at: number): boolean {
  const { end, memory } = line
  if (at + stampLength + 2 === end) return true
  if (callKey.isAt(line, end - 2 - idLength - callKey.length)) return true
  for (const closing of memory.closings) if (endsWith(line, end, closing)) return true
  const tailStart = Math.max(at, end - tailLength)
  const tail = latin1(line, tailStart, end)
  const key = Math.max(tail.lastIndexOf(',"userType":"'), tail.lastIndexOf(',"permissionMode":"'))
  // A side entry written after a cut record ends the same way.
  if (!isPlainFrom(tail, key) || tail.endsWith('"type":"permission-mode"', key)) return false
  remember(memory.closings, line, tailStart + key)
  return true
}

/** True if from there on only the end of the record closes anything and nothing opens. */
function isPlainFrom(tail: string, from: number): boolean {
  return from >= 0 && tail.indexOf('}', from) === tail.length - 1 && tail.indexOf('{', from) < 0
}

/** The line ends in `"timestamp":"…","uuid":"…"}` or `"uuid":"…","timestamp":"…"}`. */
function readProgress(line: Line, at: number, row: Row): number {
  const { end } = line
  row.type = 'progress'
  const last = end - 2 - idLength - uuidKey.length
  const before = last - 2 - timestampLength - timestampBefore.length
  const key = before > at && timestampBefore.isAt(line, before) ? last : end - 2 - stampLength
  return key > at && uuidKey.isAt(line, key) ? key : -1
}

function readStamped(line: Line, key: number, row: Row): boolean {
  if (!timestampAfter.isAt(line, key + uuidKey.length + idLength)) return false
  const isAnswer = assistantBefore.isAt(line, key - assistantBefore.length)
  if (!isAnswer && !attachmentBefore.isAt(line, key - attachmentBefore.length)) return false
  row.type = isAnswer ? 'assistant' : 'attachment'
  if (isAnswer) row.contextTokens = readContextTokens(line, key)
  return !isAnswer || row.contextTokens > 0
}

function readUnknown(line: Line, at: number, row: Row): number {
  const { end, memory } = line
  const tailStart = Math.max(at, end - tailLength)
  const tail = latin1(line, tailStart, end)
  const found = tail.lastIndexOf('"uuid":"')
  // The last uuid is the record's own if only plain values follow.
  if (!isPlainFrom(tail, found)) return -1
  const key = tailStart + found
  if (timestampAfter.isAt(line, key + uuidKey.length + idLength)) {
    remember(memory.endings, line, key + stampLength)
    if (readStamped(line, key, row)) return key
  }
  const head = latin1(line, at, Math.min(end, at + headLength))
  const type = typeInHead(head)
  if (!isPlain(type, head)) return -1
  row.type = type
  return key
}

function remember(endings: Known[], { buffer, end }: Line, from: number): void {
  endings.unshift(known(buffer.subarray(from, end)))
  if (endings.length > 4) endings.pop()
}

/** Boundaries are rare, so the exact reader reads them. */
function isPlain(type: string, head: string): type is 'system' | 'user' | 'progress' | 'attachment' {
  if (type === 'system') return head.includes('"subtype":"') && !head.includes('compact_boundary')
  return type === 'user' || type === 'progress' || type === 'attachment'
}

/** The first type in the head is the record's own if nothing opens before it. */
function typeInHead(head: string): string {
  const key = head.indexOf('"type":"')
  const open = head.indexOf('{')
  if (key < 0 || (open >= 0 && open < key)) return ''
  return head.slice(key + 8, head.indexOf('"', key + 8))
}

function readSideRow(line: Line, row: Row): boolean {
  row.type = ''
  row.sidechain = false
  row.parentIs = 'none'
  const text = latin1(line, line.start + 1, line.end)
  return !text.includes('"uuid":"') && !text.includes('{"type":')
}

function latin1({ buffer }: Line, start: number, end: number): string {
  return buffer.toString('latin1', start, end)
}
