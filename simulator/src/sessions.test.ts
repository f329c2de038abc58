// The engine's sessions against the API's rules: whatever a session holds and whichever model it is handed to, the next
// request is taken.
import { type Block, createEngine, type EngineSession, type JsonObject } from 'everlong'
import { anthropic } from 'everlong/models'
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
async function sentByHost(session: EngineSession, simulator = simulate()) {
  const ready = await session.prepare()
  if (ready.type !== 'ready') throw new Error(ready.detail)
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
    const legal = ['functions_Read_0-2', 'call_abc_fc_def', 'functions_Read_0']
    expect(ids).toEqual(legal.flatMap((id) => [id, id]))
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
