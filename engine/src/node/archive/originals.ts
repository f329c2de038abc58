// Finds what an id refers to and reads it from its file, byte for byte. Ids are untrusted: they are only compared, never
// used as a path or SQL.
import { readFileSync } from 'node:fs'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { type JsonObject, parseObject, stringAt } from '../../core/message/json.ts'
import { decodeLine } from '../../core/transcript/format/decode.ts'
import { createRecordReader, type Format } from '../../core/transcript/format/reader.ts'
import { type TextKind, textsOf } from '../../core/transcript/format/record-texts.ts'
import { readBytes } from '../read/entries.ts'
import { resultBlock } from '../write/keep-results.ts'

/** A piece. For a record without text, the whole record. */
export type PieceRow = {
  readonly id: number
  readonly source: number
  readonly name: string
  readonly type: 'transcript' | 'result'
  readonly format: Format
  readonly line: number
  readonly offset: number
  readonly length: number
  readonly nth: number
  readonly part: number
  readonly uuid: string | null
  readonly message: string | null
  readonly epoch: number
  readonly time: number | null
  readonly sidechain: number
  readonly piece: number
  readonly kind: TextKind | null
  readonly call: number | null
  readonly tool_use_id: string | null
  readonly tool: string | null
  readonly path: string | null
}

/** Preparing a query takes a hundred times as long as running it. */
const prepared = new WeakMap<DatabaseSync, Map<string, StatementSync>>()

/** `where` must be one of a few constant texts, because each is prepared once and kept as long as the database. */
export function piecesWhere(sql: DatabaseSync, where: string, ...values: SQLInputValue[]): readonly PieceRow[] {
  const own = prepared.get(sql) ?? new Map<string, StatementSync>()
  prepared.set(sql, own)
  const statement = own.get(where) ?? prepareWhere(sql, where)
  own.set(where, statement)
  return statement.all(...values) as PieceRow[]
}

function prepareWhere(sql: DatabaseSync, where: string): StatementSync {
  const pieces = `SELECT p.*, s.name, s.type, s.format, c.tool_use_id, c.tool,
      (SELECT path FROM touched WHERE touched.call = p.call LIMIT 1) AS path
    FROM pieces p JOIN sources s ON s.id = p.source LEFT JOIN calls c ON c.id = p.call`
  return sql.prepare(`${pieces} WHERE ${where}`)
}

/** Results in transcripts before stored ones; of duplicates the first counts. */
function resultsOf({ sql }: Lookup, toolUseId: string): readonly PieceRow[] {
  const calls = 'SELECT id FROM calls WHERE tool_use_id = ?'
  return piecesWhere(sql, `p.call IN (${calls}) AND p.kind = 'tool-result' ORDER BY s.type DESC, p.id`, toolUseId)
}

/** A piece without its text. */
export type Card = {
  readonly id: string
  readonly kind: TextKind
  readonly time: string | undefined
  /** Compactions of its file before it. */
  readonly epoch: number
  readonly tool: string | undefined
  readonly path: string | undefined
  readonly toolUseId: string | undefined
  readonly uuid: string | undefined
  readonly messageId: string | undefined
  /** Said by a sub-agent. */
  readonly sidechain: boolean
  /** The file relative to the archive's folder. */
  readonly file: string
  readonly line: number
}

export function cardOf(row: PieceRow): Card {
  return {
    id: idOf(row),
    kind: row.kind ?? 'system',
    time: row.time === null ? undefined : new Date(row.time).toISOString(),
    epoch: row.epoch,
    tool: row.tool ?? undefined,
    path: row.path ?? undefined,
    toolUseId: row.tool_use_id ?? undefined,
    uuid: row.uuid ?? undefined,
    messageId: row.message ?? undefined,
    sidechain: row.sidechain === 1,
    file: row.name,
    line: row.line,
  }
}

/**
 * A result has the id of its call, anything else the id of its entry, numbered from the second piece on. Ids of foreign entries
 * may repeat in other files.
 */
