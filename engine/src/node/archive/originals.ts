// Finds what an id refers to and reads it from its file, byte for byte. Ids are untrusted: they are only compared, never
// used as a path or SQL.
import { closeSync, openSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { blocksOf, isToolResult } from '../../core/message/block.ts'
import { type JsonObject, objectAt, parseObject, stringAt } from '../../core/message/json.ts'
import { decodeLine } from '../../core/transcript/format/decode.ts'
import { createRecordReader } from '../../core/transcript/format/foreign/reader.ts'
import { piecesOf } from '../../core/transcript/format/record-pieces.ts'
import { readFully } from '../read/lines.ts'
import {
  type Card,
  cardOf,
  lineId,
  type PieceRow,
  type PlaceRow,
  parseLineId,
  piecesOfEntry,
  placeInFile,
  placeOfLine,
  placeOfUuid,
  placesOfMessage,
  resultsOf,
} from './rows.ts'

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
  constructor(row: PlaceRow, options?: ErrorOptions) {
    super(`${row.name} has changed since it was indexed.`, options)
    this.source = row.source
  }
}

export type PathOf = (name: string) => string | undefined

function readOriginal(row: PlaceRow, pathOf: PathOf, id: string): Original {
  const path = pathOf(row.name)
  if (path === undefined) throw new StalePlace(row)
  const line = readPlace(path, row)
  const { start, end } = stretchOf(line, row)
  const bytes = line.subarray(start, end)
  const text = bytes.toString('utf8')
  const record = parseObject(text)
  // Foreign records have other ids or none.
  const isOther = row.format === 'claude-code' && stringAt(record, 'uuid') !== uuidOnDisk(row)
  if (record === undefined || isOther) throw new StalePlace(row)
  return { id, path, line: row.line, offset: row.offset + start, bytes, text, record }
}

/** Boundaries of old clients have no uuid and get one from their offset. */
function uuidOnDisk(row: PlaceRow): string | undefined {
  return row.uuid === null || row.uuid.startsWith('boundary-at-byte-') ? undefined : row.uuid
}

