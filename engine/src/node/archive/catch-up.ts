// Updates the database from the files: indexes what is new, removes what is gone, starts over with files that were
// rewritten. Each step is one transaction: several processes can share the work, and a kill loses one step.
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { stringAt } from '../../core/message/json.ts'
import { type Entry, headOf } from '../../core/transcript/format/entry.ts'
import { createRecordReader, type Format } from '../../core/transcript/format/foreign/reader.ts'
import { type Piece, pieceKinds, piecesOf } from '../../core/transcript/format/record-pieces.ts'
import { markAt } from '../index/cache-place.ts'
import { readLine, sniffFormat } from '../read/entries.ts'
import { forEachLine } from '../read/lines.ts'
import { contentProblem, inTransaction, sizeProblem } from './database.ts'
import type { ArchiveFile } from './files.ts'
import { indexable } from './words.ts'

export type CaughtUp = {
  /** False if the time ran out. What was indexed so far can be searched. */
  readonly complete: boolean
  readonly bytesDone: number
  readonly bytesAll: number
  /** Files that could not be read and lines that could not be indexed, at most 100. */
  readonly unreadable: readonly Unreadable[]
}

export type Unreadable = { readonly path: string; readonly line?: number; readonly reason: string }

export type CatchUpOptions = {
  /** Starts no further step after this time. Above 0, at least one step is made. Default: no limit. */
  readonly budgetMs?: number
  readonly onProgress?: (bytesDone: number, bytesAll: number) => void
}

type Source = {
  readonly id: number
  readonly name: string
  readonly type: string
  readonly format: Format
  readonly size: number
  readonly modified: number
  readonly bytes: number
  readonly lines: number
  readonly epoch: number
  readonly mark: string
}

export function catchUp(
  sql: DatabaseSync,
  files: readonly ArchiveFile[],
  { budgetMs = Number.POSITIVE_INFINITY, onProgress }: CatchUpOptions = {},
): CaughtUp {
  const deadline = performance.now() + budgetMs
  const failed: Unreadable[] = []
  const known = sql.prepare('SELECT * FROM sources').all() as unknown as Source[]
  const byName = new Map(known.map((source) => [source.name, source]))
  const stale = files.filter((file) => !isSettled(byName.get(file.name), file))
  const bytesAll = files.reduce((sum, file) => sum + file.size, 0)
  let bytesDone = bytesAll - stale.reduce((sum, file) => sum + file.size, 0)
  let steps = 0
  const names = new Set(files.map((file) => file.name))
  const gone = known.filter(({ name }) => !names.has(name)).map(({ id }) => id)
  if (gone.length > 0) inTransaction(sql, () => removeSources(sql, gone))
  const result = (complete: boolean) => {
    return { complete, bytesDone, bytesAll, unreadable: [...failed, ...skippedIn(sql, files)] }
  }
  for (const file of stale) {
    try {
      for (let reached = 0, isDone = false; !isDone; ) {
        if (budgetMs <= 0 || (steps++ > 0 && performance.now() > deadline)) return result(false)
        const next = inTransaction(sql, () => step(sql, file))
        bytesDone += Math.max(0, next.reached - reached)
        onProgress?.(bytesDone, bytesAll)
        reached = next.reached
        isDone = next.isDone
      }
    } catch (error) {
      failed.push({ path: file.path, reason: contentProblem(error) })
    }
  }
  bytesDone = bytesAll
  return result(true)
}

const skippedLimit = 100

function skippedIn(sql: DatabaseSync, files: readonly ArchiveFile[]): readonly Unreadable[] {
  const joined = 'SELECT s.name, k.line, k.reason FROM skipped k JOIN sources s ON s.id = k.source'
  const rows = sql.prepare(`${joined} ORDER BY k.rowid LIMIT ${skippedLimit}`).all() as {
    readonly name: string
    readonly line: number
    readonly reason: string
  }[]
  const pathOf = (name: string) => files.find((file) => file.name === name)?.path ?? name
  return rows.map(({ name, line, reason }) => ({ path: pathOf(name), line, reason }))
}