function idOf(row: PieceRow): string {
  if (row.kind === 'tool-result' && row.tool_use_id !== null) return row.tool_use_id
  const entry = row.uuid === null ? lineId(row) : row.format === 'claude-code' ? row.uuid : `${row.uuid}@${row.name}`
  return `${entry}${row.piece === 0 ? '' : `#${row.piece + 1}`}`
}

/** For records without an id: `line-12@session.jsonl`, or `line-12.2@…` for the second record of a line. */
function lineId({ name, line, nth }: PieceRow): string {
  return `line-${line}${nth === 0 ? '' : `.${nth + 1}`}@${name}`
}

export type Lookup = {
  readonly sql: DatabaseSync
  readonly pathOf: (name: string) => string | undefined
  /** The transcript's name if the archive has only one. */
  readonly onlyFile: string
}

/**
 * The pieces of an entry: by uuid (of duplicates the first counts), by line, or `uuid@file` for ids that are unique only
 * within their file.
 */
function entryOf({ sql, onlyFile }: Lookup, id: string): readonly PieceRow[] {
  const [, line, nth = '1', file = onlyFile] = /^line-(\d{1,12})(?:\.(\d{1,6}))?(?:@(.+))?$/s.exec(id) ?? []
  const byLine = `s.name = ? AND s.type = 'transcript' AND p.line = ? AND p.nth = ?`
  const [, uuid, name] = /^([^@]+)@(.+)$/s.exec(id) ?? []
  const first =
    firstWhere(sql, 'p.uuid = ?', id) ??
    (line === undefined ? undefined : firstWhere(sql, byLine, file, Number(line), Number(nth) - 1)) ??
    (uuid === undefined || name === undefined ? undefined : firstWhere(sql, 'p.uuid = ? AND s.name = ?', uuid, name))
  if (first === undefined) return []
  const place = [first.source, first.line, first.nth, first.part]
  return piecesWhere(sql, 'p.source = ? AND p.line = ? AND p.nth = ? AND p.part = ? ORDER BY p.piece', ...place)
}

function firstWhere(sql: DatabaseSync, where: string, ...values: SQLInputValue[]): PieceRow | undefined {
  return piecesWhere(sql, `${where} ORDER BY p.id LIMIT 1`, ...values)[0]
}

/** From the first file that has the answer. */
function answerOf({ sql }: Lookup, messageId: string): readonly PieceRow[] {
  const rows = piecesWhere(sql, 'p.message = ? ORDER BY p.id', messageId)
  return rows.filter((row) => row.source === rows[0]?.source)
}

export type Original = {
  /** The entry's uuid, or its line if it has none. */
  readonly id: string
  readonly path: string
  readonly line: number
  /** The file offset of the record. */
  readonly offset: number
  /** The record exactly, from `{` to `}`. */
  readonly bytes: Buffer
  readonly text: string
  readonly record: JsonObject
}

/** The file has changed since it was indexed. */
export class StalePlace extends Error {
  readonly source: number
  constructor(row: PieceRow, options?: ErrorOptions) {
    super(`${row.name} has changed since it was indexed.`, options)
    this.source = row.source
  }
}

function original({ pathOf }: Lookup, row: PieceRow): Original {
  const path = pathOf(row.name)
  if (path === undefined) throw new StalePlace(row)
  const line = readPlace(path, row)
  const { start, end } = stretchOf(line, row)
  const bytes = line.subarray(start, end)
  const text = bytes.toString('utf8')
  const record = parseObject(text)
  // Boundaries of old clients have no uuid and get one from their offset. Foreign records have other ids or none.
  const uuid = row.uuid?.startsWith('boundary-at-byte-') ? undefined : (row.uuid ?? undefined)
  const isOther = row.format === 'claude-code' && stringAt(record, 'uuid') !== uuid
  if (record === undefined || isOther) throw new StalePlace(row)
  return { id: row.uuid ?? lineId(row), path, line: row.line, offset: row.offset + start, bytes, text, record }
}

function readPlace(path: string, row: PieceRow): Buffer {
  try {
    return readBytes(path, row.offset, row.offset + row.length)
  } catch (error) {
    throw new StalePlace(row, { cause: error }) // Removed or truncated.
  }
}

