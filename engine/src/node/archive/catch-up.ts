// Updates the database from the files: indexes what is new, removes what is gone, starts over with files that were
// rewritten. Each step is one transaction: several processes can share the work, and a kill loses one step.
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Entry } from '../../core/transcript/format/entry.ts'
import { createRecordReader, type Format } from '../../core/transcript/format/foreign/reader.ts'
import { markAt } from '../index/cache-place.ts'
import { readLine, sniffFormat } from '../read/entries.ts'
import { forEachLine } from '../read/lines.ts'
import { contentProblem, inTransaction, sizeProblem } from './database.ts'
import type { ArchiveFile } from './files.ts'
import { createFiler, removeAfter, removeSources } from './filing.ts'

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

const stepBytes = 16 << 20

export function catchUp(sql: DatabaseSync, files: readonly ArchiveFile[], options: CatchUpOptions = {}): CaughtUp {
  const budget = options.budgetMs ?? Number.POSITIVE_INFINITY
  const deadline = performance.now() + budget
  let steps = 0
  const failed: Unreadable[] = []
  const known = allSources(sql)
  const stale = files.filter((file) => !isSettled(known.get(file.name), file))
  const bytesAll = files.reduce((sum, file) => sum + file.size, 0)
  let bytesDone = bytesAll - stale.reduce((sum, file) => sum + file.size, 0)
  const unreadable = () => [...failed, ...skippedIn(sql, files)]
  removeMissing(sql, known, files)
  for (const file of stale) {
    try {
      let reached = 0
      while (reached < file.size || reached === 0) {
        const isOver = budget <= 0 || (steps > 0 && performance.now() > deadline)
        if (isOver) return { complete: false, bytesDone, bytesAll, unreadable: unreadable() }
        steps++
        const next = inTransaction(sql, () => step(sql, file))
        bytesDone += Math.max(0, next.reached - reached)
        options.onProgress?.(bytesDone, bytesAll)
        if (next.isDone) break
        reached = next.reached
      }
    } catch (error) {
      failed.push({ path: file.path, reason: contentProblem(error) })
    }
  }
  return { complete: true, bytesDone: bytesAll, bytesAll, unreadable: unreadable() }
}

const skippedLimit = 100

function skippedIn(sql: DatabaseSync, files: readonly ArchiveFile[]): readonly Unreadable[] {
  const joined = 'SELECT s.name, k.line, k.reason FROM skipped k JOIN sources s ON s.id = k.source'
  const rows = sql.prepare(`${joined} ORDER BY k.rowid LIMIT ?`).all(skippedLimit) as {
    readonly name: string
    readonly line: number
    readonly reason: string
  }[]
  const paths = new Map(rows.length === 0 ? [] : files.map(({ name, path }) => [name, path]))
  return rows.map(({ name, line, reason }) => ({ path: paths.get(name) ?? name, line, reason }))
}

function allSources(sql: DatabaseSync): ReadonlyMap<string, Source> {
  const all = sql.prepare('SELECT * FROM sources').all() as unknown as Source[]
  return new Map(all.map((source) => [source.name, source]))
}

function sourceOf(sql: DatabaseSync, name: string): Source | undefined {
  return sql.prepare('SELECT * FROM sources WHERE name = ?').get(name) as Source | undefined
}

function isSettled(source: Source | undefined, file: ArchiveFile): boolean {
  return source !== undefined && source.size === file.size && source.modified === file.modified
}

function removeMissing(sql: DatabaseSync, known: ReadonlyMap<string, Source>, files: readonly ArchiveFile[]): void {
  const names = new Set(files.map((file) => file.name))
  const gone = [...known.values()].filter(({ name }) => !names.has(name)).map(({ id }) => id)
  if (gone.length > 0) inTransaction(sql, () => removeSources(sql, gone))
}

type Step = { readonly reached: number; readonly isDone: boolean }

/** Indexes one part of a file, starting where the database is: another process may have continued meanwhile. */
function step(sql: DatabaseSync, file: ArchiveFile): Step {
  const known = sourceOf(sql, file.name)
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

function readPart(sql: DatabaseSync, file: ArchiveFile, source: Source): Step {
  for (let length = source.format === 'claude-code' ? stepBytes : file.size; ; length *= 2) {
    const to = Math.min(source.bytes + length, file.size)
    const part = readLines(sql, { file, source, to })
    // A line longer than the step: look further.
    if (part.bytes === source.bytes && to < file.size) continue
    const isDone = to === file.size
    const settled = isDone ? file : { size: -1, modified: 0 }
    sql
      .prepare('UPDATE sources SET size = ?, modified = ?, bytes = ?, lines = ?, epoch = ?, mark = ? WHERE id = ?')
      .get(settled.size, settled.modified, part.bytes, part.lines, part.epoch, markAt(file.path, part.bytes), source.id)
    return { reached: isDone ? file.size : part.bytes, isDone }
  }
}

type Part = { readonly file: ArchiveFile; readonly source: Source; readonly to: number }

/** Returns the end of the last whole line, and the state there. */
function readLines(sql: DatabaseSync, { file, source, to }: Part): Pick<Source, 'bytes' | 'lines' | 'epoch'> {
  const filer = createFiler(sql, source)
  const read = createRecordReader(source.format)
  const orSkip = (line: number, add: () => void) => {
    try {
      add()
    } catch (error) {
      filer.skip(line, sizeProblem(error))
    }
  }
  const sink = {
    reader: { read, format: () => source.format },
    visit: (entry: Entry) => orSkip(entry.position.line, () => filer.add(entry)),
    problems: [],
  }
  let settled = { bytes: source.bytes, lines: source.lines, epoch: source.epoch }
  forEachLine(
    file.path,
    (line) => {
      // An unfinished line is indexed only at the end of the file, and replaced when the file grows.
      if (!line.ended && to < file.size) return
      orSkip(line.number, () => readLine(line, sink))
      if (line.ended) {
        settled = { bytes: line.offset + (line.end - line.start) + 1, lines: line.number, epoch: filer.epoch() }
      }
    },
    { from: source.bytes, to, linesBefore: source.lines },
  )
  return settled
}

/** The file is named after the tool use id. */
function readResult(sql: DatabaseSync, file: ArchiveFile, source: Source): Step {
  const toolUseId = basename(file.path, extname(file.path))
  const filer = createFiler(sql, source)
  try {
    filer.addResult({ toolUseId, text: readFileSync(file.path, 'utf8'), ...file })
  } catch (error) {
    filer.skip(1, sizeProblem(error))
  }
  sql
    .prepare('UPDATE sources SET size = ?, modified = ?, bytes = ? WHERE id = ?')
    .get(file.size, file.modified, file.size, source.id)
  return { reached: file.size, isDone: true }
}
