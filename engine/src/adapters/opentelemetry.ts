// The engine's events as OpenTelemetry metrics and spans, named by the GenAI conventions if these have a name. Nothing leaves the
// machine unless the host's meter and tracer send it.
import type { Attributes, Meter, Span, Tracer } from '@opentelemetry/api'
import { type TokenCounts, totalOf } from '../core/message/usage.ts'
import type { Emit } from '../core/ports/events.ts'

export type TelemetryOptions = {
  readonly meter?: Meter
  readonly tracer?: Tracer
  /** On every metric and span: a service, a provider, a session. */
  readonly attributes?: Attributes
}

export function openTelemetry({ meter, tracer, attributes = {} }: TelemetryOptions): Emit {
  const count = meter && countEvents(meter, attributes)
  const trace = tracer && traceCompactions(tracer, attributes)
  return (event) => {
    count?.(event)
    trace?.(event)
  }
}

type RequestUsage = { readonly usage: TokenCounts; readonly cost?: number }

function countEvents(meter: Meter, attributes: Attributes): Emit {
  const counter = (name: string, description: string, unit?: string) =>
    meter.createCounter(`everlong.${name}`, { description, ...(unit === undefined ? {} : { unit }) })
  const events = counter('events', 'Events of the engine by type')
  const freed = counter('tokens.freed', 'Tokens taken out of contexts', '{token}')
  const cost = counter('cost', 'What context management itself cost', 'USD')
  const misses = counter('cache.misses', 'Requests that did not find the cached prefix, by reason')
  const missed = counter('cache.misses.cost', 'What they cost more than with the cache', 'USD')
  const tokens = meter.createHistogram('gen_ai.client.token.usage', { unit: '{token}' })
  const duration = meter.createHistogram('gen_ai.client.operation.duration', { unit: 's' })
  const used = (operation: string, { usage, cost: price }: RequestUsage) => {
    if (totalOf(usage) === 0) return
    const named = { ...attributes, 'gen_ai.operation.name': operation }
    tokens.record(inputOf(usage), { ...named, 'gen_ai.token.type': 'input' })
    tokens.record(usage.output, { ...named, 'gen_ai.token.type': 'output' })
    if (price !== undefined) cost.add(price, named)
  }
  return (event) => {
    const { type } = event
    events.add(1, { ...attributes, 'everlong.event': type })
    if (type === 'compaction-finished' || type === 'micro-compacted') {
      const named = { ...attributes, 'everlong.mechanism': event.mechanism }
      freed.add(Math.max(0, event.tokensBefore - event.tokensAfter), named)
    }
    if (type === 'compaction-finished' || type === 'compaction-failed') {
      used('compact', event)
      const failure = type === 'compaction-failed' ? { 'error.type': event.reason } : {}
      duration.record(event.durationMs / 1000, { ...attributes, 'gen_ai.operation.name': 'compact', ...failure })
    }
    if (type === 'cache-missed') {
      const named = { ...attributes, 'everlong.cache.miss_reason': event.reason }
      misses.add(1, named)
      if (event.cost !== undefined) missed.add(event.cost, named)
    }
    // Failed requests cost money as well.
    if (type === 'memory-extracted' || type === 'memory-failed') used('extract_memory', event)
    if (type === 'collapse-staged' || type === 'collapse-failed') used('collapse', event)
  }
}

function inputOf({ input, cacheRead, cacheWrite }: TokenCounts): number {
  return input + cacheRead + cacheWrite
}

/** One span for each compaction, from its start to its end, with its phases as events of the span. */
function traceCompactions(tracer: Tracer, attributes: Attributes): Emit {
  let span: Span | undefined
  const end = (values: Attributes, failure?: string) => {
    span?.setAttributes(values)
    // 2 is the code of an error; the constant would be an import at run time.
    if (failure !== undefined) span?.setStatus({ code: 2, message: failure })
    span?.end()
    span = undefined
  }
  return (event) => {
    if (event.type === 'compaction-started') {
      end({})
      const own = { 'gen_ai.operation.name': 'compact', 'everlong.trigger': event.trigger }
      span = tracer.startSpan('compact', { attributes: { ...attributes, ...own } })
    }
    if (event.type === 'compaction-progressed' && event.keepAlive !== true) span?.addEvent(event.phase)
    if (event.type !== 'compaction-finished' && event.type !== 'compaction-failed') return
    const spent = {
      'gen_ai.usage.input_tokens': inputOf(event.usage),
      'gen_ai.usage.output_tokens': event.usage.output,
      'everlong.attempts': event.attempts,
      'everlong.tried': [...event.tried],
      ...(event.hitRate === undefined ? {} : { 'everlong.cache.hit_rate': event.hitRate }),
    }
    if (event.type === 'compaction-failed') end({ 'error.type': event.reason, ...spent }, event.reason)
    else {
      const sizes = { 'everlong.tokens.before': event.tokensBefore, 'everlong.tokens.after': event.tokensAfter }
      end({ 'everlong.mechanism': event.mechanism, ...sizes, ...spent })
    }
  }
}