/** The position of the record in its line, found in Latin-1 so that characters are bytes, even in broken UTF-8. */
function stretchOf(line: Buffer, row: PieceRow): { readonly start: number; readonly end: number } {
  const text = line.toString('latin1')
  const { records, stretches } = decodeLine(text)
  const found = stretches[row.nth]
  if (found !== undefined) return found
  if (records.length === 0 || row.nth > 0) throw new StalePlace(row)
  return { start: text.indexOf('{'), end: text.lastIndexOf('}') + 1 }
}

/** The record in our format, after conversion. */
function entryRecord(row: PieceRow, { record }: Original): JsonObject {
  if (row.format === 'claude-code') return record
  const entries = createRecordReader(row.format)(record, row)
  // A converted record may depend on the one before, so it is identified by id rather than by position.
  const own = entries.find((entry) => row.uuid !== null && entry.record.uuid === row.uuid) ?? entries[row.part]
  const converted = own?.record ?? record
  return row.uuid === null ? converted : { ...converted, uuid: row.uuid }
}

export function readRecord(lookup: Lookup, id: string): Original | undefined {
  const [found] = entryOf(lookup, id)
  return found && original(lookup, found)
}

export function readMessage(lookup: Lookup, messageId: string): readonly Original[] {
  const entries = answerOf(lookup, messageId).filter(({ piece }) => piece === 0)
  return entries.map((found) => original(lookup, found))
}

export type OriginalResult = {
  readonly toolUseId: string
  readonly tool: string | undefined
  readonly path: string | undefined
  /** The content of the result block. Undefined if the transcript has no result of this call. */
  readonly content: unknown
  readonly isError: boolean
  readonly record: Original | undefined
  /** The file of a result that was too large for the transcript. */
  readonly apart: { readonly path: string; readonly bytes: Buffer } | undefined
}

export function readResult(lookup: Lookup, toolUseId: string): OriginalResult | undefined {
  const rows = resultsOf(lookup, toolUseId)
  const [about] = rows
  if (about === undefined) return undefined
  const inside = rows.find((row) => row.type === 'transcript')
  const outside = rows.find((row) => row.type === 'result')
  const record = inside && original(lookup, inside)
  const block = inside && record && resultBlock(entryRecord(inside, record), toolUseId)
  return {
    toolUseId,
    tool: about.tool ?? undefined,
    path: about.path ?? undefined,
    content: block?.content,
    isError: block?.is_error === true,
    record,
    apart: outside && readApart(lookup, outside),
  }
}

function readApart({ pathOf }: Lookup, { name }: PieceRow): OriginalResult['apart'] {
  const path = pathOf(name)
  return path === undefined ? undefined : { path, bytes: readFileSync(path) }
}

export type Reading = {
  readonly id: string
  readonly cards: readonly Card[]
  /** Readable text; the raw record is in `record`. */
  readonly text: string
}

export function readText(lookup: Lookup, id: string): Reading | undefined {
  const results = resultsOf(lookup, id)
  if (results[0] !== undefined) {
    // The stored file has the whole result; the transcript has only a preview.
    const whole = results.find((row) => row.type === 'result') ?? results[0]
    return { id, cards: [cardOf(results[0])], text: pieceText(lookup, whole) }
  }
  const [, base = id, number] = /^(.*)#(\d{1,6})$/s.exec(id) ?? []
  const entry = entryOf(lookup, base)
  const pieces = number === undefined ? entry : entry.filter(({ piece, kind }) => kind && piece === Number(number) - 1)
  const rows = entry.length > 0 ? pieces : answerOf(lookup, id)
  if (rows.length === 0) return undefined
  const cards = rows.filter(({ kind }) => kind !== null).map(cardOf)
  return { id, cards, text: rows.map((row) => pieceText(lookup, row)).join('\n\n') }
}

export function pieceText(lookup: Lookup, row: PieceRow): string {
  if (row.type === 'result') return readApart(lookup, row)?.bytes.toString('utf8') ?? ''
  const found = original(lookup, row)
  // Records without text (snapshots, hooks) are shown as JSON.
  if (row.kind === null) return JSON.stringify(found.record, null, 2)
  return textsOf(entryRecord(row, found))[row.piece]?.text ?? ''
}
