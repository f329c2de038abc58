// Reads entries: all of them in pages, the end of a session from which its view can be computed, or the matches of a search.

import {
  entriesOf,
  noPosition,
  type Recalled,
  type Searched,
  type StoredRecord,
} from '../../core/ports/session-store.ts'
import { rank } from '../../core/recall/rank.ts'
import { parseTerms, type Term } from '../../core/recall/terms.ts'
import { type NumberedEntry, readFrom, recallingAt } from '../../core/session/recall-entries.ts'
import { doNow } from '../../core/text/slices.ts'
import { type Entry, readHead } from '../../core/transcript/format/entry.ts'
import { isSelfContained } from '../../core/transcript/tree/changes.ts'
import { liveWindow } from '../../core/transcript/tree/live.ts'
import { type Row, type SessionTables, sessionTables, type Tables } from './connection.ts'
import { anywhere, hashesIn, queryFor, recordOf, resultQuery, storedId } from './row.ts'

const pageSize = 500

type SeqRecord = StoredRecord & { readonly seq: number }

/** From one position up to another, oldest first. */
export async function* recordsFrom(tables: SessionTables, from = 1, upTo = 2 ** 31 - 1): AsyncGenerator<SeqRecord> {
  const { schema, run } = tables
  for (let next = from; ; ) {
    const rows = await run(
      `SELECT seq, id, body, cuts FROM ${schema}.entry
       WHERE tenant = $1 AND session = $2 AND seq BETWEEN $3 AND $4 ORDER BY seq LIMIT ${pageSize}`,
      [next, upTo],
    )
    const page = await recordsOf(tables, rows)
    yield* page
    if (rows.length < pageSize) return
    next = (page.at(-1)?.seq ?? upTo) + 1
  }
}

/** The records of rows with seq, id, body and cuts. */
async function recordsOf({ schema, run }: SessionTables, rows: readonly Row[]): Promise<readonly SeqRecord[]> {
  const hashes = [...new Set(rows.flatMap(({ cuts }) => hashesIn(String(cuts))))]
  const found =
    hashes.length === 0
      ? []
      : await run(`SELECT hash, body FROM ${schema}.blob WHERE tenant = $1 AND session = $2 AND hash = ANY($3)`, [
          hashes,
        ])
  const blobs = new Map(found.map(({ hash, body }) => [String(hash), String(body)]))
  return rows.map(({ seq, id, body, cuts }) => {
    const missing = hashesIn(String(cuts)).find((hash) => !blobs.has(hash))
    if (missing !== undefined) throw new Error(`A large text of entry ${String(id)} is missing from the database.`)
    return { seq: Number(seq), id: String(id), record: recordOf(String(body), String(cuts), blobs) }
  })
}

export async function entriesFrom(tables: SessionTables, from = 1, upTo?: number): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  for await (const { record } of recordsFrom(tables, from, upTo)) entries.push({ record, position: noPosition })
  return entries
}

export async function idsAfter({ schema, run }: SessionTables, version: number): Promise<readonly string[]> {
  const rows = await run(
    `SELECT id FROM ${schema}.entry WHERE tenant = $1 AND session = $2 AND seq > $3 ORDER BY seq`,
    [version],
  )
  return rows.map(({ id }) => String(id))
}

/** The entries of one answer are close together. With this many entries before the window, no answer is cut off. */
const margin = 100

type Window = { readonly entries: readonly Entry[]; readonly isWhole: boolean }

/** From a little before the last boundary, or from the earliest entry that the window refers to. */
export async function windowOf(tables: SessionTables, head: number): Promise<Window> {
  let from = await startBefore(tables, head)
  let entries = await entriesFrom(tables, from, head)
  while (from > 1) {
    const earlier = await neededBefore(tables, { entries, from })
    if (earlier === undefined) break
    const start = Math.max(1, earlier)
    entries = [...(await entriesFrom(tables, start, from - 1)), ...entries]
    from = start
  }
  if (from > 1 && !isSelfContained(entries)) {
    entries = [...(await entriesFrom(tables, 1, from - 1)), ...entries]
    from = 1
  }
  return { entries, isWhole: from === 1 }
}

/** Some entries before the newest boundary up to this position. */
async function startBefore({ schema, run }: SessionTables, upTo: number): Promise<number> {
  const [row] = await run(
    `SELECT max(seq) AS seq FROM ${schema}.entry WHERE tenant = $1 AND session = $2 AND boundary AND seq <= $3`,
    [upTo],
  )
  return Math.max(1, Number(row?.seq ?? 0) - margin)
}

/** The position from which to read too. Undefined if the window is complete. */
async function neededBefore(
  tables: SessionTables,
  { entries, from }: { readonly entries: readonly Entry[]; readonly from: number },
): Promise<number | undefined> {
  const live = liveWindow(entries.map(readHead))
  const first = await firstOf(tables, live.missing, from)
  if (first !== undefined) return first - margin
  return live.order.every((row) => row >= margin) ? undefined : startBefore(tables, from - 1)
}

