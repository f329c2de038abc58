// Updates the database from the files: indexes new records, removes deleted ones, starts over with rewritten files. Each step is
// one transaction, so several processes can share the work and a kill loses one step.
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import { stringAt } from '../../core/message/json.ts'
import { indexable } from '../../core/recall/terms.ts'
import { type Entry, readHead } from '../../core/transcript/format/entry.ts'
import { createRecordReader, type Format } from '../../core/transcript/format/reader.ts'
import { type RecordText, textsOf } from '../../core/transcript/format/record-texts.ts'
import { markAt } from '../index/cache-place.ts'
import { forEachLine, type Line, readLine, sniffFormat } from '../read/entries.ts'
import { contentProblem, inTransaction, sizeProblem } from './database.ts'
import { type ArchiveFile, sessionOf } from './files.ts'

export type CaughtUp = {
  /** False if the time ran out. Everything indexed so far can be searched. */
  readonly complete: boolean
  readonly bytesDone: number
  readonly bytesAll: number
  /** Files that could not be read and lines that could not be indexed, at most 100. */
  readonly unreadable: readonly Unreadable[]
}

export type Unreadable = { readonly path: string; readonly line?: number; readonly reason: string }

export type CatchUpOptions = {
  /** No step starts after this time. Above 0, at least one step runs. Default: no limit. */
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
  readonly texts: number
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
      for (let reached = -1; reached < file.size; ) {
        if (budgetMs <= 0 || (steps++ > 0 && performance.now() > deadline)) return result(false)
        const next = inTransaction(sql, () => step(sql, file))
        bytesDone += Math.max(0, next - Math.max(0, reached))
        onProgress?.(bytesDone, bytesAll)
        reached = next
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

/**
 * Indexes one part of a file from the position in the database, because another process may have continued meanwhile. Returns the
 * end of the part, which for the last one is the size of the file.
 */
function step(sql: DatabaseSync, file: ArchiveFile): number {
  const known = sql.prepare('SELECT * FROM sources WHERE name = ?').get(file.name) as Source | undefined
  if (isSettled(known, file)) return file.size
  const continues = known !== undefined && continuesIn(known, file)
  if (known !== undefined && !continues) removeSources(sql, [known.id])
  const source = continues ? known : addSource(sql, file)
  removeAfter(sql, source.id, source.lines)
  const { bytes, lines, epoch, texts, isWhole } = addFile(sql, file, source)
  const { size, modified } = isWhole ? file : { size: -1, modified: 0 }
  sql
    .prepare(
      'UPDATE sources SET size = ?, modified = ?, bytes = ?, lines = ?, epoch = ?, texts = ?, mark = ? WHERE id = ?',
    )
    .get(size, modified, bytes, lines, epoch, texts, markAt(file.path, bytes), source.id)
  return isWhole ? file.size : bytes
}

/** Whether the indexed part of the file is unchanged. */
function continuesIn(known: Source, file: ArchiveFile): boolean {
  // Foreign records are converted in order, from the first one; a result is one piece.
  if (known.format !== 'claude-code' || known.type !== 'transcript') return false
  return known.bytes <= file.size && known.mark === markAt(file.path, known.bytes)
}

function addSource(sql: DatabaseSync, file: ArchiveFile): Source {
  const format = (file.type === 'transcript' && sniffFormat(file.path)) || 'claude-code'
  const columns = 'name, type, format, size, modified, bytes, lines, epoch, texts, mark'
  const insert = sql.prepare(`INSERT INTO sources (${columns}) VALUES (?, ?, ?, -1, 0, 0, 0, 0, 0, '') RETURNING *`)
  return insert.get(file.name, file.type, format) as Source
}

const stepBytes = 16 << 20

/** The end of the last whole line, and the state there. */
type Part = Pick<Source, 'bytes' | 'lines' | 'epoch' | 'texts'> & { readonly isWhole: boolean }

function addFile(sql: DatabaseSync, file: ArchiveFile, source: Source): Part {
  const adder = createAdder(sql, source)
  if (file.type === 'result') {
    adder.orSkip(1, () => adder.addResult(file))
    return { bytes: file.size, lines: 0, epoch: 0, texts: 1, isWhole: true }
  }
  const sink = {
    reader: { read: createRecordReader(source.format), format: () => source.format },
    visit: (entry: Entry) => adder.orSkip(entry.position.line, () => adder.addEntry(entry)),
  }
  let { bytes, lines, epoch, texts } = source
  let isWhole = true
  const visit = (line: Line) => {
    adder.orSkip(line.number, () => readLine(line, sink))
    // An unfinished line is replaced when the file grows.
    if (!line.ended) return
    bytes = line.offset + (line.end - line.start) + 1
    lines = line.number
    epoch = adder.epoch()
    texts = adder.texts()
    isWhole = source.format !== 'claude-code' || bytes < source.bytes + stepBytes || bytes >= file.size
    return isWhole
  }
  forEachLine(file.path, visit, { from: source.bytes, linesBefore: source.lines })
  return { bytes, lines, epoch, texts, isWhole }
}

/**
 * Call these with `get`, never `run`: after FTS5 inserted a row of its own, `run` throws because that row's id is too
 * large for JavaScript.
 */
function prepare(sql: DatabaseSync) {
  const insert = (into: string, columns: string, rest = '') =>
    sql.prepare(`INSERT ${into} (${columns}) VALUES (${columns.replace(/\w+/g, '?')}) ${rest}`)
  const place = 'source, line, offset, length, nth, part, uuid, message, epoch, time, sidechain'
  return {
    piece: insert('INTO pieces', `${place}, piece, kind, call, characters, place`, 'RETURNING id'),
    words: insert('INTO words', 'rowid, text'),
    call: insert('INTO calls', 'session, tool_use_id', 'ON CONFLICT DO UPDATE SET tool = tool RETURNING id'),
    tool: sql.prepare('UPDATE calls SET tool = ? WHERE id = ?'),
    touch: insert('OR IGNORE INTO touched', 'path, call'),
    skip: insert('INTO skipped', 'source, line, reason'),
  }
}

function createAdder(sql: DatabaseSync, source: Source) {
  const { piece: addRow, words, call: addCall, tool: setTool, touch, skip } = prepare(sql)
  const session = sessionOf(source.name)
  let { epoch, texts } = source
  // Several entries can come from one foreign record; they are numbered.
  let last = { offset: -1, nth: -1 }
  let part = 0

  const addPiece = (place: readonly SQLInputValue[], piece: RecordText, nth: number): void => {
    const call = piece.toolUseId === undefined ? null : idFrom(addCall.get(session, piece.toolUseId))
    if (call !== null && piece.tool !== undefined) setTool.get(piece.tool, call)
    if (call !== null) for (const path of piece.paths ?? []) touch.get(path, call)
    words.get(idFrom(addRow.get(...place, nth, piece.kind, call, piece.text.length, texts++)), indexable(piece.text))
  }
  return {
    /** The number of compactions of the main conversation so far. */
    epoch: () => epoch,
    texts: () => texts,
    addEntry: (entry: Entry) => {
      const { boundary, sidechain, line, offset, length, nth, uuid = null, messageId = null } = readHead(entry)
      if (boundary && !sidechain) epoch++
      part = last.offset === offset && last.nth === nth ? part + 1 : 0
      last = { offset, nth }
      const time = Date.parse(stringAt(entry.record, 'timestamp') ?? '')
      const ids = [source.id, line, offset, length, nth, part, uuid, messageId]
      const place = [...ids, epoch, Number.isNaN(time) ? null : time, sidechain ? 1 : 0]
      const pieces = textsOf(entry.record)
      if (pieces.length === 0) addRow.get(...place, 0, null, null, 0, texts)
      for (const [at, piece] of pieces.entries()) addPiece(place, piece, at)
    },
    /** The file is named after the tool use id. */
    addResult: ({ path, size, modified }: ArchiveFile) => {
      const text = readFileSync(path, 'utf8')
      const place = [source.id, 1, 0, size, 0, 0, null, null, epoch, Math.floor(modified), 0]
      addPiece(place, { kind: 'tool-result', text, toolUseId: basename(path, extname(path)) }, 0)
    },
    /** Records that something on this line could not be indexed. */
    orSkip: (line: number, add: () => void) => {
      try {
        add()
      } catch (error) {
        skip.get(source.id, line, sizeProblem(error))
      }
    },
  }
}

function idFrom(row: unknown): number {
  return (row as { readonly id: number }).id
}

function removeAfter(sql: DatabaseSync, source: number, line: number): void {
  const after = 'source = ? AND line > ?'
  for (const [table, id] of [
    ['words', 'rowid'],
    ['vectors', 'piece'],
  ])
    sql.prepare(`DELETE FROM ${table} WHERE ${id} IN (SELECT id FROM pieces WHERE ${after})`).get(source, line)
  for (const table of ['pieces', 'skipped']) sql.prepare(`DELETE FROM ${table} WHERE ${after}`).get(source, line)
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
