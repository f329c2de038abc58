// Adds entries and their pieces to the database and removes them. It never begins or ends a transaction.
import type { DatabaseSync } from 'node:sqlite'
import { stringAt } from '../../core/message/json.ts'
import { type Entry, type Head, headOf } from '../../core/transcript/format/entry.ts'
import { type Piece, pieceKinds, piecesOf } from '../../core/transcript/format/record-pieces.ts'
import { indexable } from './words.ts'

export type Filer = {
  readonly add: (entry: Entry) => void
  readonly addResult: (result: ResultFile) => void
  /** Records that something on this line could not be indexed. */
  readonly skip: (line: number, reason: string) => void
  /** The number of compactions of the main conversation so far. */
  readonly epoch: () => number
}

export type ResultFile = {
  readonly toolUseId: string
  readonly text: string
  readonly size: number
  readonly modified: number
}

type Facts = {
  readonly entry: number
  readonly epoch: number
  readonly time: number | null
  readonly sidechain: boolean
}

export type FiledSource = { readonly id: number; readonly name: string; readonly epoch: number }

export function createFiler(sql: DatabaseSync, source: FiledSource): Filer {
  const statements = prepare(sql)
  const keep = pieceAdder(statements, sessionOf(source.name))
  let epoch = source.epoch
  // Several entries can come from one foreign record; they are numbered.
  let place = { offset: -1, nth: -1, part: -1 }
  return {
    epoch: () => epoch,
    add: (entry) => {
      const head = headOf(entry)
      if (head.boundary && !head.sidechain) epoch++
      const isSame = place.offset === head.offset && place.nth === head.nth
      place = { offset: head.offset, nth: head.nth, part: isSame ? place.part + 1 : 0 }
      const row = addEntry(statements, source.id, { head, part: place.part })
      const time = Date.parse(stringAt(entry.record, 'timestamp') ?? '')
      const facts = { entry: row, epoch, time: Number.isNaN(time) ? null : time, sidechain: head.sidechain }
      for (const [nth, piece] of piecesOf(entry.record).entries()) keep(piece, nth, facts)
    },
    skip: (line, reason) => {
      statements.skip.get(source.id, line, reason)
    },
    addResult: ({ toolUseId, text, size, modified }) => {
      const entry = idFrom(statements.entry.get(source.id, 1, 0, size, 0, 0, null, null))
      const facts = { entry, epoch, time: Math.floor(modified), sidechain: false }
      keep({ kind: 'tool-result', text, toolUseId }, 0, facts)
    },
  }
}

/** The session of a file, by its name: sub-agents and stored results are in the session's folder. */
function sessionOf(name: string): string {
  return name.replace(/\/(subagents|tool-results)\/[^/]+$|\.[^./]+$/, '')
}

/**
 * Call these with `get`, never `run`: after FTS5 inserted a row of its own, `run` throws because that row's id is too
 * large for JavaScript.
 */
function prepare(sql: DatabaseSync) {
  return {
    entry: sql.prepare(
      'INSERT INTO entries (source, line, offset, length, nth, part, uuid, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id',
    ),
    piece: sql.prepare(
      'INSERT INTO pieces (entry, nth, kind, call, epoch, time, sidechain, length) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id',
    ),
    words: sql.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)'),
    call: sql.prepare(
      'INSERT INTO calls (session, tool_use_id) VALUES (?, ?) ON CONFLICT DO UPDATE SET tool = tool RETURNING id',
    ),
    tool: sql.prepare('UPDATE calls SET tool = ? WHERE id = ?'),
    name: sql.prepare('INSERT INTO names (text) VALUES (?) ON CONFLICT DO UPDATE SET text = text RETURNING id'),
    skip: sql.prepare('INSERT INTO skipped (source, line, reason) VALUES (?, ?, ?)'),
    touch: sql.prepare('INSERT OR IGNORE INTO touched (path, call) VALUES (?, ?)'),
  }
}

type Statements = ReturnType<typeof prepare>

function addEntry(statements: Statements, source: number, at: { readonly head: Head; readonly part: number }): number {
  const { line, offset, length, nth, uuid, messageId } = at.head
  return idFrom(statements.entry.get(source, line, offset, length, nth, at.part, uuid ?? null, messageId ?? null))
}

/** The cache of ids lives as long as the filer: one transaction. */
function pieceAdder(statements: Statements, session: string): (piece: Piece, nth: number, facts: Facts) => void {
  const names = new Map<string, number>()
  const nameOf = (text: string): number => {
    const known = names.get(text)
    if (known !== undefined) return known
    const id = idFrom(statements.name.get(text))
    names.set(text, id)
    return id
  }
  return (piece, nth, { entry, epoch, time, sidechain }) => {
    const call = piece.toolUseId === undefined ? null : idFrom(statements.call.get(nameOf(session), piece.toolUseId))
    if (call !== null && piece.tool !== undefined) statements.tool.get(nameOf(piece.tool), call)
    if (call !== null) for (const path of piece.paths ?? []) statements.touch.get(nameOf(path), call)
    const kind = pieceKinds.indexOf(piece.kind)
    const row = idFrom(statements.piece.get(entry, nth, kind, call, epoch, time, sidechain ? 1 : 0, piece.text.length))
    statements.words.get(row, indexable(piece.text))
  }
}

function idFrom(row: unknown): number {
  return (row as { readonly id: number }).id
}

/** Removes the entries of a source after this line. */
export function removeAfter(sql: DatabaseSync, source: number, line: number): void {
  sql.prepare('DELETE FROM skipped WHERE source = ? AND line > ?').get(source, line)
  const entries = 'SELECT id FROM entries WHERE source = ? AND line > ?'
  const found = sql.prepare(`${entries} LIMIT 1`).get(source, line)
  if (found === undefined) return
  const pieces = `SELECT id FROM pieces WHERE entry IN (${entries})`
  sql.prepare(`DELETE FROM words WHERE rowid IN (${pieces})`).get(source, line)
  sql.prepare(`DELETE FROM pieces WHERE entry IN (${entries})`).get(source, line)
  sql.prepare('DELETE FROM entries WHERE source = ? AND line > ?').get(source, line)
}

export function removeSources(sql: DatabaseSync, sources: readonly number[]): void {
  for (const source of sources) {
    removeAfter(sql, source, 0)
    sql.prepare('DELETE FROM sources WHERE id = ?').get(source)
  }
  // Other files of the session may share a call; only unused calls are removed.
  const used = 'SELECT call FROM pieces WHERE call IS NOT NULL'
  sql.exec(`DELETE FROM touched WHERE call NOT IN (${used}); DELETE FROM calls WHERE id NOT IN (${used})`)
}
