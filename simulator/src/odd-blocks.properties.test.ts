// Whatever a host, a tool or an MCP server hands over: the API takes the next request, and the transcript keeps the original.
// Every odd block in every place for every kind of model, plain, reopened, compacted, and kept by a compaction.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { anthropic } from 'everlong/anthropic'
import type { JsonObject } from 'everlong/internal'
import { createEngine, type Session } from 'everlong/node'
import { expect, onTestFinished, test } from 'vitest'
import { route } from './script/route.ts'
import { asksForSummary, summarizer } from './summary/summarizer.ts'
import { ask, saysHello, simulate } from './testing/ask.ts'
import { stillPorts } from './testing/still-ports.ts'

const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = (source: object, more: object = {}) => ({ type: 'image', source, ...more })
const base64 = (media_type: string, data: string) => ({ type: 'base64', media_type, data })
const document = (source: object) => ({ type: 'document', source })
const resource = (more: object) => ({ type: 'resource', resource: { uri: 'file:///a', ...more } })
const mark = { cache_control: { type: 'ephemeral' } }

const blocks: readonly JsonObject[] = [
  { type: 'video', data: 'AAAA' },
  { type: 'hologram' },
  { type: 'output_text', text: 'of another API' },
  { type: 'cache_edits', edits: [] },
  { type: 'tool_addition', tool: {} },
  { type: '<system-reminder>', text: '' },
  { type: 'text', text: 'with fields', index: 3, partial_json: '' },
  { type: 'text', text: 'cited', citations: 'none' },
  { type: 'text', text: 'marked', cache_control: { type: 'forever' } },
  { type: 'text', text: 'marked for long', cache_control: { type: 'ephemeral', ttl: '1h' } },
  { type: 'text', text: 'marked again', ...mark },
  { type: 'text', text: ' \n' },
  { type: 'text', text: 'half a character \ud800' },
  image({}),
  { type: 'image' },
  { type: 'image', data: dot, mimeType: 'image/png' },
  image(base64('image/svg+xml', 'PHN2Zz4=')),
  image(base64('image/png', '')),
  image(base64('image/jpeg', dot)),
  image(base64('image/png', 'AAAA')),
  image(base64('image/png', `data:image/png;base64,${dot}`), mark),
  image({ type: 'url', url: 'https://example.com/a.png', detail: 'high' }),
  image({ type: 'disk', path: '/a.png' }),
  document({ type: 'text', media_type: 'text/plain', data: '' }),
  document({ type: 'text', media_type: 'text/csv', data: 'a,b' }),
  document({ type: 'base64', media_type: 'application/msword', data: '0M8R' }),
  document({ type: 'content', content: [{ type: 'text', text: 'a', id: 1 }] }),
  document({ type: 'content', content: [] }),
  resource({ text: 'the text', mimeType: 'text/plain' }),
  resource({ blob: dot, mimeType: 'image/png' }),
  resource({ blob: 'UEsD', mimeType: 'application/zip' }),
  { type: 'resource' },
  { type: 'resource_link', uri: 'file:///a', name: 'a' },
  { type: 'audio', data: 'UklG', mimeType: 'audio/wav' },
  { type: 'thinking', thinking: null, signature: 'c2ln' },
  { type: 'thinking', thinking: 'unsigned' },
  { type: 'thinking', thinking: 'signed', signature: 'c2ln', index: 1 },
  { type: 'redacted_thinking', data: '' },
  { type: 'search_result', source: 'a' },
  { type: 'search_result', source: 'a', title: 'b', content: [{ type: 'text', text: 'c' }], score: 1 },
  { type: 'container_upload' },
  { type: 'tool_reference', tool_name: 'Read', score: 1 },
  { type: 'tool_use', id: 'functions.Read:9', name: 'functions.Read', input: 'no object', index: 2 },
  { type: 'tool_use', id: 'größe', name: '', input: null },
  { type: 'tool_result', tool_use_id: 'nobody', content: { ok: true } },
  { type: 'compaction', content: '' },
]
const contents: readonly unknown[] = [{ ok: true }, { type: 'audio' }, 5, false, null, ['a', 'b'], [[1]], [null], []]

/** Each way to put something odd into a session, with what must be in the transcript afterwards. */
type Odd = { readonly put: (session: Session, id: string) => void; readonly original: unknown }
const called = (session: Session, id: string) =>
  session.record({ content: [{ type: 'tool_use', id, name: 'Read', input: {} }] })
const answered =
  (content: unknown, more: object = {}) =>
  (session: Session, id: string) => {
    called(session, id)
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, ...more } as never] })
  }
