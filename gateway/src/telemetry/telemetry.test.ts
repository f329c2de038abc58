// Traces and metrics, as an OTLP collector gets them.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { summarizer } from '@everlong/simulator'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type CollectedSpan, type Collector, startCollector } from '../testing/collector.ts'
import type { Setup, SetupOptions } from '../testing/setup.ts'
import { annsKey, clientWith, keys, listening, model, raw, started, upstream, user } from '../testing/started.ts'

const secret = 'sk-the-callers-credential'
const words = 'The launch code is tangerine.'

type Traced = Setup & { readonly collector: Collector }

async function traced(options: SetupOptions = {}): Promise<Traced> {
  const collector = await startCollector()
  const telemetry = { endpoint: collector.url, headers: { 'x-collector': 'token' } }
  const setup = await started({ ...options, config: { keys, telemetry, ...options.config } })
  return { ...setup, collector }
}

const clientOf = ({ url }: Setup, headers: Readonly<Record<string, string>> = {}) =>
  new Anthropic({
    ...{ apiKey: secret, baseURL: url, maxRetries: 0 },
    defaultHeaders: {
      'x-everlong-key': annsKey,
      'x-everlong-session': 'the-chat',
      'x-everlong-user': 'ann@example.com',
      ...headers,
    },
  })

const say = (client: Anthropic, options: object = {}) =>
  client.messages.create({ model, max_tokens: 50, messages: [user(words)], ...options } as never)

/** The spans with the names of their parents. */
function tree(spans: readonly CollectedSpan[]): readonly string[] {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]))
  return spans.map(({ name, parentSpanId }) => `${names.get(parentSpanId ?? '') ?? 'none'} > ${name}`).toSorted()
}

test('a request is a trace: the request, the upstream, and writing it, with what the API reported', async () => {
  const setup = await traced()
  await say(clientOf(setup))
  await setup.gateway.close()
  const spans = setup.collector.spans()
  expect(tree(spans)).toEqual(['POST messages > chat claude-opus-5', 'POST messages > record', 'none > POST messages'])
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1)
  const byName = new Map(spans.map((span) => [span.name, span]))
  const [request, chat] = [byName.get('POST messages'), byName.get('chat claude-opus-5')]
  expect([request?.kind, chat?.kind]).toEqual([2, 3])
  expect(request?.attributes).toEqual({
    ...{ 'http.request.method': 'POST', 'http.route': 'messages', 'http.response.status_code': 200 },
    ...{ 'everlong.tenant': 'acme', 'everlong.level': 'observe' },
  })
  const { hostname, port } = new URL(setup.server.url)
  const { input, output } = setup.server.simulator.meter.totals()
  expect(chat?.attributes).toEqual({
    ...{ 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'simulator', 'gen_ai.request.model': model },
    ...{ 'gen_ai.usage.input_tokens': input, 'gen_ai.usage.output_tokens': output },
    ...{ 'gen_ai.usage.cache_read.input_tokens': 0, 'gen_ai.usage.cache_creation.input_tokens': 0 },
    ...{ 'server.address': hostname, 'server.port': Number(port), 'http.response.status_code': 200 },
    ...{ 'everlong.upstream': 'simulator', 'everlong.own': false },
  })
  const time = (span: CollectedSpan | undefined, end: 'startTimeUnixNano' | 'endTimeUnixNano') =>
    BigInt(span?.[end] ?? 0)
  expect(time(chat, 'endTimeUnixNano')).toBeLessThanOrEqual(
    time(byName.get('record'), 'startTimeUnixNano') + 1_000_000n,
  )
  expect(setup.collector.resource()).toMatchObject({ 'service.name': 'everlong-gateway' })
})

test('metrics have the names of the GenAI conventions, and the price', async () => {
  const setup = await traced()
  await say(clientOf(setup))
  await say(clientOf(setup), { model: 'tangerine-model' }).catch(() => undefined)
  await setup.gateway.close()
  const points = setup.collector.points()
  expect(new Set(points.map(({ name }) => name))).toEqual(
    new Set([
      ...['gen_ai.client.token.usage', 'gen_ai.client.operation.duration'],
      ...['everlong.gateway.cost', 'everlong.gateway.cache'],
    ]),
  )
  const { output } = setup.server.simulator.meter.totals()
  const known = points.filter(({ attributes }) => attributes['gen_ai.request.model'] === model)
  expect(
    known.find(({ name, attributes }) => name.endsWith('token.usage') && attributes['gen_ai.token.type'] === 'output')
      ?.value,
  ).toBe(output)
  expect(known.find(({ name }) => name === 'everlong.gateway.cost')?.value).toBeGreaterThan(0)
})

