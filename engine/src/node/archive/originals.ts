// Reads records from their files, byte for byte.
import { closeSync, openSync, readFileSync } from 'node:fs'
import { blocksOf, isToolResult } from '../../core/message/block.ts'
import { type JsonObject, objectAt, parseObject, stringAt } from '../../core/message/json.ts'
import { decodeLine } from '../../core/transcript/format/decode.ts'
import { createRecordReader } from '../../core/transcript/format/foreign/reader.ts'
import { readFully } from '../read/lines.ts'
import type { PieceRow, PlaceRow } from './rows.ts'

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

export function readOriginal(row: PlaceRow, pathOf: PathOf, id: string): Original {
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
export function entryRecord(row: PlaceRow, original: Original): JsonObject {
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

export function readApart(row: PieceRow, pathOf: PathOf): OriginalResult['apart'] {
  const path = pathOf(row.name)
  return path === undefined ? undefined : { path, bytes: readFileSync(path) }
}

export function resultBlock(record: JsonObject, toolUseId: string): JsonObject | undefined {
  return blocksOf(objectAt(record, 'message')?.content).find(
    (block) =>
      (isToolResult(block) || block.type.endsWith('tool_result')) && stringAt(block, 'tool_use_id') === toolUseId,
  )
}
