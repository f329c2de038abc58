// Reads the index row of a line (ids, type, usage) from its head and its tail, without decoding what lies between.
// It knows the key orders that Claude Code writes, and takes a line only if its end shows that it is whole and no
// second record begins in it. Whatever looks different in the least is left to the exact reader: then it says so by
// returning false, and nothing it wrote may be used.
import { idLength, readId } from '../core/transcript/id-table.ts'

export type Row = {
  /** 'user', 'assistant', … as far as the index tells types apart; '' for a side entry. */
  type: string
  sidechain: boolean
  hasParent: boolean
  readonly uuid: Uint32Array
  readonly parent: Uint32Array
  /** Tokens in the context after the answer; 0 where the line has no usage. */
  contextTokens: number
}

export function emptyRow(): Row {
  const ids = { uuid: new Uint32Array(4), parent: new Uint32Array(4) }
  return { type: '', sidechain: false, hasParent: false, ...ids, contextTokens: 0 }
}

/** Fills the row from the line in buffer[start, end); false when the exact reader must see it. */
export type RowReader = (buffer: Buffer, start: number, end: number, row: Row) => boolean

const headLength = 640
const tailLength = 640
const timestampLength = 24
const openBrace = 0x7b
/** The end of the key that begins a record. Its first letter is rare in text, which makes it quick to find. */
const keyEnd = Buffer.from('Uuid":')
const rootStart = pattern('{"parentUuid":null,"isSidechain":')
const childStart = pattern('{"parentUuid":"')
const sidechainBehind = pattern('","isSidechain":')
const sideStart = pattern('{"type":"')
const userBefore = pattern('"type":"user","message":')
const progressBefore = pattern('"type":"progress","data":')
const assistantBefore = pattern('"type":"assistant",')
const attachmentBefore = pattern('"type":"attachment",')
const uuidKey = pattern('"uuid":"')
/** Begins with a byte that is rare in text, which makes it quick to find. */
const uuidBehindMessage = Buffer.from('},"uuid":"')
const timestampBehind = pattern('","timestamp":"')
const timestampBefore = pattern('"timestamp":"')
const callKey = pattern('"sourceToolAssistantUUID":"')
/** From the uuid's key to what stands behind the timestamp. */
const stampLength = uuidKey.length + idLength + timestampBehind.length + timestampLength

/**
 * What stands at the end of a line, from the timestamp or from the user type on (folder, session, version, …), is the
 * same on most lines of a session. The reader remembers such endings: one that matches needs no further look.
 */
type Memory = {
  readonly endings: Buffer[]
  readonly closings: Buffer[]
  /** The bytes of the chunk at hand, also as words. */
  buffer: Buffer
  view: DataView
}

export function createRowReader(): RowReader {
  const nothing = Buffer.alloc(0)
  const memory: Memory = { endings: [], closings: [], buffer: nothing, view: new DataView(nothing.buffer) }
  return (buffer, start, end, row) => {
    if (memory.buffer !== buffer) {
      memory.buffer = buffer
      memory.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
    }
    row.contextTokens = 0
    if (buffer[end - 1] !== 0x7d) return false
    if (startsWith(memory, start, sideStart)) return readSideRow(buffer, start, end, row)
    const at = readParent(memory, start, row)
    return at >= 0 && !mayBeginAgain(buffer, at, end) && readTreeRow(memory, at, end, row)
  }
}

function readTreeRow(memory: Memory, at: number, end: number, row: Row): boolean {
  const { buffer, endings } = memory
  const open = buffer.indexOf(openBrace, at)
  if (open >= 0 && open < end) {
    if (endsWith(memory, open, userBefore)) return readUser(memory, open, end, row)
    if (endsWith(memory, open, progressBefore)) return readProgress(memory, open, end, row)
    for (const ending of endings) {
      const key = end - ending.length - stampLength
      if (key <= open || !endsLike(buffer, end, ending)) continue
      if (startsWith(memory, key, uuidKey)) return readStamped(memory, open, key, row)
    }
  }
  return readUnknown(memory, at, end, row)
}

/**
 * Whether another record may begin on this line, because the first one was cut. The text of a string cannot look like
 * a key; a key of another name that ends in the same letters is rare, and then the exact reader decides.
 */
