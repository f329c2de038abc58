// A session that this process holds: a row with a lease on the database's clock and a fence. Every new holder gets a higher
// fence, and every append names its own, so a writer that slept past its lease changes nothing.
import {
  type Appended,
  type HeldSession,
  type OpenOptions,
  type OpenResult,
  type StoredRecord,
  StoreError,
} from '../../core/ports/session-store.ts'
import { isAlreadyStored } from '../rules.ts'
import { codeOf, type SessionTables } from './connection.ts'
import { entriesFrom, idsAfter, readIn, recallByIndex, windowOf } from './read.ts'
import { rowOf, storedId } from './row.ts'

export async function takeSession(tables: SessionTables, options: OpenOptions): Promise<OpenResult> {
  const { id } = tables
  const { as, owner = 'everlong', isAppendOnly = false } = options
  const [row] = as === 'new' ? await insertSession(tables, options, owner) : await take(tables, owner)
  if (row) {
    const taken = { head: Number(row.head), fence: String(row.fence) }
    const held = heldSession(tables, taken)
    if (isAppendOnly) return { type: 'opened', session: { ...held, entries: [], isWhole: taken.head === 0 } }
    try {
      const window = await windowOf(tables, taken.head)
      return { type: 'opened', session: { ...held, ...window } }
    } catch (error) {
      await held.release()
      throw error
    }
  }
  if (as === 'new') return { type: 'exists' }
  const holder = await stateOf(tables)
  if (!holder) return { type: 'missing' }
  // Its holder released it in the meantime. If another process is faster now, that one is the holder.
  if (holder.isFree) return takeSession(tables, options)
  const by = holder.owner ?? 'another writer'
  const why = `The session ${id} is being written by ${by}. If that process has ended, the session is free in ${holder.seconds} s.`
  return { type: 'held', by, why }
}

type Taken = { readonly head: number; readonly fence: string }

export const isFree = '(lease_until IS NULL OR lease_until < clock_timestamp())'

const leaseUntil = (place: string) => `clock_timestamp() + ${place}::float8 * interval '1 millisecond'`

function insertSession({ schema, run, leaseMs }: SessionTables, { user, parent }: OpenOptions, owner: string) {
  return run(
    `INSERT INTO ${schema}.session (tenant, id, user_id, parent, owner, fence, lease_until)
     VALUES ($1, $2, $3, $4, $5, nextval('${schema}.fence'), ${leaseUntil('$6')})
     ON CONFLICT DO NOTHING RETURNING head, fence`,
    [user ?? null, parent ?? null, owner, leaseMs],
  )
}

/** If several try at once, the row admits one; the others then see its lease. */
function take({ schema, run, leaseMs }: SessionTables, owner: string) {
  return run(
    `UPDATE ${schema}.session SET fence = nextval('${schema}.fence'), owner = $3, lease_until = ${leaseUntil('$4')}
     WHERE tenant = $1 AND id = $2 AND ${isFree}
     RETURNING head, fence`,
    [owner, leaseMs],
  )
}

async function stateOf({ schema, run }: SessionTables) {
  const [row] = await run(
    `SELECT owner, fence, head, ${isFree} AS free,
       greatest(0, ceil(extract(epoch FROM lease_until - clock_timestamp()))) AS seconds
     FROM ${schema}.session WHERE tenant = $1 AND id = $2`,
    [],
  )
  if (!row) return undefined
  const owner = typeof row.owner === 'string' ? row.owner : undefined
  const [head, seconds] = [Number(row.head), Number(row.seconds ?? 0)]
  return { owner, isFree: row.free === true, fence: String(row.fence), head, seconds }
}

type Holding = Omit<HeldSession, 'entries' | 'isWhole'>

