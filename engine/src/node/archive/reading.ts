// Finds what an id stands for, and reads it from its file. An id that nobody knows is undefined, whatever it holds:
// ids are only ever compared, never made into a path or a statement.
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
  /** What was said or brought, for reading; the record itself is in `record`. */
  readonly text: string
}

export type Shelf = {
  readonly sql: DatabaseSync
  readonly pathOf: PathOf
  /** The name of the transcript when the archive is of one. */
  readonly onlyFile: string
}

export function readRecord(shelf: Shelf, id: string): Original | undefined {
  const place = placeOf(shelf, id)
  return place && original(shelf, place)
}

function placeOf({ sql, onlyFile }: Shelf, id: string): PlaceRow | undefined {
  const address = parseLineId(id, onlyFile)
  return placeOfUuid(sql, id) ?? (address && placeOfLine(sql, address)) ?? placeInFile(sql, id)
}

function original(shelf: Shelf, place: PlaceRow): Original {
  return readOriginal(place, shelf.pathOf, place.uuid ?? lineId(place))
}

export function readMessage(shelf: Shelf, messageId: string): readonly Original[] {
  return placesOfMessage(shelf.sql, messageId).map((place) => original(shelf, place))
}

export function readResult(shelf: Shelf, toolUseId: string): OriginalResult | undefined {
  const rows = resultsOf(shelf.sql, toolUseId)
  const inside = rows.find((row) => row.type === 'transcript')
  const outside = rows.find((row) => row.type === 'result')
  const about = inside ?? outside
  if (about === undefined) return undefined
  const record = inside && original(shelf, inside)
  const block = inside && record && resultBlock(entryRecord(inside, record), toolUseId)
  return {
    toolUseId,
    tool: about.tool ?? undefined,
    path: about.path ?? undefined,
    content: block?.content,
    isError: block?.is_error === true,
    record,
    apart: outside && readApart(outside, shelf.pathOf),
  }
}

export function readText(shelf: Shelf, id: string): Reading | undefined {
  const results = resultsOf(shelf.sql, id)
  // What was stored apart is the whole of it; the transcript has a preview.
  const result = results.find((row) => row.type === 'result') ?? results[0]
  if (result !== undefined) return { id, cards: [cardOf(results[0] ?? result)], text: pieceText(shelf, result) }
  const [, base = id, number] = /^(.*)#(\d{1,6})$/s.exec(id) ?? []
  const place = placeOf(shelf, base)
  if (place !== undefined) {
    const found = entryTexts(shelf, place, number === undefined ? undefined : Number(number) - 1)
    return found && { id, ...found }
  }
  const places = placesOfMessage(shelf.sql, id)
  if (places.length === 0) return undefined
  const readings = places.map((piece) => entryTexts(shelf, piece, undefined)).filter((found) => found !== undefined)
  return { id, cards: readings.flatMap(({ cards }) => cards), text: readings.map(({ text }) => text).join('\n\n') }
}

function entryTexts(shelf: Shelf, place: PlaceRow, piece: number | undefined): Omit<Reading, 'id'> | undefined {
  const rows = piecesOfEntry(shelf.sql, place.entry).filter((row) => piece === undefined || row.piece === piece)
  if (rows.length > 0) return { cards: rows.map(cardOf), text: rows.map((row) => pieceText(shelf, row)).join('\n\n') }
  // A record that nobody said (a snapshot, a hook's) is shown as it is.
  return piece === undefined ? { cards: [], text: JSON.stringify(original(shelf, place).record, null, 2) } : undefined
}

/** Read again from the file: the database has the words, not the text. */
export function pieceText(shelf: Shelf, row: PieceRow): string {
  if (row.type === 'result') return readApart(row, shelf.pathOf)?.bytes.toString('utf8') ?? ''
  return piecesOf(entryRecord(row, original(shelf, row)))[row.piece]?.text ?? ''
}
