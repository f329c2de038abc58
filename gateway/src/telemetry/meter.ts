// Rows of the books as metrics.
import type { Attributes } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import { MeterProvider, type MetricReader } from '@opentelemetry/sdk-metrics'
import type { Row } from '../books/book.ts'
import { modelName } from './names.ts'

export type MeterOptions = { readonly resource: Resource; readonly readers: MetricReader[] }

export function createMeter({ resource, readers }: MeterOptions) {
  const provider = new MeterProvider({ resource, readers })
  const meter = provider.getMeter('everlong-gateway')
  const tokens = meter.createHistogram('gen_ai.client.token.usage', { unit: '{token}' })
  const duration = meter.createHistogram('gen_ai.client.operation.duration', { unit: 's' })
  const cost = meter.createCounter('everlong.gateway.cost', { unit: 'USD', description: 'Price of the requests' })
  const saved = meter.createCounter('everlong.gateway.saved', { unit: 'USD', description: 'Price of what was removed' })
  const cache = meter.createCounter('everlong.gateway.cache', { description: 'Requests by their cache outcome' })
  return {
    count: (row: Row): void => {
      const named: Attributes = {
        ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': modelName(row.model) },
        ...{ 'everlong.tenant': row.tenant, 'everlong.upstream': row.upstream, 'everlong.kind': row.kind },
      }
      const isFailed = row.status === 0 || row.status >= 400
      const error = isFailed ? { 'error.type': row.status === 0 ? 'aborted' : String(row.status) } : {}
      duration.record(row.ms / 1_000, { ...named, ...error })
      const input = row.input + row.cacheRead + row.cacheWrite
      if (input + row.output > 0) {
        tokens.record(input, { ...named, 'gen_ai.token.type': 'input' })
        tokens.record(row.output, { ...named, 'gen_ai.token.type': 'output' })
      }
      if (row.cost !== undefined) cost.add(row.cost, named)
      if (row.saved) saved.add(row.saved, named)
      if (row.cache !== undefined) cache.add(1, { ...named, 'everlong.cache': row.cache })
    },
    close: () => provider.shutdown(),
  }
}