async function firstOf({ schema, run }: SessionTables, ids: readonly string[], before: number) {
  if (ids.length === 0) return undefined
  const [row] = await run(
    `SELECT min(seq) AS seq FROM ${schema}.entry WHERE tenant = $1 AND session = $2 AND id = ANY($3) AND seq < $4`,
    [ids.map(storedId), before],
  )
  return row?.seq === null || row?.seq === undefined ? undefined : Number(row.seq)
}

/** For each term, this many of the newest entries are considered. */
const maxOfTerm = 1_000
/** Number of entries that are read in full, the best by the index. */
const maxRead = 100

/** The index selects entries of this session, and their texts decide. */
export async function recallByIndex(tables: SessionTables, words: string, limit: number): Promise<Recalled> {
  const terms = parseTerms(words)
  if (terms.length === 0) return { matches: [], more: false }
  const chosen = await candidates(tables, terms)
  const found = await entriesAt(tables, chosen.slice(0, Math.max(maxRead, limit)))
  const entries = found.map(({ seq, record }) => ({ record, place: seq }))
  const { matches, more } = doNow(recallingAt(entries, words, limit))
  return { matches, more: more || chosen.length > entries.length }
}

/** The positions of entries with words of the terms, best first by what the index knows: which entries have which words. */
async function candidates({ schema, run, key }: SessionTables, terms: readonly Term[]): Promise<readonly number[]> {
  const rows = await run(
    `SELECT term.nth, entry.seq FROM unnest($3::text[]) WITH ORDINALITY AS term (query, nth)
     CROSS JOIN LATERAL (
       SELECT seq FROM ${schema}.entry WHERE tenant = $1 AND session = $2 AND words @@ term.query::tsquery
       ORDER BY seq DESC LIMIT ${maxOfTerm}
     ) AS entry`,
    [terms.map((term) => queryFor(term, key))],
  )
  const found = terms.map((_, at) => {
    const seqs = rows.filter(({ nth }) => Number(nth) === at + 1).map(({ seq }) => Number(seq))
    const hits = seqs.map((seq) => ({ id: seq, place: seq, file: 0, session: 0, weight: 1 }))
    // The texts decide whether a phrase matches.
    return { hits, texts: hits.length, isRequired: false }
  })
  const texts = new Set(rows.map(({ seq }) => Number(seq))).size
  return rank(found, { texts, sessions: new Map([[0, texts]]) }).map(({ id }) => id)
}

/** In all sessions of the tenant. For each term, considers entries of the most recently changed sessions. */
export async function searchByIndex(tables: Tables, words: string, limit: number): Promise<Searched> {
  const terms = parseTerms(words)
  if (terms.length === 0) return { matches: [], more: false }
  const { schema, run } = tables
  const rows = await run(
    `SELECT term.nth, entry.session, entry.seq FROM unnest($2::text[]) WITH ORDINALITY AS term (query, nth)
     CROSS JOIN LATERAL (
       SELECT found.session, found.seq FROM ${schema}.entry AS found
       JOIN ${schema}.session AS whole ON whole.tenant = found.tenant AND whole.id = found.session
       WHERE found.tenant = $1 AND found.words @@ term.query::tsquery
       ORDER BY whole.changed DESC, found.seq DESC LIMIT ${maxOfTerm}
     ) AS entry`,
    [terms.map(anywhere)],
  )
  const counts = new Map<string, number>()
  for (const { session, seq } of rows) {
    const place = JSON.stringify([session, seq])
    counts.set(place, (counts.get(place) ?? 0) + 1)
  }
  // Entries with most of the terms first, then in the order of the database: newest first.
  const best = [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([place]): [string, number] => JSON.parse(place))
  const chosen = best.slice(0, Math.max(maxRead, limit))
  const entries: (NumberedEntry & { readonly session: string })[] = []
  for (const session of new Set(chosen.map(([own]) => own))) {
    const seqs = chosen.filter(([own]) => own === session).map(([, seq]) => seq)
    const found = await entriesAt(sessionTables(tables, session), seqs)
    for (const { record } of found) entries.push({ record, place: entries.length, session })
  }
  const sessionOf = new Map(entries.map(({ record, session }) => [record.uuid, session]))
  const { matches, more } = doNow(recallingAt(entries, words, limit))
  const placed = matches.map((match) => ({ ...match, session: sessionOf.get(match.id) ?? '' }))
  return { matches: placed, more: more || best.length > entries.length }
}

async function entriesAt(tables: SessionTables, seqs: readonly number[]): Promise<readonly SeqRecord[]> {
  const { schema, run } = tables
  const rows = await run(
    `SELECT seq, id, body, cuts FROM ${schema}.entry
     WHERE tenant = $1 AND session = $2 AND seq = ANY($3) ORDER BY seq`,
    [seqs],
  )
  return recordsOf(tables, rows)
}

/** By an entry's uuid, or by the id of the call of a result. */
export async function readIn(tables: SessionTables, id: string): Promise<string | undefined> {
  const { schema, run, key } = tables
  const rows = await run(
    `SELECT seq, id, body, cuts FROM ${schema}.entry
     WHERE tenant = $1 AND session = $2 AND (id = $3 OR words @@ $4::tsquery) ORDER BY seq LIMIT 10`,
    [storedId(id), resultQuery(id, key)],
  )
  return readFrom(entriesOf(await recordsOf(tables, rows)), id)
}
