// Sends traces and metrics to the OTLP endpoint of the configuration, otherwise of the environment. Logs when sending begins to
// fail and when it works again.
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { type MetricReader, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace'
import type { Log } from '../log.ts'
import type { TelemetryParts } from './telemetry.ts'

type Signal = 'traces' | 'metrics'

export function startExport({ config, environment, log }: TelemetryParts) {
  const isOn = (signal: Signal): boolean => {
    const name = signal.toUpperCase()
    if (environment[`OTEL_${name}_EXPORTER`] === 'none') return false
    const places = [environment.OTEL_EXPORTER_OTLP_ENDPOINT, environment[`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`]]
    return config !== undefined || places.some((place) => place !== undefined && place !== '')
  }
  /** The exporters read missing options from the environment. */
  const optionsOf = (signal: Signal) =>
    config ? { url: `${config.endpoint.replace(/\/+$/, '')}/v1/${signal}`, headers: config.headers } : {}
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'everlong-gateway' }))
    .merge(detectResources({ detectors: [envDetector] }))
  const spanProcessors: SpanProcessor[] = isOn('traces')
    ? [new BatchSpanProcessor({ exporter: logged(new OTLPTraceExporter(optionsOf('traces')), 'traces', log) })]
    : []
  const exportIntervalMillis = Number(environment.OTEL_METRIC_EXPORT_INTERVAL) || 60_000
  const readers: MetricReader[] = isOn('metrics')
    ? [
        new PeriodicExportingMetricReader({
          exporter: logged(new OTLPMetricExporter(optionsOf('metrics')), 'metrics', log),
          ...{ exportIntervalMillis, exportTimeoutMillis: Math.min(exportIntervalMillis, 30_000) },
        }),
      ]
    : []
  return { resource, spanProcessors, readers }
}

type Exporting = {
  export: (items: never, done: (result: { readonly code: number; readonly error?: Error }) => void) => void
}

function logged<T extends Exporting>(exporter: T, signal: Signal, log: Log): T {
  let isFailing = false
  const send = exporter.export.bind(exporter)
  exporter.export = (items, done) =>
    send(items, (result) => {
      const hasFailed = result.code !== 0
      if (hasFailed !== isFailing) {
        if (hasFailed) log('warn', 'telemetry-not-sent', { signal, why: result.error?.message })
        else log('info', 'telemetry-sent-again', { signal })
      }
      isFailing = hasFailed
      done(result)
    })
  return exporter
}
