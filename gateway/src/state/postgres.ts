// The state of gateways that share a PostgreSQL database. Every statement names the tenant.
import { type Connection, type Migrations, migrate, type Query } from 'everlong/internal/node'
import type { Books, Sum } from '../books/book.ts'
import { decide, type Head, type Heads } from '../identify/heads.ts'
import { type Notes, rowColumns, type State, withoutNulls } from './state.ts'
import { usesIn, usesMigration } from './uses.ts'

/** Names with capitals are quoted, so that rows come back with the names of the books. */
const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

const text = 'text COLLATE "C" NOT NULL'

/** Only ever added at the end. */
const migrations: Migrations = [
  [
    `CREATE TABLE $schema.head (tenant ${text}, digest ${text}, session ${text}, PRIMARY KEY (tenant, digest))`,
    `CREATE INDEX head_session ON $schema.head (tenant, session)`,
    `CREATE TABLE $schema.tip (tenant ${text}, session ${text}, digest ${text}, depth integer NOT NULL, PRIMARY KEY (tenant, session))`,
    `CREATE TABLE $schema.note (tenant ${text}, session ${text}, kind ${text}, text text NOT NULL, PRIMARY KEY (tenant, session, kind))`,
    `CREATE TABLE $schema.request (
      "id" ${text} PRIMARY KEY, "time" bigint NOT NULL, "kind" text NOT NULL, "tenant" ${text}, "key" text NOT NULL, "user" text,
      "session" ${text}, "api" text NOT NULL, "upstream" text NOT NULL, "model" text NOT NULL, "level" text NOT NULL,
      "status" integer NOT NULL, "input" bigint NOT NULL, "output" bigint NOT NULL, "cacheRead" bigint NOT NULL,
      "cacheWrite" bigint NOT NULL, "cacheWriteHour" bigint NOT NULL, "cost" float8, "cache" text, "missCost" float8,
      "removed" bigint NOT NULL, "saved" float8, "ms" bigint NOT NULL
    )`,
    `CREATE INDEX request_time ON $schema.request ("tenant", "time")`,
    `CREATE INDEX request_user ON $schema.request ("tenant", "user") WHERE "user" IS NOT NULL`,
  ],
  usesMigration,
  // For the report of all tenants.
  [`CREATE INDEX request_times ON $schema.request ("time")`],
]

export type PostgresState = State & {
  /** Creates or updates the tables. Every other call does so too. */
  readonly ready: () => Promise<void>
}