test('nothing that was said, no credential, no key and no name of a caller leaves the gateway', async () => {
  const setup = await traced({ config: { level: 'manage' } })
  const client = clientOf(setup, { 'x-note': words })
  await say(client, {
    system: words,
    tools: [{ name: 'tangerine', description: words, input_schema: { type: 'object' } }],
  })
  await say(client, { model: 'tangerine-model' }).catch(() => undefined)
  await client.get(`/v1/files/tangerine?key=${secret}`).catch(() => undefined)
  await raw(`${setup.url}/v1/messages`, { headers: ['host', 'x', 'x-api-key', secret], body: words })
  await setup.gateway.close()
  expect(setup.collector.spans().length).toBeGreaterThan(5)
  const sent = setup.collector.raw()
  for (const word of ['tangerine', 'launch', secret, annsKey, 'the-chat', 'ann@example.com', 'Answer']) {
    expect(sent).not.toContain(word)
  }
  expect(sent).toContain('"x-collector":"token"')
})

describe('the trace of the caller', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c'

  test('is continued, and the upstream gets our part of it in place of the caller’s', async () => {
    const { got, url } = await upstream(() => ({ body: '{}' }))
    const setup = await traced({ config: { upstreams: { simulator: { url } } } })
    await say(clientOf(setup, { traceparent: `00-${traceId}-b7ad6b7169203331-01`, tracestate: 'vendor=1' })).catch(
      () => undefined,
    )
    await setup.gateway.close()
    const spans = setup.collector.spans()
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]))
    expect(spans.find(({ name }) => name === 'POST messages')?.parentSpanId).toBe('b7ad6b7169203331')
    const chat = spans.find(({ name }) => name.startsWith('chat'))
    expect(got[0]?.request.headersDistinct.traceparent).toEqual([`00-${traceId}-${chat?.spanId}-01`])
    expect(got[0]?.request.headersDistinct.tracestate).toEqual(['vendor=1'])
  })

  test('is not recorded if the caller says so, and a broken one begins a new trace', async () => {
    const setup = await traced()
    await say(clientOf(setup, { traceparent: `00-${traceId}-b7ad6b7169203331-00` }))
    await setup.gateway.settled()
    await say(clientOf(setup, { traceparent: 'nonsense' }))
    await setup.gateway.close()
    const spans = setup.collector.spans()
    expect(spans).toHaveLength(3)
    expect(spans.map((span) => span.traceId)).not.toContain(traceId)
  })

  test('passes as it came where telemetry is off', async () => {
    const { got, url } = await upstream(() => ({ body: '{}' }))
    const setup = await started({ config: { keys, upstreams: { simulator: { url } } } })
    const traceparent = `00-${traceId}-b7ad6b7169203331-01`
    await say(clientOf(setup, { traceparent })).catch(() => undefined)
    expect(got[0]?.request.headersDistinct.traceparent).toEqual([traceparent])
  })
})

test('a compaction that the gateway answers is a span with the model’s request in the trace', async () => {
  const setup = await traced({ config: { level: 'answer' }, script: summarizer() })
  const client = clientOf(setup, { 'x-claude-code-request-class': 'compaction', 'x-claude-code-compaction': 'manual' })
  const history = Array.from({ length: 8 }, (_, at) => [
    ...[user(`Step ${at}: ${words}`), { role: 'assistant', content: `Done. ${'It is in cents. '.repeat(600)}` }],
  ]).flat()
  const asked = user(
    'CRITICAL: Respond with TEXT ONLY. Your task is to create a detailed summary. <analysis> <summary>',
  )
  await say(client, { messages: [...history, asked] })
  await setup.gateway.close()
  const spans = setup.collector.spans()
  // The model may be asked more than once.
  expect([...new Set(tree(spans))]).toEqual([
    'POST messages > chat claude-opus-5',
    'POST messages > compact',
    'POST messages > record',
    'none > POST messages',
  ])
  const chats = spans.filter(({ name }) => name.startsWith('chat'))
  expect(chats.map(({ attributes }) => attributes['everlong.own'])).toEqual(chats.map(() => true))
  expect(spans.find(({ name }) => name === 'compact')?.attributes).toMatchObject({ 'everlong.trigger': 'manual' })
  expect(setup.collector.raw()).not.toContain('tangerine')
})