function mayBeginAgain(buffer: Buffer, at: number, end: number): boolean {
  const next = buffer.indexOf(keyEnd, at)
  return next >= 0 && next < end
}

/** Reads the parent and the sidechain flag; returns the place behind them, or -1. */
function readParent(memory: Memory, start: number, row: Row): number {
  const { buffer } = memory
  row.hasParent = startsWith(memory, start, childStart)
  let at = start + rootStart.length
  if (row.hasParent) {
    const id = start + childStart.length
    if (!readId(buffer, id, row.parent) || !startsWith(memory, id + idLength, sidechainBehind)) return -1
    at = id + idLength + sidechainBehind.length
  } else if (!startsWith(memory, start, rootStart)) return -1
  row.sidechain = buffer[at] === 0x74
  return at
}

/** The first uuid behind a user's message is the record's own, whatever raw tool result comes after it. */
function readUser(memory: Memory, at: number, end: number, row: Row): boolean {
  const { buffer } = memory
  const found = buffer.indexOf(uuidBehindMessage, at)
  const key = found + 2
  if (found < 0 || key + stampLength >= end || !readId(buffer, key + uuidKey.length, row.uuid)) return false
  if (!startsWith(memory, key + uuidKey.length + idLength, timestampBehind)) return false
  row.type = 'user'
  return isClosed(memory, key, end)
}

/** Whether the end of the line is the end of its record, and not where a write was cut. */
function isClosed(memory: Memory, at: number, end: number): boolean {
  const { buffer } = memory
  if (at + stampLength + 2 === end) return true
  if (startsWith(memory, end - 2 - idLength - callKey.length, callKey)) return true
  for (const closing of memory.closings) if (endsLike(buffer, end, closing)) return true
  const tailStart = Math.max(at, end - tailLength)
  const tail = latin1(buffer, tailStart, end)
  const key = Math.max(tail.lastIndexOf(',"userType":"'), tail.lastIndexOf(',"permissionMode":"'))
  if (!isPlainFrom(tail, key)) return false
  remember(memory.closings, buffer.subarray(tailStart + key, end))
  return true
}

/** Nothing is opened or closed from there on but the record itself. */
function isPlainFrom(tail: string, from: number): boolean {
  return from >= 0 && tail.indexOf('}', from) === tail.length - 1 && tail.indexOf('{', from) < 0
}

function endsLike(buffer: Buffer, end: number, ending: Buffer): boolean {
  return buffer.compare(ending, 0, ending.length, end - ending.length, end) === 0
}

/** `…,"timestamp":"…","uuid":"…"}` or `…,"uuid":"…","timestamp":"…"}`: the end of the line, and nothing after it. */
function readProgress(memory: Memory, at: number, end: number, row: Row): boolean {
  const { buffer } = memory
  row.type = 'progress'
  const last = end - 2 - idLength - uuidKey.length
  const before = last - 2 - timestampLength - timestampBefore.length
  const key = before > at && startsWith(memory, before, timestampBefore) ? last : end - 2 - stampLength
  return key > at && startsWith(memory, key, uuidKey) && readId(buffer, key + uuidKey.length, row.uuid)
}

/** The key is the record's own: nothing is opened behind it, and the text of a string cannot look like a key. */
function readStamped(memory: Memory, at: number, key: number, row: Row): boolean {
  const { buffer } = memory
  if (!startsWith(memory, key + uuidKey.length + idLength, timestampBehind)) return false
  if (!readId(buffer, key + uuidKey.length, row.uuid)) return false
  if (endsWith(memory, key, assistantBefore)) {
    row.type = 'assistant'
    return readUsage(memory, at, key, row)
  }
  row.type = 'attachment'
  return endsWith(memory, key, attachmentBefore)
}

function readUnknown(memory: Memory, at: number, end: number, row: Row): boolean {
  const { buffer } = memory
  const tailStart = Math.max(at, end - tailLength)
  const tail = latin1(buffer, tailStart, end)
  const key = tail.lastIndexOf('"uuid":"')
  // Behind the last uuid of the line only plain values may stand; then it is the record's own.
  if (!isPlainFrom(tail, key)) return false
  const place = tailStart + key
  if (startsWith(memory, place + uuidKey.length + idLength, timestampBehind)) {
    remember(memory.endings, buffer.subarray(place + stampLength, end))
    if (readStamped(memory, at, place, row)) return true
  }
  if (!readId(buffer, place + uuidKey.length, row.uuid)) return false
  const head = latin1(buffer, at, Math.min(end, at + headLength))
  row.type = typeInHead(head)
  return isPlain(row.type, head)
}

