// The engine's sessions against the API's rules: whatever a session holds and whichever model it is handed to, the next
// request is taken.
import type { Block } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import type { JsonObject } from 'everlong/internal'
import { createEngine, type Session } from 'everlong/node'
import { describe, expect, test } from 'vitest'
import { ask, simulate } from './testing/ask.ts'
import { stillPorts } from './testing/still-ports.ts'

const model = 'claude-opus-4-5'

function world(simulator = simulate()) {
  const client = anthropic({ model, apiKey: 'key', fetch: simulator.fetch, ports: stillPorts() })
  const engine = createEngine({ model: client, environment: {}, settings: { sessionMemory: false } })
  return { simulator, client, start: () => engine.start({ maxTokens: 500 }) }
}

/** What the host would send by itself, and whether the API takes it. */
async function sentByHost(session: Session, simulator = simulate()) {
  const ready = await session.prepare()
  if (ready.type !== 'ready') throw new Error(ready.why)
  const headers = ready.betas ? { 'anthropic-beta': ready.betas.join(',') } : {}
  const told = await ask(simulator, ready.body, { headers })
  return { body: ready.body, status: told.status, error: told.body.error }
}

const call = (id: string): Block => ({ type: 'tool_use', id, name: 'Read', input: { file_path: '/a' } })
const result = (id: string): Block => ({ type: 'tool_result', tool_use_id: id, content: 'found' })

describe('calls that another provider gave their ids', () => {
  const foreign = ['functions.Read:0', 'call_abc|fc_def', 'functions_Read_0']

  async function recorded() {
    const { start, simulator } = world()
    const session = await start()
    session.add({ role: 'user', content: 'go' })
    for (const id of foreign) {
      session.record({ content: [call(id)], model: 'kimi-k2' })
      session.add({ role: 'user', content: [result(id)] })
    }
    return { session, simulator }
  }

  test('are taken, in the body for hosts and in what our client sends', async () => {
    const { session } = await recorded()
    const { body, status, error } = await sentByHost(session)
    expect([status, error]).toEqual([200, undefined])
    const blocks = (body.messages as JsonObject[]).flatMap(({ content }) => (Array.isArray(content) ? content : []))
    const ids = blocks.map(({ id, tool_use_id }) => id ?? tool_use_id).filter((id) => id !== undefined)
    const legal = [/^functions_Read_0-[a-z0-9]+$/, /^call_abc_fc_def-[a-z0-9]+$/, /^functions_Read_0$/]
    expect(ids).toEqual(legal.flatMap((id) => [expect.stringMatching(id), expect.stringMatching(id)]))
    expect(ids.filter((_, at) => at % 2 === 0)).toEqual(ids.filter((_, at) => at % 2 === 1))
    expect(await session.send()).toMatchObject({ type: 'answered' })
  })

  test('keep their ids in the session', async () => {
    const { session } = await recorded()
    await session.send()
    const ids = session
      .messages()
      .flatMap(({ content }) => (typeof content === 'string' ? [] : content.map(({ id }) => id)))
    expect(ids.filter((id) => id !== undefined)).toEqual(foreign)
  })
})

