// Reads the index row of a line (ids, type, usage) from its head and its tail, without decoding what lies between.
// It knows the key orders that Claude Code writes. Whatever looks different in the least is left to the exact reader:
// then it says so by returning false, and nothing it wrote may be used.
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
const rootStart = Buffer.from('{"parentUuid":null,"isSidechain":')
const childStart = Buffer.from('{"parentUuid":"')
const sidechainBehind = Buffer.from('","isSidechain":')
const sideStart = Buffer.from('{"type":"')
const userBefore = Buffer.from('"type":"user","message":')
const progressBefore = Buffer.from('"type":"progress","data":')
const assistantBefore = Buffer.from('"type":"assistant",')
const attachmentBefore = Buffer.from('"type":"attachment",')
const uuidKey = Buffer.from('"uuid":"')
const timestampBehind = Buffer.from('","timestamp":"')
const timestampBefore = Buffer.from('"timestamp":"')
/** From the uuid's key to what stands behind the timestamp. */
const stampLength = uuidKey.length + idLength + timestampBehind.length + timestampLength

/**
 * What stands behind the timestamp (user type, folder, session, version, …) is the same on most lines of a session.
 * The reader remembers such endings: a line that ends in one needs no further look to know where its uuid lies.
 */
export function createRowReader(): RowReader {
  const endings: Buffer[] = []
  return (buffer, start, end, row) => {
    row.contextTokens = 0
    if (buffer[end - 1] !== 0x7d) return false
    if (startsWith(buffer, start, sideStart)) return readSideRow(buffer, start, end, row)
    const at = readParent(buffer, start, row)
    if (at < 0) return false
    const open = buffer.indexOf(openBrace, at)
    if (open > 0 && open < end) {
      if (endsWith(buffer, open, userBefore)) return readUser(buffer, { at: open, end }, row)
      if (endsWith(buffer, open, progressBefore)) return readProgress(buffer, { at: open, end }, row)
      for (const ending of endings) {
        if (end - open < ending.length || buffer.compare(ending, 0, ending.length, end - ending.length, end) !== 0)
          continue
        const key = end - ending.length - stampLength
        if (key > open && startsWith(buffer, key, uuidKey)) return readStamped(buffer, { at: open, end }, key, row)
      }
    }
    return readUnknown(buffer, { at, end }, row, endings)
  }
}

/** Reads the parent and the sidechain flag; returns the place behind them, or -1. */
function readParent(buffer: Buffer, start: number, row: Row): number {
  row.hasParent = startsWith(buffer, start, childStart)
  let at = start + rootStart.length
  if (row.hasParent) {
    const id = start + childStart.length
    if (!readId(buffer, id, row.parent) || !startsWith(buffer, id + idLength, sidechainBehind)) return -1
    at = id + idLength + sidechainBehind.length
  } else if (!startsWith(buffer, start, rootStart)) return -1
  row.sidechain = buffer[at] === 0x74
  return at
}

type Stretch = { readonly at: number; readonly end: number }

/** The first uuid behind a user's message is the record's own, whatever raw tool result comes after it. */
function readUser(buffer: Buffer, { at, end }: Stretch, row: Row): boolean {
  const key = buffer.indexOf(uuidKey, at)
  if (key < 0 || key >= end || !readId(buffer, key + uuidKey.length, row.uuid)) return false
  row.type = 'user'
  return startsWith(buffer, key + uuidKey.length + idLength, timestampBehind)
}

/** `…,"timestamp":"…","uuid":"…"}` or `…,"uuid":"…","timestamp":"…"}`: the end of the line, and nothing after it. */
function readProgress(buffer: Buffer, { at, end }: Stretch, row: Row): boolean {
  row.type = 'progress'
  const last = end - 2 - idLength - uuidKey.length
  const before = last - 2 - timestampLength - timestampBefore.length
  const key = before > at && startsWith(buffer, before, timestampBefore) ? last : end - 2 - stampLength
  return key > at && startsWith(buffer, key, uuidKey) && readId(buffer, key + uuidKey.length, row.uuid)
}

/** The key is the record's own: nothing is opened behind it, and the text of a string cannot look like a key. */
function readStamped(buffer: Buffer, { at }: Stretch, key: number, row: Row): boolean {
  if (!startsWith(buffer, key + uuidKey.length + idLength, timestampBehind)) return false
  if (!readId(buffer, key + uuidKey.length, row.uuid)) return false
  if (endsWith(buffer, key, assistantBefore)) {
    row.type = 'assistant'
    return readUsage(buffer, { at, end: key }, row)
  }
  row.type = 'attachment'
  return endsWith(buffer, key, attachmentBefore)
}

function readUnknown(buffer: Buffer, { at, end }: Stretch, row: Row, endings: Buffer[]): boolean {
  const tailStart = Math.max(at, end - tailLength)
  const tail = latin1(buffer, tailStart, end)
  const key = tail.lastIndexOf('"uuid":"')
  // Behind the last uuid of the line only plain values may stand; then it is the record's own.
  if (key < 0 || tail.indexOf('}', key) !== tail.length - 1 || tail.indexOf('{', key) >= 0) return false
  const place = tailStart + key
  if (startsWith(buffer, place + uuidKey.length + idLength, timestampBehind)) {
    remember(endings, buffer.subarray(place + stampLength, end))
    if (readStamped(buffer, { at, end }, place, row)) return true
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
  return buffer.subarray(start, end).indexOf(uuidKey) < 0
}

/** The first type in the head, if nothing was opened before it: then it is the record's own. */
function typeInHead(head: string): string {
  const key = head.indexOf('"type":"')
  const open = head.indexOf('{')
  if (key < 0 || (open >= 0 && open < key)) return ''
  return head.slice(key + 8, head.indexOf('"', key + 8))
}

const usageKeys = [
  Buffer.from('"usage":{"input_tokens":'),
  Buffer.from(',"cache_creation_input_tokens":'),
  Buffer.from(',"cache_read_input_tokens":'),
] as const

/**
 * The usage is the last part of the message, its counts in an order that seldom changes. An answer of several
 * iterations, or one that counts nothing at its top level, is left to the exact reader.
 */
function readUsage(buffer: Buffer, { at, end }: Stretch, row: Row): boolean {
  let place = buffer.lastIndexOf(usageKeys[0], end)
  let sum = 0
  for (const key of usageKeys) {
    if (place < at || !startsWith(buffer, place, key)) return false
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

function endsWith(buffer: Buffer, end: number, bytes: Buffer): boolean {
  return startsWith(buffer, end - bytes.length, bytes)
}

function startsWith(buffer: Buffer, at: number, bytes: Buffer): boolean {
  for (let i = 0; i < bytes.length; i++) if (buffer[at + i] !== bytes[i]) return false
  return true
}