function isSettled(source: Source | undefined, file: ArchiveFile): boolean {
  return source !== undefined && source.size === file.size && source.modified === file.modified
}

type Step = { readonly reached: number; readonly isDone: boolean }

/** Indexes one part of a file, starting where the database is: another process may have continued meanwhile. */
function step(sql: DatabaseSync, file: ArchiveFile): Step {
  const known = sql.prepare('SELECT * FROM sources WHERE name = ?').get(file.name) as Source | undefined
  if (isSettled(known, file)) return { reached: file.size, isDone: true }
  const continues = known !== undefined && continuesIn(known, file)
  if (known !== undefined && !continues) removeSources(sql, [known.id])
  const source = continues ? known : addSource(sql, file)
  removeAfter(sql, source.id, source.lines)
  return file.type === 'result' ? readResult(sql, file, source) : readPart(sql, file, source)
}

/** Whether the indexed part of the file is unchanged. */
function continuesIn(known: Source, file: ArchiveFile): boolean {
  // Foreign records are converted in order, from the first one; a result is one piece.
  if (known.format !== 'claude-code' || known.type !== 'transcript') return false
  return known.bytes <= file.size && known.mark === markAt(file.path, known.bytes)
}

function addSource(sql: DatabaseSync, file: ArchiveFile): Source {
  const format = (file.type === 'transcript' && sniffFormat(file.path)) || 'claude-code'
  const columns = 'name, type, format, size, modified, bytes, lines, epoch, mark'
  const insert = sql.prepare(`INSERT INTO sources (${columns}) VALUES (?, ?, ?, -1, 0, 0, 0, 0, ?) RETURNING *`)
  return insert.get(file.name, file.type, format, markAt(file.path, 0)) as Source
}

const stepBytes = 16 << 20

function readPart(sql: DatabaseSync, file: ArchiveFile, source: Source): Step {
  for (let length = source.format === 'claude-code' ? stepBytes : file.size; ; length *= 2) {
    const to = Math.min(source.bytes + length, file.size)
    const { bytes, lines, epoch } = readLines(sql, { file, source, to })
    // A line longer than the step: look further.
    if (bytes === source.bytes && to < file.size) continue
    const isDone = to === file.size
    const { size, modified } = isDone ? file : { size: -1, modified: 0 }
    sql
      .prepare('UPDATE sources SET size = ?, modified = ?, bytes = ?, lines = ?, epoch = ?, mark = ? WHERE id = ?')
      .get(size, modified, bytes, lines, epoch, markAt(file.path, bytes), source.id)
    return { reached: isDone ? file.size : bytes, isDone }
  }
}

type Part = { readonly file: ArchiveFile; readonly source: Source; readonly to: number }

/** Returns the end of the last whole line, and the state there. */
function readLines(sql: DatabaseSync, { file, source, to }: Part): Pick<Source, 'bytes' | 'lines' | 'epoch'> {
  const filer = createFiler(sql, source)
  const sink = {
    reader: { read: createRecordReader(source.format), format: () => source.format },
    visit: (entry: Entry) => filer.orSkip(entry.position.line, () => filer.add(entry)),
    problems: [],
  }
  let settled = { bytes: source.bytes, lines: source.lines, epoch: source.epoch }
  forEachLine(
    file.path,
    (line) => {
      // An unfinished line is indexed only at the end of the file, and replaced when the file grows.
      if (!line.ended && to < file.size) return
      filer.orSkip(line.number, () => readLine(line, sink))
      if (line.ended) {
        settled = { bytes: line.offset + (line.end - line.start) + 1, lines: line.number, epoch: filer.epoch() }
      }
    },
    { from: source.bytes, to, linesBefore: source.lines },
  )
  return settled
}

function readResult(sql: DatabaseSync, file: ArchiveFile, source: Source): Step {
  const filer = createFiler(sql, source)
  filer.orSkip(1, () => filer.addResult(file))
  sql
    .prepare('UPDATE sources SET size = ?, modified = ?, bytes = ? WHERE id = ?')
    .get(file.size, file.modified, file.size, source.id)
  return { reached: file.size, isDone: true }
}

