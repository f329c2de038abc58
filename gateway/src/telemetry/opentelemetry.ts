// Traces and metrics over OTLP, by the packages of OpenTelemetry and with the names of its GenAI conventions where those have one.
// Providers are our own and not the process's, so that two gateways in one process do not share them.
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace as traceApi,
} from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace'
import { openTelemetry as traceEngine } from 'everlong/opentelemetry'
import type { RowKind } from '../books/book.ts'
import { startExport } from './export.ts'
import { createMeter } from './meter.ts'
import { modelName, providerOf } from './names.ts'
import type { AskedUpstream, Asking, Telemetry, TelemetryParts, Trace, TracedRequest } from './telemetry.ts'

const propagator = new W3CTraceContextPropagator()

export function openTelemetry(parts: TelemetryParts): Telemetry {
  const { resource, spanProcessors, readers } = startExport(parts)
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(parts.config?.sampleRatio ?? 1) })
  const traces = new TracerProvider({ resource, sampler, spanProcessors })
  const { count, close } = createMeter({ resource, readers })
  const tracer = traces.getTracer('everlong-gateway')
  return {
    request: (request) => traceRequest(request, { tracer, now: parts.now }),
    count,
    close: async () => {
      const sent = Promise.allSettled([traces.shutdown(), close()])
      if (await isLate(sent))
        parts.log('warn', 'telemetry-not-sent', { why: 'The collector did not answer before the stop.' })
    },
  }
}

/** An unavailable collector does not delay a stop. The exporters would retry for ten seconds. */
const maxCloseMs = 2_000

async function isLate(work: Promise<unknown>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(true), maxCloseMs)
  try {
    return await Promise.race([work.then(() => false), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

type Tracing = { readonly tracer: Tracer; readonly now: () => number }

function traceRequest({ method, api, tenant, level, time, headers }: TracedRequest, tracing: Tracing): Trace {
  const { tracer, now } = tracing
  const caller = propagator.extract(ROOT_CONTEXT, headers, {
    get: (carrier, name) => [carrier[name] ?? []].flat(),
    keys: (carrier) => Object.keys(carrier),
  })
  const attributes = {
    ...{ 'http.request.method': method, 'http.route': api },
    ...{ 'everlong.tenant': tenant, 'everlong.level': level },
  }
  const span = tracer.startSpan(`${method} ${api}`, { kind: SpanKind.SERVER, startTime: time, attributes }, caller)
  const context = traceApi.setSpan(caller, span)
  const asked: Ending[] = []
  let asking: Ending | undefined
  return {
    ask: (upstream, kind) => {
      const started = ask({ upstream, kind }, { tracer, now, context })
      asked.push(started)
      if (kind === 'client') asking = started
      return started
    },
    used: (used) => asking?.used(used),
    onEvent: traceEngine({ tracer: childTracer(tracer, context) }),
    record: async (work) => {
      const recording = tracer.startSpan('record', { startTime: now() }, context)
      try {
        await work()
      } catch (error) {
        failed(recording, error instanceof Error ? error.name : 'error')
        throw error
      } finally {
        recording.end(now())
      }
    },
    answered: (status) => {
      ended(span, status)
      span.end(now())
    },
    close: () => {
      for (const { close } of asked.splice(0)) close()
    },
  }
}

type Ending = Asking & { readonly close: () => void }

type Asked = { readonly upstream: AskedUpstream; readonly kind: RowKind }

/** Ends when everything is known, with the time at which the answer ended. */
function ask({ upstream, kind }: Asked, { tracer, now, context }: Tracing & { readonly context: Context }): Ending {
  const { hostname, port, protocol } = upstream.origin
  const provider = providerOf(upstream)
  const attributes: Attributes = {
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': provider, 'everlong.upstream': upstream.name },
    ...{ 'server.address': hostname, 'server.port': Number(port || (protocol === 'https:' ? 443 : 80)) },
    'everlong.own': kind === 'own',
  }
  const span = tracer.startSpan('chat', { kind: SpanKind.CLIENT, startTime: now(), attributes }, context)
  const headers: Record<string, string> = {}
  propagator.inject(traceApi.setSpan(context, span), headers, {
    set: (carrier, name, value) => {
      carrier[name] = value
    },
  })
  let endTime: number | undefined
  return {
    headers,
    ended: (status) => {
      endTime ??= now()
      ended(span, status)
    },
    used: ({ model, usage }) => {
      span.updateName(`chat ${modelName(model)}`)
      span.setAttribute('gen_ai.request.model', modelName(model))
      if (!usage) return
      span.setAttributes({
        'gen_ai.usage.input_tokens': usage.input + usage.cacheRead + usage.cacheWrite,
        'gen_ai.usage.output_tokens': usage.output,
        'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
        'gen_ai.usage.cache_creation.input_tokens': usage.cacheWrite,
      })
    },
    close: () => span.end(endTime ?? now()),
  }
}

function ended(span: Span, status: number): void {
  if (status > 0) span.setAttribute('http.response.status_code', status)
  if (status === 0 || status >= 400) failed(span, status === 0 ? 'aborted' : String(status))
}

/** Only the type, because error messages may quote the conversation. */
function failed(span: Span, type: string): void {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

/** The engine's spans as parts of the request. */
function childTracer(tracer: Tracer, context: Context): Tracer {
  return {
    startSpan: (name, options) => tracer.startSpan(name, options, context),
    startActiveSpan: tracer.startActiveSpan.bind(tracer),
  }
}
