// An OTLP collector over HTTP for tests, which remembers what it got. No part of the package.
import { createServer } from 'node:http'
import { listening } from './started.ts'

type Value = {
  readonly stringValue?: string
  readonly intValue?: number | string
  readonly doubleValue?: number
  readonly boolValue?: boolean
}
type Attribute = { readonly key: string; readonly value: Value }

type RawSpan = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly Attribute[]
  readonly status: { readonly code?: number }
}

export type CollectedSpan = Omit<RawSpan, 'attributes'> & { readonly attributes: Readonly<Record<string, unknown>> }

type Point = {
  readonly attributes: readonly Attribute[]
  readonly sum?: number
  readonly asDouble?: number
  readonly count?: number | string
}

export type CollectedPoint = {
  readonly name: string
  readonly value: number
  readonly attributes: Readonly<Record<string, unknown>>
}

export type Collector = {
  readonly url: string
  readonly spans: () => readonly CollectedSpan[]
  readonly points: () => readonly CollectedPoint[]
  /** Attributes of the sender. */
  readonly resource: () => Readonly<Record<string, unknown>>
  /** Everything that came, as it came: paths, headers and bodies. */
  readonly raw: () => string
}

const valuesOf = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0] as unknown]))

export async function startCollector(status: () => number = () => 200): Promise<Collector> {
  const got: { readonly path: string; readonly headers: object; readonly body: string }[] = []
  const { url } = await listening(
    createServer(async (incoming, outgoing) => {
      const body = Buffer.concat(await incoming.toArray()).toString('utf8')
      if (status() === 200) got.push({ path: incoming.url ?? '', headers: incoming.headers, body })
      outgoing.writeHead(status(), { 'content-type': 'application/json' }).end('{}')
    }),
  )
  const bodies = (path: string) => got.filter((one) => one.path === path).map(({ body }) => JSON.parse(body))
  const spans = () => bodies('/v1/traces').flatMap(({ resourceSpans }) => resourceSpans)
  return {
    url,
    raw: () => JSON.stringify(got),
    resource: () => valuesOf(spans()[0]?.resource.attributes ?? []),
    spans: () =>
      spans()
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans: list }: { readonly spans: readonly RawSpan[] }) => list)
        .map((span) => ({ ...span, attributes: valuesOf(span.attributes) })),
    points: () =>
      bodies('/v1/metrics')
        .flatMap(({ resourceMetrics }) => resourceMetrics)
        .flatMap(({ scopeMetrics }) => scopeMetrics)
        .flatMap(({ metrics }) => metrics)
        .flatMap(({ name, histogram, sum }) =>
          (histogram ?? sum).dataPoints.map((point: Point) => ({
            ...{ name, value: point.sum ?? point.asDouble ?? 0, attributes: valuesOf(point.attributes) },
          })),
        ),
  }
}
