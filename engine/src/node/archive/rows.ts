// Database rows of pieces and of the places of their records, and the cards that people and models see.
import type { DatabaseSync } from 'node:sqlite'
import type { Format } from '../../core/transcript/format/foreign/reader.ts'
import { type PieceKind, pieceKinds } from '../../core/transcript/format/record-pieces.ts'

export type PlaceRow = {
  readonly entry: number
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
}

export type PieceRow = PlaceRow & {
  readonly id: number
  readonly piece: number
  readonly kind: number
  readonly epoch: number
  readonly time: number | null
  readonly sidechain: number
  readonly tool_use_id: string | null
  readonly tool: string | null
  readonly path: string | null
}

/** A piece without its text. */
export type Card = {
  /** To read it again. */
  readonly id: string
  readonly kind: PieceKind
  /** ISO time. */
  readonly time: string | undefined
  /** Compactions of its file before it. */
  readonly epoch: number
  /** Of a call or result. */
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

const place = `e.id AS entry, e.source, s.name, s.type, s.format, e.line, e.offset, e.length, e.nth, e.part,
  e.uuid, e.message`

const pieces = `SELECT ${place}, p.id, p.nth AS piece, p.kind, p.epoch, p.time, p.sidechain, c.tool_use_id,
    n.text AS tool,
    (SELECT t.text FROM touched JOIN names t ON t.id = touched.path WHERE touched.call = p.call LIMIT 1) AS path
  FROM pieces p JOIN entries e ON e.id = p.entry JOIN sources s ON s.id = e.source
    LEFT JOIN calls c ON c.id = p.call LEFT JOIN names n ON n.id = c.tool`

export function piecesById(sql: DatabaseSync, ids: readonly number[]): ReadonlyMap<number, PieceRow> {
  const found = sql.prepare(`${pieces} WHERE p.id IN (SELECT value FROM json_each(?))`).all(JSON.stringify(ids))
  return new Map((found as PieceRow[]).map((row) => [row.id, row]))
}

export function piecesOfEntry(sql: DatabaseSync, entry: number): readonly PieceRow[] {
  return sql.prepare(`${pieces} WHERE p.entry = ? ORDER BY p.nth`).all(entry) as PieceRow[]
}

/** Results in transcripts before stored ones; of duplicates the first counts. */
export function resultsOf(sql: DatabaseSync, toolUseId: string): readonly PieceRow[] {
  const calls = 'SELECT id FROM calls WHERE tool_use_id = ?'
  const where = `WHERE p.call IN (${calls}) AND p.kind = ${pieceKinds.indexOf('tool-result')}`
  return sql.prepare(`${pieces} ${where} ORDER BY s.type DESC, p.id`).all(toolUseId) as PieceRow[]
}

const places = `SELECT ${place} FROM entries e JOIN sources s ON s.id = e.source`

/** Of duplicates the first counts. */
export function placeOfUuid(sql: DatabaseSync, uuid: string): PlaceRow | undefined {
  return sql.prepare(`${places} WHERE e.uuid = ? ORDER BY e.id LIMIT 1`).get(uuid) as PlaceRow | undefined
}

/** `id@file`, for ids that are unique only within their file. */
export function placeInFile(sql: DatabaseSync, id: string): PlaceRow | undefined {
  const [, uuid, file] = /^([^@]+)@(.+)$/s.exec(id) ?? []
  if (uuid === undefined || file === undefined) return undefined
  const where = 'WHERE e.uuid = ? AND s.name = ? ORDER BY e.id LIMIT 1'
  return sql.prepare(`${places} ${where}`).get(uuid, file) as PlaceRow | undefined
}

/** From the first file that has the answer. */
export function placesOfMessage(sql: DatabaseSync, messageId: string): readonly PlaceRow[] {
  const rows = sql.prepare(`${places} WHERE e.message = ? ORDER BY e.id`).all(messageId) as PlaceRow[]
  return rows.filter((row) => row.source === rows[0]?.source)
}

export type LineAddress = { readonly file: string; readonly line: number; readonly nth: number }

export function placeOfLine(sql: DatabaseSync, { file, line, nth }: LineAddress): PlaceRow | undefined {
  const where = `WHERE s.name = ? AND s.type = 'transcript' AND e.line = ? AND e.nth = ? AND e.part = 0`
  return sql.prepare(`${places} ${where}`).get(file, line, nth) as PlaceRow | undefined
}

export function cardOf(row: PieceRow): Card {
  return {
    id: idOf(row),
    kind: pieceKinds[row.kind] ?? 'system',
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
 * A result has the id of its call, anything else that of its entry, numbered from the second piece on. Ids of foreign
 * entries may repeat in other files.
 */
function idOf(row: PieceRow): string {
  if (pieceKinds[row.kind] === 'tool-result' && row.tool_use_id !== null) return row.tool_use_id
  const entry = row.uuid === null ? lineId(row) : row.format === 'claude-code' ? row.uuid : `${row.uuid}@${row.name}`
  return `${entry}${row.piece === 0 ? '' : `#${row.piece + 1}`}`
}

/** For records without an id. */
export function lineId(at: { readonly name: string; readonly line: number; readonly nth: number }): string {
  return `line-${at.line}${at.nth === 0 ? '' : `.${at.nth + 1}`}@${at.name}`
}

/** `line-12@session.jsonl` or `line-12.2@…`; without a file, the archive's only transcript. */
export function parseLineId(id: string, onlyFile: string | undefined): LineAddress | undefined {
  const [, line, nth, name] = /^line-(\d{1,12})(?:\.(\d{1,6}))?(?:@(.+))?$/s.exec(id) ?? []
  const file = name ?? onlyFile
  if (line === undefined || file === undefined) return undefined
  return { file, line: Number(line), nth: nth === undefined ? 0 : Number(nth) - 1 }
}
