// everlong/postgres: sessions in PostgreSQL, with `pg`. See docs/stores.md.

export { type PostgresOptions, type PostgresStore, postgres } from './stores/postgres/postgres.ts'
