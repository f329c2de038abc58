// Finds the pieces whose vectors are nearest to the vector of a query. An embedder of the host computes each vector once, and the
// database keeps it.
import type { DatabaseSync } from 'node:sqlite'
import { errorText } from '../../core/message/json.ts'
import type { Embedder } from '../../core/ports/model.ts'
import type { SearchQuery } from '../../core/session/recall-text.ts'
import { headOf } from '../../core/text/cut.ts'
import { contentProblem, inTransaction } from './database.ts'
import { conditionFor } from './find.ts'
import { type Lookup, type PieceRow, piecesWhere, pieceText, StalePlace } from './originals.ts'

export type MeaningOptions = {
  readonly embedder: Embedder
  /** No further batch of texts (newest first) is embedded after this time. Default: 10 seconds. */
  readonly budgetMs?: number
}

export type Nearest = {
  /** Nearest first. */
  readonly ids: readonly number[]
  /** Number of texts without a vector. */
  readonly missing: number
  /** The reason why the embedder could not be used. */
  readonly problem?: string
}

/** Runs a step on the current database, which may have changed while the embedder was working. */
export type Steps = <T>(step: (lookup: Lookup) => T) => T

const batchSize = 64
/** A text usually states its topic at the start, and models cut longer ones anyway. */
const maxCharacters = 2_000
const maxNearest = 100

export async function nearestPieces(run: Steps, query: SearchQuery, options: MeaningOptions): Promise<Nearest> {
  const { embedder } = options
  const problem = await embedMissing(run, options)
  const missing = run(({ sql }) => missingIn(sql, embedder.name))
  const words = query.words?.trim() ?? ''
  if (problem !== undefined || words === '') return { ids: [], missing, ...(problem ? { problem } : {}) }
  const asked = await vectorsOf(embedder, [headOf(words, maxCharacters)])
  if (asked.type === 'failed') return { ids: [], missing, problem: asked.why }
  const [wanted] = asked.vectors
  return { ids: wanted ? run(({ sql }) => nearestTo(sql, wanted, { query, model: embedder.name })) : [], missing }
}

const withoutVector = `p.kind IS NOT NULL AND NOT EXISTS
  (SELECT 1 FROM vectors v WHERE v.piece = p.id AND v.model = ?)`

function missingIn(sql: DatabaseSync, model: string): number {
  return Number(sql.prepare(`SELECT count(*) AS texts FROM pieces p WHERE ${withoutVector}`).get(model)?.texts)
}

async function embedMissing(run: Steps, { embedder, budgetMs = 10_000 }: MeaningOptions): Promise<string | undefined> {
  const deadline = performance.now() + budgetMs
  while (performance.now() < deadline) {
    const batch = run((lookup) => {
      const rows = piecesWhere(lookup.sql, `${withoutVector} ORDER BY p.id DESC LIMIT ${batchSize}`, embedder.name)
      return rows.map((row) => ({ row, text: startOf(lookup, row) }))
    })
    if (batch.length === 0) return undefined
    const made = await vectorsOf(
      embedder,
      batch.map(({ text }) => text),
    )
    if (made.type === 'failed') return made.why
    run(({ sql }) => inTransaction(sql, () => store(sql, embedder.name, { batch, vectors: made.vectors })))
  }
  return undefined
}

/** A text that cannot be read gets the vector of an empty one. */
function startOf(lookup: Lookup, row: PieceRow): string {
  try {
    return headOf(pieceText(lookup, row), maxCharacters)
  } catch (error) {
    if (error instanceof StalePlace) throw error
    contentProblem(error)
    return ''
  }
}

type Made = {
  readonly batch: readonly { readonly row: PieceRow }[]
  readonly vectors: readonly Float32Array[]
}

/** Stores only if the piece is still the same: another process may have removed it and its number may be in use again. */
function store(sql: DatabaseSync, model: string, { batch, vectors }: Made): void {
  const insert = sql.prepare(`INSERT OR REPLACE INTO vectors (piece, model, vector) SELECT id, ?, ? FROM pieces
    WHERE id = ? AND source = ? AND offset = ? AND length = ? AND part = ? AND piece = ?`)
  for (const [at, { row }] of batch.entries()) {
    const vector = vectors[at]
    if (vector === undefined) continue
    const bytes = new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)
    insert.get(model, bytes, row.id, row.source, row.offset, row.length, row.part, row.piece)
  }
}

type Vectors =
  | { readonly type: 'made'; readonly vectors: readonly Float32Array[] }
  | { readonly type: 'failed'; readonly why: string }

async function vectorsOf({ name, embed }: Embedder, texts: readonly string[]): Promise<Vectors> {
  try {
    const vectors = await embed(texts)
    const isUsable = vectors.length === texts.length && vectors.every(({ length }) => length === vectors[0]?.length)
    if (isUsable) return { type: 'made', vectors: vectors.map(unit) }
    return { type: 'failed', why: `${name} must return one vector for each text, all of the same length.` }
  } catch (error) {
    return { type: 'failed', why: `${name} failed: ${errorText(error)}` }
  }
}

/** A vector of length 1. All zeros if it is empty or not made of numbers. */
function unit(vector: ArrayLike<number>): Float32Array {
  const length = Math.sqrt(Array.from(vector).reduce((sum, value) => sum + value * value, 0))
  const isUsable = Number.isFinite(length) && length > 0
  return Float32Array.from(vector, (value) => (isUsable ? value / length : 0))
}

type Compared = { readonly query: SearchQuery; readonly model: string }

const pageSize = 2_000

function nearestTo(sql: DatabaseSync, wanted: Float32Array, { query, model }: Compared): readonly number[] {
  const where = conditionFor(sql, query)
  const page = sql.prepare(`SELECT p.id, v.vector FROM vectors v JOIN pieces p ON p.id = v.piece
    WHERE v.piece > ? AND v.model = ? AND ${where.text} ORDER BY v.piece LIMIT ${pageSize}`)
  let best: { readonly id: number; readonly score: number }[] = []
  for (let after = 0; ; ) {
    const rows = page.all(after, model, ...where.values) as { readonly id: number; readonly vector: Uint8Array }[]
    const scored = rows.map(({ id, vector }) => ({ id, score: similarity(wanted, vector) }))
    best = [...best, ...scored.filter(({ score }) => score > 0)]
      .toSorted((a, b) => b.score - a.score || b.id - a.id)
      .slice(0, maxNearest)
    if (rows.length < pageSize) return best.map(({ id }) => id)
    after = rows.at(-1)?.id ?? after
  }
}

/** Cosine; 0 for vectors of another length. */
function similarity(wanted: Float32Array, stored: Uint8Array): number {
  if (stored.byteLength !== wanted.byteLength) return 0
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength)
  let sum = 0
  for (let at = 0; at < wanted.length; at++) sum += (wanted[at] ?? 0) * view.getFloat32(at * 4, isLittleEndian)
  return sum
}

const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1
