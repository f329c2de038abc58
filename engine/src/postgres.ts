// everlong/postgres: sessions in PostgreSQL, with `pg`. See docs/stores.md.

export type { PostgresPool } from './stores/postgres/connection.ts'
export { type PostgresOptions, type PostgresStore, postgres } from './stores/postgres/postgres.ts'