describe('images and documents', () => {
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const image: Block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: dot } }
  const pdf = (pages: number): Block => {
    const data = Buffer.from(`%PDF-1.4 /Type /Pages ${'/Type /Page '.repeat(pages)}`).toString('base64')
    return { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
  }
  const shot = (id: string, content: readonly Block[]): Block => ({ type: 'tool_result', tool_use_id: id, content })

  async function withShots(start: () => Promise<Session>, shots: readonly (readonly Block[])[]) {
    const session = await start()
    session.add({ role: 'user', content: 'go' })
    for (const [at, content] of shots.entries()) {
      session.record({ content: [call(`t${at}`)] })
      session.add({ role: 'user', content: [shot(`t${at}`, content)] })
    }
    return session
  }

  /** How many images a request holds, and in which of its results. */
  async function imagesSent(session: Session) {
    const ready = await session.prepare()
    if (ready.type !== 'ready') throw new Error(ready.why)
    const results = ready.messages.flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result'),
    )
    const counts = results.map(({ content }) =>
      Array.isArray(content) ? content.filter(({ type }) => type !== 'text').length : 0,
    )
    return { counts, tried: ready.tried.filter(({ mechanism }) => mechanism === 'strip-media') }
  }

  test('more than a request may hold: the oldest leave before it is sent, with room for more', async () => {
    const { start } = world()
    const session = await withShots(
      start,
      Array.from({ length: 120 }, () => [image]),
    )
    const { counts, tried } = await imagesSent(session)
    expect(counts).toEqual([...Array.from({ length: 40 }, () => 0), ...Array.from({ length: 80 }, () => 1)])
    expect(tried).toMatchObject([{ outcome: 'done' }])
    expect(await session.send()).toMatchObject({ type: 'answered' })
    expect((await imagesSent(session)).tried).toEqual([])
  })

  test('exactly as many as a request may hold stay', async () => {
    const session = await withShots(
      world().start,
      Array.from({ length: 100 }, () => [image]),
    )
    expect((await imagesSent(session)).tried).toEqual([])
    expect(await session.send()).toMatchObject({ type: 'answered' })
  })

  test('one message with too many keeps its newest, and all before it go', async () => {
    const session = await withShots(world().start, [[image], Array.from({ length: 130 }, () => image)])
    expect((await imagesSent(session)).counts).toEqual([0, 100])
    expect(await session.send()).toMatchObject({ type: 'answered' })
    await session.undo()
    expect(session.messages().flatMap(({ content }) => JSON.stringify(content).match(/"image"/g) ?? []).length).toBe(
      131,
    )
  })

  test('a pinned one stays', async () => {
    const { start } = world()
    const session = await start()
    session.add({ role: 'user', content: 'go' })
    session.record({ content: [call('t')] })
    const [first] = session.add({ role: 'user', content: [shot('t', [image])] })
    await session.pin(String(first))
    for (let at = 0; at < 110; at++) {
      session.record({ content: [call(`t${at}`)] })
      session.add({ role: 'user', content: [shot(`t${at}`, [image])] })
    }
    expect((await imagesSent(session)).counts.flatMap((count, at) => (count > 0 ? at : []))).toEqual([
      0,
      ...Array.from({ length: 79 }, (_, at) => at + 32),
    ])
  })

  test('more than the server says it takes: the oldest leave, and the request is sent again', async () => {
    // In the catalog this model has a large window, which takes more.
    const large = 'claude-opus-4-6'
    const simulator = simulate({ windows: { [large]: 100_000 } })
    const client = anthropic({ model: large, apiKey: 'key', fetch: simulator.fetch, ports: stillPorts() })
    const engine = createEngine({ model: client, environment: {}, settings: { sessionMemory: false } })
    const session = await withShots(
      () => engine.start({ maxTokens: 500 }),
      Array.from({ length: 120 }, () => [image]),
    )
    expect(await session.send()).toMatchObject({ type: 'answered' })
    expect(simulator.log.entries.map(({ status }) => status)).toEqual([400, 200])
    session.add({ role: 'user', content: 'and?' })
    expect((await imagesSent(session)).counts.filter((count) => count > 0).length).toBe(80)
  })

  test('pages that only the server can count: all documents but the newest leave', async () => {
    const { start, simulator } = world()
    const session = await withShots(start, [[pdf(60)], [pdf(60)], [image]])
    expect(await session.send()).toMatchObject({ type: 'answered' })
    const turns = simulator.log.entries.filter(({ endpoint }) => endpoint === '/v1/messages')
    expect(turns.map(({ outcome }) => outcome)).toEqual([
      'Too much media: 120 document pages + 1 images > 100',
      'end_turn',
    ])
    expect((await imagesSent(session)).counts).toEqual([0, 0, 1])
  })
})
