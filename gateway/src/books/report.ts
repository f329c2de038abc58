// Sums of the books: the cost, reasons of cache misses, and whether the gateway's own work has paid for itself.
import { type CacheOutcome, cacheOutcomes } from 'everlong/internal/wire'
import type { Sum } from './book.ts'

export type CacheLine = {
  readonly outcome: CacheOutcome
  readonly requests: number
  /** Extra cost of the misses compared to hits, in US dollars. */
  readonly cost: number
}

export type Line = {
  readonly name: string
  readonly requests: number
  readonly cost: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly input: number
  readonly output: number
}

export type Report = {
  /** Number of clients' requests. */
  readonly requests: number
  readonly failed: number
  /** US dollars, without requests of unknown price. */
  readonly cost: number
  readonly unpriced: number
  readonly cache: readonly CacheLine[]
  /** Tokens that clients would have sent without the gateway, and the extra cost of those requests. */
  readonly removed: { readonly tokens: number; readonly saved: number }
  /** The gateway's own requests to models. */
  readonly own: { readonly requests: number; readonly cost: number }
  /** Requests that kept prompt caches warm, and pauses after which a client therefore found its prefix. */
  readonly keepAlive: { readonly touches: number; readonly cost: number; readonly kept: number; readonly saved: number }
  /** Savings minus cost. If negative, the gateway costs more than it saves. */
  readonly balance: number
  readonly tenants: readonly Line[]
  readonly models: readonly Line[]
}

export function reportOf(sums: readonly Sum[]): Report {
  const client = sums.filter(({ kind }) => kind === 'client')
  const own = sums.filter(({ kind }) => kind === 'own')
  const saved = total(client, 'saved')
  const spent = total(own, 'cost')
  const keepAlive = keepAliveOf(sums.filter(({ kind }) => kind === 'keep-alive'))
  return {
    requests: total(client, 'requests'),
    failed: total(client, 'failed'),
    cost: total(client, 'cost'),
    unpriced: total(client, 'unpriced'),
    cache: cacheOutcomes.map((outcome) => {
      const rows = client.filter(({ cache }) => cache === outcome)
      return { outcome, requests: total(rows, 'requests'), cost: total(rows, 'missCost') }
    }),
    removed: { tokens: total(client, 'removed'), saved },
    own: { requests: total(own, 'requests'), cost: spent },
    keepAlive,
    balance: saved - spent + keepAlive.saved - keepAlive.cost,
    tenants: linesBy(client, ({ tenant }) => tenant),
    models: linesBy(client, ({ model }) => model),
  }
}

/** Rows with an outcome contain the savings of earlier touches. */
function keepAliveOf(sums: readonly Sum[]): Report['keepAlive'] {
  const touches = sums.filter(({ cache }) => cache === undefined)
  const kept = sums.filter(({ cache }) => cache !== undefined)
  return {
    ...{ touches: total(touches, 'requests'), cost: total(touches, 'cost') },
    ...{ kept: total(kept, 'requests'), saved: total(kept, 'saved') },
  }
}

type Counted = { readonly [Name in keyof Sum]: Sum[Name] extends number ? Name : never }[keyof Sum]

function total(sums: readonly Sum[], name: Counted): number {
  return sums.reduce((sum, row) => sum + row[name], 0)
}

/** Most expensive first. */
function linesBy(sums: readonly Sum[], nameOf: (sum: Sum) => string): readonly Line[] {
  return Object.entries(Object.groupBy(sums, nameOf))
    .map(([name, rows = []]) => ({
      name,
      ...{ requests: total(rows, 'requests'), cost: total(rows, 'cost') },
      ...{ cacheRead: total(rows, 'cacheRead'), cacheWrite: total(rows, 'cacheWrite') },
      ...{ input: total(rows, 'input'), output: total(rows, 'output') },
    }))
    .toSorted((one, other) => other.cost - one.cost || (one.name < other.name ? -1 : 1))
}