describe('failures', () => {
  test('of the upstream and of the client are errors with a type', async () => {
    const setup = await traced()
    await say(clientOf(setup), { max_tokens: -1 }).catch(() => undefined)
    await setup.gateway.settled()
    const gone = new AbortController()
    const silent = await listening(createServer(() => gone.abort()))
    const other = await traced({ config: { upstreams: { simulator: { url: silent.url } } } })
    const asking = clientOf(other).messages.create(
      { model, max_tokens: 9, messages: [user('Hi')] },
      { signal: gone.signal },
    )
    await expect(asking).rejects.toThrow()
    await Promise.all([setup.gateway.close(), other.gateway.close()])
    const refused = setup.collector.spans().filter(({ name }) => name !== 'record')
    expect(refused.map(({ attributes, status }) => [attributes['error.type'], status.code])).toEqual([
      ['400', 2],
      ['400', 2],
    ])
    const aborted = other.collector.spans().find(({ name }) => name === 'POST messages')
    expect([aborted?.attributes['error.type'], aborted?.status.code]).toEqual(['aborted', 2])
  })

  test('of the collector are logged when they begin and when they end, and change nothing for clients', async () => {
    let status = 400
    const collector = await startCollector(() => status)
    const environment = { OTEL_METRIC_EXPORT_INTERVAL: '50', OTEL_TRACES_EXPORTER: 'none' }
    const setup = await started({ config: { telemetry: { endpoint: collector.url } }, ports: { environment } })
    const logged = () =>
      setup.lines.filter(({ event }) => String(event).startsWith('telemetry')).map(({ level, event }) => [level, event])
    await say(clientWith(setup.url, undefined))
    await expect.poll(logged).toEqual([['warn', 'telemetry-not-sent']])
    await new Promise((resolve) => setTimeout(resolve, 200))
    status = 200
    await expect.poll(logged).toEqual([
      ['warn', 'telemetry-not-sent'],
      ['info', 'telemetry-sent-again'],
    ])
  })

  test('of a collector that is away are logged at the stop, which does not wait for long', async () => {
    const setup = await started({ config: { telemetry: { endpoint: 'http://127.0.0.1:9' } } })
    await say(clientWith(setup.url, undefined))
    await setup.gateway.close()
    expect(setup.lines.map(({ event }) => event)).toContain('telemetry-not-sent')
  })
})

describe('is switched on', () => {
  const spansWith = async (environment: Readonly<Record<string, string>>, collector: Collector) => {
    const setup = await started({ ports: { environment } })
    await say(clientWith(setup.url, undefined))
    await setup.gateway.close()
    return [collector.spans().length, collector.points().length > 0]
  }

  test.each([
    ['OTEL_SDK_DISABLED', 'true', [0, false]],
    ['OTEL_TRACES_EXPORTER', 'none', [0, true]],
    ['OTEL_METRICS_EXPORTER', 'none', [3, false]],
    ['OTEL_SERVICE_NAME', 'ours', [3, true]],
  ] as const)('by the environment, with %s=%s', async (name, value, expected) => {
    const collector = await startCollector()
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, [name]: value }
    const saved = { ...process.env }
    Object.assign(process.env, environment)
    try {
      expect(await spansWith(environment, collector)).toEqual(expected)
    } finally {
      for (const one of Object.keys(environment)) delete process.env[one]
      Object.assign(process.env, saved)
    }
    if (name === 'OTEL_SERVICE_NAME') expect(collector.resource()['service.name']).toBe('ours')
  })

  test('and its packages are not loaded otherwise', () => {
    const script = `
      const { checkConfig } = await import(${JSON.stringify(join(import.meta.dirname, '../config/load.ts'))})
      const { startGateway } = await import(${JSON.stringify(join(import.meta.dirname, '../gateway.ts'))})
      const gateway = await startGateway(checkConfig({ listen: { port: 0 }, data: process.argv[1] }, 'the test'), { write: () => undefined, environment: {} })
      await gateway.close()
      process.stdout.write(JSON.stringify(globalThis.loaded))`
    const hook = `
      import { registerHooks } from 'node:module'
      globalThis.loaded = []
      registerHooks({ resolve: (name, context, next) => { if (name.startsWith('@opentelemetry/')) globalThis.loaded.push(name); return next(name, context) } })`
    const data = mkdtempSync(join(tmpdir(), 'everlong-telemetry-'))
    onTestFinished(() => rmSync(data, { recursive: true, force: true }))
    const ran = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, '--input-type=module', '-e', script, data],
      { encoding: 'utf8' },
    )
    // Only the interfaces, by prom-client.
    expect([ran.stdout, ran.stderr.replaceAll(/.*Warning.*\n?/g, '')]).toEqual(['["@opentelemetry/api"]', ''])
  })
})