function readPlace(path: string, row: PlaceRow): Buffer {
  try {
    const file = openSync(path, 'r')
    try {
      const line = Buffer.allocUnsafe(row.length)
      readFully(file, line, row.offset)
      return line
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw new StalePlace(row, { cause: error }) // Removed or truncated.
  }
}

/** The position of the record in its line, found in Latin-1 so that characters are bytes, even in broken UTF-8. */
function stretchOf(line: Buffer, row: PlaceRow): { readonly start: number; readonly end: number } {
  if (line[0] === 0x7b && line[line.length - 1] === 0x7d && row.nth === 0 && isWhole(line)) {
    return { start: 0, end: line.length }
  }
  const text = line.toString('latin1')
  const { records, stretches } = decodeLine(text)
  const found = stretches[row.nth]
  if (found !== undefined) return found
  if (records.length === 0 || row.nth > 0) throw new StalePlace(row)
  return { start: text.indexOf('{'), end: text.lastIndexOf('}') + 1 }
}

function isWhole(line: Buffer): boolean {
  return parseObject(line.toString('utf8')) !== undefined
}

/** The record in our format: foreign ones are converted. */
function entryRecord(row: PlaceRow, original: Original): JsonObject {
  if (row.format === 'claude-code') return original.record
  const entries = createRecordReader(row.format)(original.record, row)
  const record = entries[row.part]?.record ?? original.record
  return row.uuid === null ? record : { ...record, uuid: row.uuid }
}

/** A tool result exactly as recorded. */
export type OriginalResult = {
  readonly toolUseId: string
  readonly tool: string | undefined
  readonly path: string | undefined
  /** The content of the result block; undefined when the transcript holds no result of this call. */
  readonly content: unknown
  readonly isError: boolean
  readonly record: Original | undefined
  /** The file of a result that was too large for the transcript. */
  readonly apart: { readonly path: string; readonly bytes: Buffer } | undefined
}

function readApart(row: PieceRow, pathOf: PathOf): OriginalResult['apart'] {
  const path = pathOf(row.name)
  return path === undefined ? undefined : { path, bytes: readFileSync(path) }
}

export function resultBlock(record: JsonObject, toolUseId: string): JsonObject | undefined {
  return blocksOf(objectAt(record, 'message')?.content).find(
    (block) =>
      (isToolResult(block) || block.type.endsWith('tool_result')) && stringAt(block, 'tool_use_id') === toolUseId,
  )
}

export type Reading = {
  readonly id: string
  readonly cards: readonly Card[]
  /** Readable text; the raw record is in `record`. */
  readonly text: string
}

export type Lookup = {
  readonly sql: DatabaseSync
  readonly pathOf: PathOf
  /** The transcript's name if the archive has only one. */
  readonly onlyFile: string
}

export function readRecord(lookup: Lookup, id: string): Original | undefined {
  const place = placeOf(lookup, id)
  return place && original(lookup, place)
}

function placeOf({ sql, onlyFile }: Lookup, id: string): PlaceRow | undefined {
  const address = parseLineId(id, onlyFile)
  return placeOfUuid(sql, id) ?? (address && placeOfLine(sql, address)) ?? placeInFile(sql, id)
}

function original(lookup: Lookup, place: PlaceRow): Original {
  return readOriginal(place, lookup.pathOf, place.uuid ?? lineId(place))
}

export function readMessage(lookup: Lookup, messageId: string): readonly Original[] {
  return placesOfMessage(lookup.sql, messageId).map((place) => original(lookup, place))
}

export function readResult(lookup: Lookup, toolUseId: string): OriginalResult | undefined {
  const rows = resultsOf(lookup.sql, toolUseId)
  const inside = rows.find((row) => row.type === 'transcript')
  const outside = rows.find((row) => row.type === 'result')
  const about = inside ?? outside
  if (about === undefined) return undefined
  const record = inside && original(lookup, inside)
  const block = inside && record && resultBlock(entryRecord(inside, record), toolUseId)
  return {
    toolUseId,
    tool: about.tool ?? undefined,
    path: about.path ?? undefined,
    content: block?.content,
    isError: block?.is_error === true,
    record,
    apart: outside && readApart(outside, lookup.pathOf),
  }
}

export function readText(lookup: Lookup, id: string): Reading | undefined {
  const results = resultsOf(lookup.sql, id)
  // The stored file has the whole result, the transcript a preview.
  const result = results.find((row) => row.type === 'result') ?? results[0]
  if (result !== undefined) return { id, cards: [cardOf(results[0] ?? result)], text: pieceText(lookup, result) }
  const [, base = id, number] = /^(.*)#(\d{1,6})$/s.exec(id) ?? []
  const place = placeOf(lookup, base)
  if (place !== undefined) {
    const found = entryTexts(lookup, place, number === undefined ? undefined : Number(number) - 1)
    return found && { id, ...found }
  }
  const places = placesOfMessage(lookup.sql, id)
  if (places.length === 0) return undefined
  const readings = places.map((piece) => entryTexts(lookup, piece, undefined)).filter((found) => found !== undefined)
  return { id, cards: readings.flatMap(({ cards }) => cards), text: readings.map(({ text }) => text).join('\n\n') }
}

function entryTexts(lookup: Lookup, place: PlaceRow, piece: number | undefined): Omit<Reading, 'id'> | undefined {
  const rows = piecesOfEntry(lookup.sql, place.entry).filter((row) => piece === undefined || row.piece === piece)
  if (rows.length > 0) return { cards: rows.map(cardOf), text: rows.map((row) => pieceText(lookup, row)).join('\n\n') }
  // Records without text (snapshots, hooks) are shown as JSON.
  return piece === undefined ? { cards: [], text: JSON.stringify(original(lookup, place).record, null, 2) } : undefined
}

export function pieceText(lookup: Lookup, row: PieceRow): string {
  if (row.type === 'result') return readApart(row, lookup.pathOf)?.bytes.toString('utf8') ?? ''
  return piecesOf(entryRecord(row, original(lookup, row)))[row.piece]?.text ?? ''
}
