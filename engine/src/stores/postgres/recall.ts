// Recall in the database: the index chooses entries of this session, and their texts decide.
import type { Recalled, RecallMatch } from '../../core/ports/session-store.ts'
import { noPosition } from '../../core/ports/store.ts'
import { readFrom, recallFrom } from '../../core/session/platform.ts'
import type { SessionTables } from './place.ts'
import { recordsOf, type SeqRecord } from './read.ts'
import { storedId } from './row.ts'
import { queryFor, resultQuery } from './words.ts'

const pageSize = 50
/** Entries that have the words but not next to each other are read in vain, so there is an end. */
const mostPages = 20

/** Newest first. */
export async function recallIn(tables: SessionTables, words: string, limit: number): Promise<Recalled> {
  const query = queryFor(words, tables.key)
  const matches: RecallMatch[] = []
  let before = 2 ** 31 - 1
  for (let page = 0; query !== undefined && page < mostPages; page++) {
    const found = await candidates(tables, query, before)
    matches.push(...recallFrom(entriesOf(found.toReversed()), words, Number.POSITIVE_INFINITY).matches)
    if (found.length < pageSize) return { matches: matches.slice(0, limit), more: matches.length > limit }
    if (matches.length > limit) break
    before = found.at(-1)?.seq ?? 0
  }
  return { matches: matches.slice(0, limit), more: query !== undefined }
}

async function candidates(tables: SessionTables, query: string, before: number): Promise<readonly SeqRecord[]> {
  const { schema, run } = tables
  const rows = await run(
    `SELECT seq, id, body, cuts FROM ${schema}.entry
     WHERE tenant = $1 AND session = $2 AND words @@ $3::tsquery AND seq < $4 ORDER BY seq DESC LIMIT ${pageSize}`,
    [query, before],
  )
  return recordsOf(tables, rows)
}

/** By an entry's uuid, or by the id of the call whose result it is. */
export async function readIn(tables: SessionTables, id: string): Promise<string | undefined> {
  const { schema, run, key } = tables
  const rows = await run(
    `SELECT seq, id, body, cuts FROM ${schema}.entry
     WHERE tenant = $1 AND session = $2 AND (id = $3 OR words @@ $4::tsquery) ORDER BY seq LIMIT 10`,
    [storedId(id), resultQuery(id, key)],
  )
  return readFrom(entriesOf(await recordsOf(tables, rows)), id)
}

function entriesOf(records: readonly SeqRecord[]) {
  return records.map(({ record }) => ({ record, position: noPosition }))
}
