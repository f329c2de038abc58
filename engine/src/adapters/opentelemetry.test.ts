import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'
import type { EngineEvent } from '../core/ports/events.ts'
import { openTelemetry } from './opentelemetry.ts'

const finished: EngineEvent = {
  type: 'compaction-finished',
  trigger: 'auto',
  mechanism: 'full',
  tokensBefore: 90_000,
  tokensAfter: 12_000,
  durationMs: 1500,
  usage: { input: 10, output: 900, cacheRead: 80_000, cacheWrite: 0, cacheWriteHour: 0 },
  cost: 0.06,
  chain: { isRecompaction: false, threshold: 80_000, source: 'turn' },
  restored: 3,
  attempts: 2,
  hitRate: 0.97,
  tried: ['cache-sharing: failed', 'direct: done'],
}

test('whatever is asked of a model beside the turns is counted by what it was for, also where nothing came of it', async () => {
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: metrics })] })
  const emit = openTelemetry({ meter: provider.getMeter('test') })
  const usage = (input: number) => ({ input, output: 7, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })
  emit({ type: 'memory-extracted', tokens: 900, usage: usage(1_000), cost: 0.01 })
  emit({ type: 'memory-failed', reason: 'no sections', failures: 1, usage: usage(2_000) })
  emit({ type: 'collapse-staged', tokens: 300, usage: usage(4_000), cost: 0.02 })
  emit({ type: 'collapse-failed', reason: 'no text', usage: usage(8_000) })
  emit({ type: 'collapse-failed', reason: 'no answer', usage: { ...usage(0), output: 0 } })
  const failed = { type: 'compaction-failed', trigger: 'auto', why: '', tried: ['direct: failed'] } as const
  emit({ ...failed, reason: 'no-progress', usage: usage(16_000), cost: 0.04, attempts: 3, durationMs: 20 })
  await provider.forceFlush()
  const all = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  const points = (name: string) => all.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? []
  const told = points('gen_ai.client.token.usage').map(({ attributes, value }) => [
    attributes['gen_ai.operation.name'],
    attributes['gen_ai.token.type'],
    typeof value === 'object' && 'sum' in value ? [value.count, value.sum] : value,
  ])
  expect(told).toEqual([
    ['extract_memory', 'input', [2, 3_000]],
    ['extract_memory', 'output', [2, 14]],
    ['collapse', 'input', [2, 12_000]],
    ['collapse', 'output', [2, 14]],
    ['compact', 'input', [1, 16_000]],
    ['compact', 'output', [1, 7]],
  ])
  expect(points('everlong.cost').map(({ attributes, value }) => [attributes['gen_ai.operation.name'], value])).toEqual([
    ['extract_memory', 0.01],
    ['collapse', 0.02],
    ['compact', 0.04],
  ])
  await provider.shutdown()
})

test('a compaction is one span with its phases, and its tokens, time and price are metrics', async () => {
  const spans = new InMemorySpanExporter()
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }).getTracer('test')
  const metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const provider = new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter: metrics })] })
  const emit = openTelemetry({ meter: provider.getMeter('test'), tracer, attributes: { 'service.name': 'here' } })

  emit({ type: 'compaction-started', trigger: 'auto', tokens: 90_000 })
  emit({ type: 'compaction-progressed', phase: 'summarizing' })
  emit({ type: 'compaction-progressed', phase: 'summarizing', keepAlive: true })
  emit(finished)
  emit({ type: 'compaction-started', trigger: 'manual', tokens: 5 })
  const none = { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }, attempts: 0 }
  emit({
    type: 'compaction-failed',
    trigger: 'manual',
    reason: 'vetoed',
    why: '',
    ...none,
    tried: [],
    durationMs: 1,
  })
  await provider.forceFlush()

  expect(
    spans.getFinishedSpans().map(({ name, attributes, events, status }) => ({
      name,
      attributes,
      events: events.map((event) => event.name),
      status: status.code,
    })),
  ).toEqual([
    {
      name: 'compact',
      attributes: {
        'service.name': 'here',
        'gen_ai.operation.name': 'compact',
        'everlong.trigger': 'auto',
        'everlong.mechanism': 'full',
        'everlong.tokens.before': 90_000,
        'everlong.tokens.after': 12_000,
        'gen_ai.usage.input_tokens': 80_010,
        'gen_ai.usage.output_tokens': 900,
        'everlong.attempts': 2,
        'everlong.tried': ['cache-sharing: failed', 'direct: done'],
        'everlong.cache.hit_rate': 0.97,
      },
      events: ['summarizing'],
      status: 0,
    },
    {
      name: 'compact',
      attributes: {
        'service.name': 'here',
        'gen_ai.operation.name': 'compact',
        'everlong.trigger': 'manual',
        'error.type': 'vetoed',
        'gen_ai.usage.input_tokens': 0,
        'gen_ai.usage.output_tokens': 0,
        'everlong.attempts': 0,
        'everlong.tried': [],
      },
      events: [],
      status: 2,
    },
  ])
  const all = metrics.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics))
  const names = all.map(({ descriptor }) => descriptor.name)
  expect(new Set(names)).toEqual(
    new Set([
      'everlong.events',
      'everlong.tokens.freed',
      'everlong.cost',
      'gen_ai.client.token.usage',
      'gen_ai.client.operation.duration',
    ]),
  )
  const freed = all.find(({ descriptor }) => descriptor.name === 'everlong.tokens.freed')
  expect(freed?.dataPoints.map(({ value }) => value)).toEqual([78_000])
  await provider.shutdown()
})
