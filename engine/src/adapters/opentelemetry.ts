// The engine's events as OpenTelemetry metrics and spans, under the GenAI conventions where they have a name for it. The
// host hands in its meter and tracer: nothing leaves the machine unless they send it somewhere.
import type { Attributes, Meter, Span, Tracer } from '@opentelemetry/api'
import { type TokenCounts, totalOf } from '../core/message/usage.ts'
import type { Emit } from '../core/ports/events.ts'

export type TelemetryOptions = {
  readonly meter?: Meter
  readonly tracer?: Tracer
  /** On every metric and span: a service, a provider, a session. */
  readonly attributes?: Attributes
}

type Used = { readonly usage: TokenCounts; readonly cost?: number }

export function openTelemetry({ meter, tracer, attributes = {} }: TelemetryOptions): Emit {
  const count = meter && countEvents(meter, attributes)
  const trace = tracer && traceCompactions(tracer, attributes)
  return (event) => {
    count?.(event)
    trace?.(event)
  }
}

function countEvents(meter: Meter, attributes: Attributes): Emit {
  const events = meter.createCounter('everlong.events', { description: 'Events of the engine by type' })
  const freed = meter.createCounter('everlong.tokens.freed', {
    unit: '{token}',
    description: 'Tokens taken out of contexts',
  })
  const cost = meter.createCounter('everlong.cost', { unit: 'USD', description: 'What context management itself cost' })
  const tokens = meter.createHistogram('gen_ai.client.token.usage', { unit: '{token}' })
  const duration = meter.createHistogram('gen_ai.client.operation.duration', { unit: 's' })
  const used = (operation: string, { usage, cost: price }: Used) => {
    if (totalOf(usage) === 0) return
    const named = { ...attributes, 'gen_ai.operation.name': operation }
    tokens.record(usage.input + usage.cacheRead + usage.cacheWrite, { ...named, 'gen_ai.token.type': 'input' })
    tokens.record(usage.output, { ...named, 'gen_ai.token.type': 'output' })
    if (price !== undefined) cost.add(price, named)
  }
  return (event) => {
    events.add(1, { ...attributes, 'everlong.event': event.type })
    switch (event.type) {
      case 'compaction-finished':
        used('compact', event)
        duration.record(event.durationMs / 1000, { ...attributes, 'gen_ai.operation.name': 'compact' })
        freed.add(Math.max(0, event.tokensBefore - event.tokensAfter), {
          ...attributes,
          'everlong.mechanism': event.mechanism,
        })
        break
      case 'micro-compacted':
        freed.add(Math.max(0, event.tokensBefore - event.tokensAfter), {
          ...attributes,
          'everlong.mechanism': event.mechanism,
        })
        break
      // What came to nothing was paid for as well.
      case 'memory-extracted':
      case 'memory-failed':
        used('extract_memory', event)
        break
      case 'collapse-staged':
      case 'collapse-failed':
        used('collapse', event)
    }
  }
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
    switch (event.type) {
      case 'compaction-started':
        end({})
        span = tracer.startSpan('compact', {
          attributes: { ...attributes, 'gen_ai.operation.name': 'compact', 'everlong.trigger': event.trigger },
        })
        break
      case 'compaction-progressed':
        if (event.keepAlive !== true) span?.addEvent(event.phase)
        break
      case 'compaction-finished':
        end({
          'everlong.mechanism': event.mechanism,
          'everlong.tokens.before': event.tokensBefore,
          'everlong.tokens.after': event.tokensAfter,
          'gen_ai.usage.input_tokens': event.usage.input + event.usage.cacheRead + event.usage.cacheWrite,
          'gen_ai.usage.output_tokens': event.usage.output,
        })
        break
      case 'compaction-failed':
        end({ 'error.type': event.reason }, event.reason)
    }
  }
}