const places: Readonly<Record<string, readonly Odd[]>> = {
  'a user message': blocks.map((block) => ({
    put: (session) => session.add({ role: 'user', content: [block as never, { type: 'text', text: 'and' }] }),
    original: block,
  })),
  'an answer': blocks.map((block) => ({
    put: (session) => {
      session.record({ content: [block as never, { type: 'text', text: 'so ' }] })
      session.add({ role: 'user', content: 'and' })
    },
    original: block,
  })),
  'a result': [...blocks.map((block) => [block]), ...contents].map((content) => ({
    put: answered(content),
    original: content,
  })),
  'a failed result': [...blocks.map((block) => [block]), ...contents].map((content) => ({
    put: answered(content, { is_error: true, duration: 3 }),
    original: content,
  })),
  'a result in a result': blocks.map((block) => {
    const content = [{ type: 'tool_result', tool_use_id: 'inner', content: [block] }]
    return { put: answered(content), original: content }
  }),
}
const models = [
  ['claude-haiku-4-5', 'which continues answers', {}],
  ['claude-opus-4-8', 'which does not', {}],
  ['claude-fable-5-1', 'which binds thinking', { thinking: { type: 'adaptive' } }],
] as const
const cases = models.flatMap(([model, kind, more]) =>
  Object.entries(places).map(([place, odds]) => ({ model, kind, more, place, odds })),
)

const script = route([{ when: asksForSummary, script: summarizer() }], saysHello)

function world(model: string) {
  const simulator = simulate({ script, acceptForeignSignatures: true })
  const client = anthropic({ model, apiKey: 'key', fetch: simulator.fetch, ports: stillPorts() })
  const engine = createEngine({
    model: client,
    environment: {},
    settings: { sessionMemory: false, contextWindow: 200_000 },
  })
  return { simulator, engine }
}

/** What the host would send by itself, and what our client sends. */
async function expectTaken(session: Session, simulator: ReturnType<typeof simulate>, what: unknown) {
  const ready = await session.prepare()
  if (ready.type !== 'ready') throw new Error(`${JSON.stringify(what)}: ${ready.why}`)
  const again = await session.prepare()
  expect(JSON.stringify(again.type === 'ready' && again.body)).toBe(JSON.stringify(ready.body))
  const headers = ready.betas ? { 'anthropic-beta': ready.betas.join(',') } : {}
  const told = await ask(simulator, ready.body, { headers })
  expect([what, told.status, told.body.error]).toEqual([what, 200, undefined])
  expect([what, await session.send()]).toMatchObject([what, { type: 'answered' }])
}

const optionsWith = (more: object) => ({
  system: 'You work.',
  maxTokens: 500,
  tools: [{ name: 'Read', input_schema: { type: 'object' } }],
  ...more,
})

test.each(Object.entries(places))('%s may hold any odd block', async (_, odds) => {
  const { engine, simulator } = world('claude-opus-4-8')
  for (const { put, original } of odds) {
    const session = await engine.start(optionsWith({}))
    session.add({ role: 'user', content: 'Begin.' })
    put(session, 'toolu_1')
    await expectTaken(session, simulator, original)
  }
})

test.each(cases)('$place may hold all of them, for $model, $kind: reopened, kept, compacted', async (one) => {
  const { model, more, odds } = one
  const { engine, simulator } = world(model)
  const folder = mkdtempSync(join(tmpdir(), 'everlong-odd-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'session.jsonl')
  const first = await engine.start({ ...optionsWith(more), path })
  first.add({ role: 'user', content: 'Begin.' })
  first.record({ content: [{ type: 'text', text: 'words and more '.repeat(3_000) }] })
  const [kept] = first.add({ role: 'user', content: 'Kept from here.' })
  for (const [at, { put }] of odds.entries()) put(first, `toolu_${at}`)
  await first.close()
  const file = readFileSync(path, 'utf8')
  for (const { original } of odds) expect(file).toContain(JSON.stringify(original))

  const session = await engine.open(path, optionsWith(more))
  await expectTaken(session, simulator, 'reopened')
  session.add({ role: 'user', content: 'Go on.' })
  expect(await session.compact({ upTo: kept as string })).toMatchObject({ type: 'compacted' })
  await expectTaken(session, simulator, 'kept')
  session.add({ role: 'user', content: 'Go on.' })
  expect(await session.compact()).toMatchObject({ type: 'compacted' })
  session.add({ role: 'user', content: 'Go on.' })
  await expectTaken(session, simulator, 'compacted')
  await session.close()
  expect(readFileSync(path, 'utf8').startsWith(file)).toBe(true)
})
