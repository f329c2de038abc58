// The tables, and the migration of older databases. Migrations are only ever added at the end. The gateway creates its own tables
// in the same way.
import { StoreError } from '../../core/ports/session-store.ts'
import type { Connection, Query } from './connection.ts'

/** Statements for each version of the tables, oldest first. `$schema` is replaced with the name of the schema. */
export type Migrations = readonly (readonly string[])[]

export const sessionMigrations: Migrations = [
  [
    `CREATE SEQUENCE $schema.fence`,
    `CREATE TABLE $schema.session (
      tenant text COLLATE "C" NOT NULL,
      id text COLLATE "C" NOT NULL,
      user_id text,
      parent text COLLATE "C",
      head integer NOT NULL DEFAULT 0,
      fence bigint NOT NULL,
      owner text,
      lease_until timestamptz,
      created timestamptz NOT NULL DEFAULT clock_timestamp(),
      changed timestamptz NOT NULL DEFAULT clock_timestamp(),
      PRIMARY KEY (tenant, id)
    )`,
    `CREATE INDEX session_of_user ON $schema.session (tenant, user_id) WHERE user_id IS NOT NULL`,
    `CREATE INDEX session_of_parent ON $schema.session (tenant, parent) WHERE parent IS NOT NULL`,
    `CREATE INDEX session_changed ON $schema.session (tenant, changed)`,
    `CREATE TABLE $schema.entry (
      tenant text COLLATE "C" NOT NULL,
      session text COLLATE "C" NOT NULL,
      seq integer NOT NULL,
      id text COLLATE "C" NOT NULL,
      boundary boolean NOT NULL,
      body text NOT NULL,
      cuts text NOT NULL,
      words tsvector NOT NULL,
      PRIMARY KEY (tenant, session, seq),
      UNIQUE (tenant, session, id),
      FOREIGN KEY (tenant, session) REFERENCES $schema.session ON DELETE CASCADE
    )`,
    `CREATE INDEX entry_boundary ON $schema.entry (tenant, session, seq) WHERE boundary`,
    `CREATE INDEX entry_words ON $schema.entry USING gin (words)`,
    `CREATE TABLE $schema.blob (
      tenant text COLLATE "C" NOT NULL,
      session text COLLATE "C" NOT NULL,
      hash text COLLATE "C" NOT NULL,
      body text NOT NULL,
      PRIMARY KEY (tenant, session, hash),
      FOREIGN KEY (tenant, session) REFERENCES $schema.session ON DELETE CASCADE
    )`,
  ],
]

/** Creates or updates the tables. Workers that start at the same time wait for each other. */
export async function migrate(
  connection: Connection,
  schema: string,
  migrations: Migrations = sessionMigrations,
): Promise<void> {
  const latest = migrations.length
  if ((await versionIn(connection.query, schema, latest)) === latest) return
  await connection.transaction(async (query) => {
    // Released at the end of the transaction, even with a proxy in between.
    await query('SELECT pg_advisory_xact_lock(hashtext($1))', [`everlong ${schema}`])
    const from = await versionIn(query, schema, latest)
    if (from === 0) await createSchema(query, schema)
    for (const [at, statements] of migrations.entries()) {
      if (at < from) continue
      for (const statement of statements) await query(statement.replaceAll('$schema', `"${schema}"`), [])
      await query(`INSERT INTO "${schema}".migration (version) VALUES ($1)`, [at + 1])
    }
  })
}

/** 0 if there are no tables yet. */
async function versionIn(query: Query, schema: string, latest: number): Promise<number> {
  // Not to_regclass, which in a transaction may still use what the connection knew before.
  const [table] = await query(`SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'migration'`, [
    schema,
  ])
  if (!table) return 0
  const [newest] = await query(`SELECT coalesce(max(version), 0) AS version FROM "${schema}".migration`, [])
  const version = Number(newest?.version)
  if (version <= latest) return version
  throw new StoreError(
    `The tables in the schema ${schema} have version ${version}; this version of Everlong knows ${latest}. Update Everlong.`,
    { reason: 'newer' },
  )
}

async function createSchema(query: Query, schema: string): Promise<void> {
  const [encoding] = await query("SELECT current_setting('server_encoding') AS name", [])
  if (encoding?.name !== 'UTF8') {
    throw new StoreError(`The database has the encoding ${String(encoding?.name)}. Sessions need one with UTF8.`, {
      reason: 'invalid',
    })
  }
  const [found] = await query('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema])
  if (!found) await query(`CREATE SCHEMA "${schema}"`, [])
  const columns = 'version integer PRIMARY KEY, applied timestamptz NOT NULL DEFAULT clock_timestamp()'
  await query(`CREATE TABLE IF NOT EXISTS "${schema}".migration (${columns})`, [])
}
