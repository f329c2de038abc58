// Other sessions around the one that is measured: written in bulk, since one by one they would take hours.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from 'everlong/internal'
import { serialize } from 'everlong/internal/testing'
import type { TestServer } from '../../../engine/src/stores/testing/postgres-server.ts'

/** How many entries each of them has. */
export const entriesOfOthers = 4

export function fillFolder(folder: string, records: readonly JsonObject[], { from, to }: Range): void {
  mkdirSync(folder, { recursive: true })
  const text = records.slice(0, entriesOfOthers).map(serialize).join('')
  for (let at = from; at < to; at++) writeFileSync(join(folder, `other-${at}.jsonl`), text)
}

export type Range = { readonly from: number; readonly to: number }

/** Copies the first entries of the session, with the word that each other session has in the index. */
export async function fillDatabase(server: TestServer, schema: string, { from, to }: Range): Promise<void> {
  if (to <= from) return
  const ids = `(SELECT 'other-' || n AS id FROM generate_series($1::int, $2::int - 1) AS n) AS other`
  await server.query(
    `INSERT INTO ${schema}.session (tenant, id, head, fence)
     SELECT 'default', other.id, ${entriesOfOthers}, 0 FROM ${ids}`,
    [from, to],
  )
  const word = `'s:' || left(encode(sha256(convert_to('"default\\n' || other.id || '"', 'UTF8')), 'hex'), 32)`
  await server.query(
    `INSERT INTO ${schema}.entry (tenant, session, seq, id, boundary, body, cuts, words)
     SELECT tenant, other.id, seq, entry.id, boundary, body, '',
       array_to_tsvector(array_append(tsvector_to_array(words), ${word}))
     FROM ${ids}, ${schema}.entry WHERE session = 'subject' AND seq <= ${entriesOfOthers}`,
    [from, to],
  )
  await server.query(`VACUUM ANALYZE ${schema}.entry`)
  await server.query(`VACUUM ANALYZE ${schema}.session`)
}
