// Counters for Prometheus since the start of this process. Labels are names from the configuration and of models, never of
// people, sessions or clients' keys.

import { modelFacts } from 'everlong/internal'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Row } from './book.ts'

export type Metrics = {
  readonly count: (row: Row) => void
  /** Counts a streaming answer. Call the returned function when it has ended. */
  readonly streaming: () => () => void
  readonly text: () => Promise<string>
  readonly contentType: string
}

const tokenKinds = { input: 'input', output: 'output', cacheRead: 'cache_read', cacheWrite: 'cache_write' } as const

export type Watched = {
  /** Number of exchanges that are not written yet. */
  readonly waiting: () => number
  /** Problem of the store. */
  readonly problem: () => string | undefined
}

export function createMetrics({ waiting, problem }: Watched): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const names = ['tenant', 'kind', 'api', 'model'] as const
  const of = (name: string, help: string, labelNames: readonly string[]) =>
    new Counter({ name: `everlong_gateway_${name}`, help, labelNames: [...labelNames], registers })
  const requests = of('requests_total', 'Requests by status.', [...names, 'status'])
  const tokens = of('tokens_total', 'Tokens as the API reported them.', [...names, 'tokens'])
  const cost = of('cost_dollars_total', 'Price of the requests, where it is known.', names)
  const cache = of('cache_outcomes_total', 'Whether the prompt cache was hit, or why not.', [...names, 'outcome'])
  const missCost = of('cache_miss_dollars_total', 'What misses cost more than hits.', [...names, 'outcome'])
  const removed = of('removed_tokens_total', 'Tokens that the upstream did not get.', names)
  const alone = of(
    'cost_alone_dollars_total',
    'Price of the requests if they had not passed through the gateway.',
    names,
  )
  const buckets = [0.1, 0.3, 1, 3, 10, 30, 100, 300]
  const seconds = new Histogram({
    ...{ name: 'everlong_gateway_request_seconds', help: 'From the request to the end of its answer.' },
    ...{ labelNames: ['tenant', 'api'], buckets, registers },
  })
  const streams = new Gauge({ name: 'everlong_gateway_streams', help: 'Answers on their way.', registers })
  new Gauge({
    ...{ name: 'everlong_gateway_waiting_exchanges', help: 'Exchanges that are not written yet.', registers },
    collect() {
      this.set(waiting())
    },
  })
  new Gauge({
    ...{ name: 'everlong_gateway_store_up', help: '1 if the store can be used, 0 while it is away.', registers },
    collect() {
      this.set(problem() === undefined ? 1 : 0)
    },
  })
  return {
    count: (row) => {
      const { tenant, kind, api, model } = row
      // Callers choose the names of models, so only those of the catalog become labels.
      const labels = { tenant, kind, api, model: modelFacts(model) ? model : 'other' }
      requests.inc({ ...labels, status: String(row.status) })
      for (const [field, name] of Object.entries(tokenKinds)) {
        tokens.inc({ ...labels, tokens: name }, row[field as keyof typeof tokenKinds])
      }
      cost.inc(labels, row.cost ?? 0)
      if (row.cache !== undefined) cache.inc({ ...labels, outcome: row.cache })
      if (row.cache !== undefined && row.missCost) missCost.inc({ ...labels, outcome: row.cache }, row.missCost)
      removed.inc(labels, row.removed)
      alone.inc(labels, Math.max(0, (row.cost ?? 0) + (row.saved ?? 0)))
      seconds.observe({ tenant, api }, row.ms / 1_000)
    },
    streaming: () => {
      streams.inc()
      return () => streams.dec()
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
