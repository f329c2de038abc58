// Loads the packages of OpenTelemetry if telemetry is on.
import { noTelemetry, type Telemetry, type TelemetryParts } from './telemetry.ts'

/** On if the configuration or the environment names a place to send to. */
export async function startTelemetry({ config, environment, log, now }: TelemetryParts): Promise<Telemetry> {
  const { OTEL_SDK_DISABLED, OTEL_EXPORTER_OTLP_ENDPOINT, ...own } = environment
  const places = [
    config?.endpoint,
    OTEL_EXPORTER_OTLP_ENDPOINT,
    own.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    own.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
  ]
  const isOn =
    places.some((place) => place !== undefined && place !== '') && OTEL_SDK_DISABLED?.toLowerCase() !== 'true'
  if (!isOn) return noTelemetry
  const { openTelemetry } = await import('./opentelemetry.ts')
  return openTelemetry({ config, environment, log, now })
}
