// The SQLite of Bun behind the part of Node's interface that the archive uses: Bun has no `node:sqlite`.
import type { DatabaseSync, SQLInputValue } from 'node:sqlite'

type BunStatement = {
  readonly get: (...values: SQLInputValue[]) => unknown
  readonly all: (...values: SQLInputValue[]) => unknown[]
  readonly run: (...values: SQLInputValue[]) => unknown
}

type BunDatabase = {
  readonly exec: (sql: string) => unknown
  readonly prepare: (sql: string) => BunStatement
  readonly close: () => void
  readonly inTransaction: boolean
}

type BunSqlite = { readonly Database: new (place: string) => BunDatabase }

/** Undefined outside of Bun. */
export function bunSqlite(): BunSqlite | undefined {
  const find = process.getBuiltinModule as (name: string) => unknown
  return process.versions.bun === undefined ? undefined : (find('bun:sqlite') as BunSqlite)
}

export function openBunDatabase({ Database }: BunSqlite, place: string): DatabaseSync {
  const database = withCodes(() => new Database(place))
  const adapted = {
    exec: (sql: string) => withCodes(() => database.exec(sql)),
    prepare: (sql: string) => adaptStatement(withCodes(() => database.prepare(sql))),
    close: () => database.close(),
    get isTransaction() {
      return database.inTransaction
    },
  }
  // The rest of the interface is not used.
  return adapted as unknown as DatabaseSync
}

function adaptStatement(statement: BunStatement): BunStatement {
  return {
    get: (...values) => withCodes(() => statement.get(...values)) ?? undefined,
    all: (...values) => withCodes(() => statement.all(...values)),
    run: (...values) => withCodes(() => statement.run(...values)),
  }
}

/** Node calls the number of an error `errcode`. */
function withCodes<T>(run: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof Error && 'errno' in error) Object.assign(error, { errcode: error.errno })
    throw error
  }
}
