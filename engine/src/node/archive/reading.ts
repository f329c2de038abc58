// Finds what an id refers to and reads it from its file. Ids are untrusted: they are only compared, never used as a
// path or SQL.
import type { DatabaseSync } from 'node:sqlite'
import { piecesOf } from '../../core/transcript/format/record-pieces.ts'
import {
  entryRecord,
  type Original,
  type OriginalResult,
  type PathOf,
  readApart,
  readOriginal,
  resultBlock,
} from './originals.ts'
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
