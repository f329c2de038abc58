// What every statement needs: the tables, and the tenant, which is the first parameter of each.
import type { Query } from './connection.ts'

export type Tables = {
  readonly schema: string
  readonly tenant: string
  /** Statements about this tenant; `$1` is the tenant. */
  readonly run: Query
  readonly leaseMs: number
}

/** Of one session; `$2` is its id. */
export type SessionTables = Pick<Tables, 'schema' | 'run' | 'leaseMs'> & {
  readonly id: string
  /** The id with the tenant, as words of the index have it. */
  readonly key: string
}

export function sessionTables({ schema, tenant, run, leaseMs }: Tables, id: string): SessionTables {
  return { schema, leaseMs, id, key: `${tenant}\n${id}`, run: (text, values) => run(text, [id, ...values]) }
}