/** Calls throw a StoreError if the database cannot be used. */
export function postgresState(connection: Connection, schema: string): PostgresState {
  let made: Promise<void> | undefined
  const ready = () => {
    made ??= migrate(connection, schema, migrations).catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
  const run: Query = async (statement, values) => {
    await ready()
    return connection.query(statement.replaceAll('$schema', `"${schema}"`), values)
  }
  const count = async (statement: string, values: readonly unknown[]) => {
    const [row] = await run(`WITH done AS (${statement} RETURNING 1) SELECT count(*) AS count FROM done`, values)
    return Number(row?.count)
  }
  return {
    ready,
    uses: usesIn(run),
    ...{ books: booksIn(run), notes: notesIn(run), heads: headsIn({ run, ready, connection, schema }) },
    tenants: async () => {
      // Steps from one tenant to the next in the index, because there are few tenants and many rows.
      const rows = await run(
        `WITH RECURSIVE found AS (
           (SELECT "tenant" FROM $schema.request ORDER BY "tenant" LIMIT 1)
           UNION ALL
           SELECT (SELECT "tenant" FROM $schema.request WHERE "tenant" > found."tenant" ORDER BY "tenant" LIMIT 1)
           FROM found WHERE found."tenant" IS NOT NULL
         ) SELECT "tenant" FROM found WHERE "tenant" IS NOT NULL`,
        [],
      )
      return rows.map(({ tenant }) => String(tenant))
    },
    sessionsOf: async (tenant, user) => {
      const statement = `SELECT DISTINCT "session" FROM $schema.request WHERE "tenant" = $1 AND "user" = $2 ORDER BY 1`
      return (await run(statement, [tenant, user])).map(({ session }) => String(session))
    },
    forget: async (tenant, sessions) => {
      let removed = 0
      for (const table of ['head', 'tip', 'note']) {
        removed += await count(`DELETE FROM $schema.${table} WHERE tenant = $1 AND session = ANY($2)`, [
          tenant,
          sessions,
        ])
      }
      return removed
    },
    anonymize: (tenant, user) =>
      count(
        `UPDATE $schema.request SET "user" = NULL, "key" = '', "session" = '' WHERE "tenant" = $1 AND "user" = $2`,
        [tenant, user],
      ),
    expire: ({ tenant, before }) =>
      count('DELETE FROM $schema.request WHERE "tenant" = $1 AND "time" < $2', [tenant, before]),
    close: connection.close,
  }
}

type Claiming = {
  readonly run: Query
  readonly ready: () => Promise<void>
  readonly connection: Connection
  readonly schema: string
}

function headsIn({ run, ready, connection, schema }: Claiming): Heads {
  return {
    claim: async (claim) => {
      const { tenant, places } = claim
      const digests = places.map(({ digest }) => digest)
      await ready()
      return connection.transaction(async (query) => {
        // Claims that begin with the same message wait for each other. Released at the end of the transaction.
        await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`${schema} ${tenant} ${digests[0]}`])
        const rows = await query(
          `SELECT head.digest, head.session, tip.digest AS tip, tip.depth FROM "${schema}".head
           LEFT JOIN "${schema}".tip ON tip.tenant = head.tenant AND tip.session = head.session
           WHERE head.tenant = $1 AND head.digest = ANY($2)`,
          [tenant, digests],
        )
        const { added, ...claimed } = decide(claim, rows.map(headOf))
        if (added.length > 0) {
          await query(
            `INSERT INTO "${schema}".head SELECT $1, digest, $3 FROM unnest($2::text[]) AS new (digest) ON CONFLICT DO NOTHING`,
            [tenant, added.map(({ digest }) => digest), claimed.session],
          )
        }
        return claimed
      })
    },
    answered: async (tenant, session, { digest, depth }) => {
      await run(
        `WITH head AS (INSERT INTO $schema.head VALUES ($1, $3, $2) ON CONFLICT DO NOTHING)
         INSERT INTO $schema.tip AS tip (tenant, session, digest, depth) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant, session) DO UPDATE SET digest = excluded.digest, depth = excluded.depth
         WHERE excluded.depth >= tip.depth`,
        [tenant, session, digest, depth],
      )
    },
  }
}

function headOf({ digest, session, tip, depth }: Readonly<Record<string, unknown>>): Head {
  const isAnswered = typeof tip === 'string'
  return {
    ...{ digest: String(digest), session: String(session) },
    tip: isAnswered ? { digest: tip, depth: Number(depth) } : undefined,
  }
}

function notesIn(run: Query): Notes {
  const where = 'WHERE tenant = $1 AND session = $2 AND kind = $3'
  return {
    get: async (...place) => {
      const [row] = await run(`SELECT text FROM $schema.note ${where}`, place)
      return row && String(row.text)
    },
    put: async (...values) => {
      await run(
        `INSERT INTO $schema.note VALUES ($1, $2, $3, $4) ON CONFLICT (tenant, session, kind) DO UPDATE SET text = excluded.text`,
        values,
      )
    },
    remove: async (...place) => {
      await run(`DELETE FROM $schema.note ${where}`, place)
    },
  }
}

const grouped = quoted(['kind', 'tenant', 'model', 'level', 'cache'])

function booksIn(run: Query): Books {
  return {
    add: async (row) => {
      const places = rowColumns.map((_, at) => `$${at + 1}`).join(', ')
      await run(
        `INSERT INTO $schema.request (${quoted(rowColumns)}) VALUES (${places}) ON CONFLICT DO NOTHING`,
        rowColumns.map((name) => row[name] ?? null),
      )
    },
    sums: async ({ tenant = null, since = 0 }) => {
      const total = (name: string) => `coalesce(sum("${name}"), 0)::float8 AS "${name}"`
      const rows = await run(
        `SELECT ${grouped}, count(*)::float8 AS requests,
           count(*) FILTER (WHERE "status" >= 400 OR "status" = 0)::float8 AS failed,
           count(*) FILTER (WHERE "cost" IS NULL)::float8 AS unpriced,
           ${['input', 'output', 'cacheRead', 'cacheWrite', 'cost', 'missCost', 'removed', 'saved'].map(total).join(', ')}
         FROM $schema.request WHERE "time" >= $1 AND ($2::text IS NULL OR "tenant" = $2)
         GROUP BY ${grouped} ORDER BY ${grouped}`,
        [since, tenant],
      )
      return rows.map((row) => withoutNulls(row) as unknown as Sum)
    },
  }
}