function remember(endings: Buffer[], ending: Buffer): void {
  if (endings.some((known) => known.equals(ending))) return
  endings.unshift(Buffer.from(ending))
  if (endings.length > 4) endings.pop()
}

/** Boundaries are few and say much: the exact reader reads them. */
function isPlain(type: string, head: string): boolean {
  if (type === 'system') return head.includes('"subtype":"') && !head.includes('compact_boundary')
  return type === 'user' || type === 'progress' || type === 'attachment'
}

function readSideRow(buffer: Buffer, start: number, end: number, row: Row): boolean {
  row.type = ''
  row.sidechain = false
  row.hasParent = false
  const line = buffer.subarray(start + 1, end)
  return line.indexOf(uuidKey.bytes) < 0 && line.indexOf(sideStart.bytes) < 0
}

/** The first type in the head, if nothing was opened before it: then it is the record's own. */
function typeInHead(head: string): string {
  const key = head.indexOf('"type":"')
  const open = head.indexOf('{')
  if (key < 0 || (open >= 0 && open < key)) return ''
  return head.slice(key + 8, head.indexOf('"', key + 8))
}

const usageKeys = [
  pattern('{"input_tokens":'),
  pattern(',"cache_creation_input_tokens":'),
  pattern(',"cache_read_input_tokens":'),
] as const

const usageBefore = pattern('"usage":')
/** So far before the uuid the usage begins, at the most, when it is of the ordinary kind. */
const usageLength = 1600

/**
 * The usage is the last part of the message, its counts in an order that seldom changes. An answer of several
 * iterations, or one that counts nothing at its top level, is left to the exact reader.
 */
function readUsage(memory: Memory, at: number, end: number, row: Row): boolean {
  const { buffer } = memory
  let place = buffer.indexOf(usageKeys[0].bytes, Math.max(at, end - usageLength))
  if (!endsWith(memory, place, usageBefore)) return false
  let sum = 0
  for (const key of usageKeys) {
    if (place >= end || !startsWith(memory, place, key)) return false
    place += key.length
    let value = 0
    for (let digit = (buffer[place] ?? 0) - 48; digit >= 0 && digit <= 9; digit = (buffer[place] ?? 0) - 48) {
      value = value * 10 + digit
      place++
    }
    sum += value
  }
  const rest = latin1(buffer, place, end)
  const output = rest.indexOf('"output_tokens":')
  const iteration = rest.indexOf('{"input_tokens":')
  if (sum === 0 || output < 0 || (iteration >= 0 && rest.indexOf('{"input_tokens":', iteration + 1) >= 0)) return false
  row.contextTokens = sum + Number.parseInt(rest.slice(output + 16, output + 28), 10)
  return row.contextTokens > 0
}

function latin1(buffer: Buffer, start: number, end: number): string {
  return buffer.toString('latin1', start, end)
}

/** At least four bytes that are looked for at a known place. */
type Pattern = {
  readonly bytes: Buffer
  readonly words: Uint32Array
  readonly lastWord: number
  readonly length: number
}

function pattern(text: string): Pattern {
  const bytes = Buffer.from(text)
  const words = Uint32Array.from({ length: bytes.length >> 2 }, (_, at) => bytes.readUInt32LE(at * 4))
  return { bytes, words, lastWord: bytes.readUInt32LE(bytes.length - 4), length: bytes.length }
}

function endsWith(memory: Memory, end: number, wanted: Pattern): boolean {
  return startsWith(memory, end - wanted.length, wanted)
}

function startsWith({ view }: Memory, at: number, { words, lastWord, length }: Pattern): boolean {
  if (at < 0 || at + length > view.byteLength) return false
  for (let i = 0; i < words.length; i++) if (view.getUint32(at + i * 4, true) !== words[i]) return false
  return view.getUint32(at + length - 4, true) === lastWord
}