function createFiler(sql: DatabaseSync, source: Source) {
  const statements = prepare(sql)
  const keep = pieceAdder(statements, source.name)
  let { epoch } = source
  // Several entries can come from one foreign record; they are numbered.
  let place = { offset: -1, nth: -1, part: -1 }
  return {
    /** The number of compactions of the main conversation so far. */
    epoch: () => epoch,
    add: (entry: Entry) => {
      const { boundary, sidechain, line, offset, length, nth, uuid = null, messageId = null } = headOf(entry)
      if (boundary && !sidechain) epoch++
      const isSame = place.offset === offset && place.nth === nth
      place = { offset, nth, part: isSame ? place.part + 1 : 0 }
      const row = idFrom(statements.entry.get(source.id, line, offset, length, nth, place.part, uuid, messageId))
      const time = Date.parse(stringAt(entry.record, 'timestamp') ?? '')
      const facts = { entry: row, epoch, time: Number.isNaN(time) ? null : time, sidechain }
      for (const [at, piece] of piecesOf(entry.record).entries()) keep(piece, at, facts)
    },
    /** The file is named after the tool use id. */
    addResult: ({ path, size, modified }: ArchiveFile) => {
      const text = readFileSync(path, 'utf8')
      const entry = idFrom(statements.entry.get(source.id, 1, 0, size, 0, 0, null, null))
      const piece = { kind: 'tool-result', text, toolUseId: basename(path, extname(path)) } as const
      keep(piece, 0, { entry, epoch, time: Math.floor(modified), sidechain: false })
    },
    /** Records that something on this line could not be indexed. */
    orSkip: (line: number, add: () => void) => {
      try {
        add()
      } catch (error) {
        statements.skip.get(source.id, line, sizeProblem(error))
      }
    },
  }
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
    skip: sql.prepare('INSERT INTO skipped (source, line, reason) VALUES (?, ?, ?)'),
    touch: sql.prepare('INSERT OR IGNORE INTO touched (path, call) VALUES (?, ?)'),
  }
}

type Facts = {
  readonly entry: number
  readonly epoch: number
  readonly time: number | null
  readonly sidechain: boolean
}

function pieceAdder(statements: ReturnType<typeof prepare>, file: string) {
  // Sub-agents and stored results are in the session's folder.
  const session = file.replace(/\/(subagents|tool-results)\/[^/]+$|\.[^./]+$/, '')
  return (piece: Piece, nth: number, { entry, epoch, time, sidechain }: Facts): void => {
    const call = piece.toolUseId === undefined ? null : idFrom(statements.call.get(session, piece.toolUseId))
    if (call !== null && piece.tool !== undefined) statements.tool.get(piece.tool, call)
    if (call !== null) for (const path of piece.paths ?? []) statements.touch.get(path, call)
    const kind = pieceKinds.indexOf(piece.kind)
    const row = idFrom(statements.piece.get(entry, nth, kind, call, epoch, time, sidechain ? 1 : 0, piece.text.length))
    statements.words.get(row, indexable(piece.text))
  }
}

function idFrom(row: unknown): number {
  return (row as { readonly id: number }).id
}

function removeAfter(sql: DatabaseSync, source: number, line: number): void {
  const after = 'source = ? AND line > ?'
  const entries = `SELECT id FROM entries WHERE ${after}`
  sql.prepare(`DELETE FROM skipped WHERE ${after}`).get(source, line)
  if (sql.prepare(`${entries} LIMIT 1`).get(source, line) === undefined) return
  const pieces = `SELECT id FROM pieces WHERE entry IN (${entries})`
  sql.prepare(`DELETE FROM words WHERE rowid IN (${pieces})`).get(source, line)
  sql.prepare(`DELETE FROM pieces WHERE entry IN (${entries})`).get(source, line)
  sql.prepare(`DELETE FROM entries WHERE ${after}`).get(source, line)
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