function heldSession(tables: SessionTables, { head, fence }: Taken): Holding {
  const { schema, run, leaseMs } = tables
  let isReleased = false
  const renew = async () => {
    try {
      await run(
        `UPDATE ${schema}.session SET lease_until = ${leaseUntil('$4')}
         WHERE tenant = $1 AND id = $2 AND fence = $3 AND lease_until IS NOT NULL`,
        [fence, leaseMs],
      )
    } catch (error) {
      // The next append reports it, and also renews the lease.
      if (!(error instanceof StoreError)) throw error
    }
  }
  const timer = setInterval(() => void renew(), leaseMs / 3)
  timer.unref?.()
  return {
    id: tables.id,
    version: head,
    append: async (records, expected) => {
      if (!isReleased) return append(tables, { records, expected, fence })
      return { type: 'refused', why: `The session ${tables.id} is closed. Open it again to write.`, reason: 'closed' }
    },
    all: () => entriesFrom(tables),
    idsAfter: (version) => idsAfter(tables, version),
    recall: (words, limit) => recallByIndex(tables, words, limit),
    read: (id) => readIn(tables, id),
    release: async () => {
      if (isReleased) return
      isReleased = true
      clearInterval(timer)
      try {
        await run(
          `UPDATE ${schema}.session SET lease_until = NULL, owner = NULL
           WHERE tenant = $1 AND id = $2 AND fence = $3`,
          [fence],
        )
      } catch (error) {
        // The lease ends by itself.
        if (!(error instanceof StoreError)) throw error
      }
    },
  }
}

type AppendInput = { readonly records: readonly StoredRecord[]; readonly expected: number; readonly fence: string }

async function append(tables: SessionTables, input: AppendInput): Promise<Appended> {
  try {
    const isStored = await insert(tables, input)
    if (isStored) return { type: 'stored', version: input.expected + input.records.length }
    return await whyNotInserted(tables, input)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    const { message: why, reason } = error
    if (reason === 'unavailable') return { type: 'unavailable', why }
    if (codeOf(error) !== '23505') return { type: 'refused', why, reason }
    return { type: 'refused', why: `A record has a uuid that the session ${tables.id} has already.`, reason: 'invalid' }
  }
}

/** One statement: everything or nothing, in one round trip. */
async function insert({ schema, run, leaseMs, key }: SessionTables, input: AppendInput): Promise<boolean> {
  const { records, expected, fence } = input
  const rows = records.map((record) => rowOf(record, key))
  const entries = rows.map(({ row }) => row)
  const blobs = [...new Map(rows.flatMap((row) => row.blobs.map((blob) => [blob.hash, blob] as const))).values()]
  const [moved] = await run(
    `WITH moved AS (
       UPDATE ${schema}.session
       SET head = head + $5, changed = clock_timestamp(), lease_until = ${leaseUntil('$6')}
       WHERE tenant = $1 AND id = $2 AND head = $3 AND fence = $4
       RETURNING head
     ), large AS (
       INSERT INTO ${schema}.blob (tenant, session, hash, body)
       SELECT $1, $2, hash, body FROM moved, unnest($12::text[], $13::text[]) AS blob (hash, body)
       ON CONFLICT DO NOTHING
     ), added AS (
       INSERT INTO ${schema}.entry (tenant, session, seq, id, boundary, body, cuts, words)
       SELECT $1, $2, $3 + nth, new.id, boundary, body, cuts, array_to_tsvector(string_to_array(words, ' '))
       FROM moved, unnest($7::text[], $8::boolean[], $9::text[], $10::text[], $11::text[])
         WITH ORDINALITY AS new (id, boundary, body, cuts, words, nth)
     )
     SELECT head FROM moved`,
    [
      expected,
      fence,
      records.length,
      leaseMs,
      entries.map(({ id }) => id),
      entries.map(({ boundary }) => boundary),
      entries.map(({ body }) => body),
      entries.map(({ cuts }) => cuts),
      entries.map(({ words }) => words),
      blobs.map(({ hash }) => hash),
      blobs.map(({ body }) => body),
    ],
  )
  return moved !== undefined
}

/** The reason: an earlier attempt succeeded, another writer has the session, or it is gone. */
async function whyNotInserted(tables: SessionTables, { records, expected, fence }: AppendInput): Promise<Appended> {
  const { schema, run, id } = tables
  const following = await run(
    `SELECT id FROM ${schema}.entry
     WHERE tenant = $1 AND session = $2 AND seq > $3 AND seq <= $3 + $4 ORDER BY seq`,
    [expected, records.length],
  )
  const stored = following.map((row) => String(row.id))
  const sent = records.map((record) => storedId(record.id))
  if (isAlreadyStored(stored, sent)) return { type: 'stored', version: expected + records.length }
  const state = await stateOf(tables)
  const lost = (why: string): Appended => ({ type: 'refused', why, reason: 'lost' })
  if (!state) return lost(`The session ${id} was erased.`)
  if (state.fence === fence) return lost(`The session ${id} is at version ${state.head}, not ${expected}.`)
  if (state.owner !== undefined) return lost(`The session ${id} was taken over by ${state.owner}.`)
  return lost(`The session ${id} was taken over by another writer, which has released it since.`)
}
