// The server on this machine: where it listens, what it serves beside the API, how it ends.
import { modelFacts } from 'everlong/internal'
import { expect, test } from 'vitest'
import { faultHeader } from './faults/fault.ts'
import { startServer } from './server.ts'
import { ask, saysHello, send, simulate } from './testing/ask.ts'

const headers = { 'x-api-key': 'key', 'anthropic-version': '2023-06-01', 'content-type': 'application/json' }
const body = { model: 'claude-opus-5', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }

test('it takes a free port of this machine only, and gives it back', async () => {
  const server = await startServer({ script: saysHello })
  expect(server.url).toBe(`http://127.0.0.1:${server.port}`)
  const response = await fetch(`${server.url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.status).toBe(200)
  expect(response.headers.get('request-id')).toMatch(/^req_/)
  await response.text()
  const log = await fetch(`${server.url}/_everlong/log`)
  expect(await log.text()).toMatch(/^#1 200 \/v1\/messages claude-opus-5 \[u\] /)
  const meter = await fetch(`${server.url}/_everlong/meter`)
  expect(await meter.json()).toMatchObject({ requests: 1 })
  await server.close()
  await expect(fetch(server.url)).rejects.toThrow()
})

test('a port that is taken is an error', async () => {
  const first = await startServer({ script: saysHello })
  await expect(startServer({ script: saysHello, port: first.port })).rejects.toThrow(/EADDRINUSE/)
  await first.close()
})

test('faults come by plan, and by header without one', async () => {
  const server = await startServer({
    script: saysHello,
    faults: { rules: [{ when: (_, at) => at === 0, fault: { type: 'overloaded' } }] },
  })
  const post = (more: Record<string, string> = {}) =>
    fetch(`${server.url}/v1/messages`, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  expect([(await post()).status, (await post()).status]).toEqual([529, 200])
  expect((await post({ [faultHeader]: 'overloaded' })).status).toBe(529)
  await expect(post({ [faultHeader]: 'cut-before' })).rejects.toThrow()
  await server.close()
})

test('a script that throws is an internal error, and is told', async () => {
  const simulator = simulate({
    script: () => {
      throw new Error('the script is broken')
    },
  })
  expect(await ask(simulator, body)).toMatchObject({
    status: 500,
    body: { type: 'error', error: { type: 'api_error', message: 'the script is broken' } },
  })
  expect(simulator.log.entries[0]).toMatchObject({ status: 500, outcome: 'the script is broken' })
})

test('an abort rejects, before and while an answer is made', async () => {
  const simulator = simulate({ script: () => new Promise(() => undefined) })
  const init = { method: 'POST', headers, body: JSON.stringify(body) }
  const before = simulator.fetch('http://simulator/v1/messages', { ...init, signal: AbortSignal.abort() })
  await expect(before).rejects.toThrow(/aborted/)
  const control = new AbortController()
  const during = simulator.fetch('http://simulator/v1/messages', { ...init, signal: control.signal })
  control.abort()
  await expect(during).rejects.toThrow(/aborted/)
})

test('an abort ends a stream', async () => {
  const control = new AbortController()
  const simulator = simulate()
  const response = await simulator.fetch('http://simulator/v1/messages', {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...body, stream: true }),
    signal: control.signal,
  })
  control.abort()
  await expect(response.text()).rejects.toThrow(/aborted/)
})

test('the same seed gives the same bytes', async () => {
  const run = async (seed: number) => {
    const simulator = simulate({
      seed,
      script: (_, { random, turn }) => ({ content: [{ type: 'text', text: `${turn} ${random()}` }] }),
    })
    return [await (await send(simulator, body)).text(), await (await send(simulator, body)).text()]
  }
  expect(await run(3)).toEqual(await run(3))
  expect(await run(3)).not.toEqual(await run(4))
})

test('models can be added and their windows set', async () => {
  const own = { ...modelFacts('claude-opus-4-5')!, id: 'own-model', window: 1_000, maxOutput: 500 }
  const simulator = simulate({ models: [own], windows: { 'claude-opus-5': 4_000 } })
  expect((await ask(simulator, { ...body, model: 'own-model' })).status).toBe(200)
  const found = async (id: string) => {
    const response = await simulator.fetch(`http://simulator/v1/models/${id}`, { headers })
    const model = (await response.json()) as { max_input_tokens: number; max_tokens: number }
    return [model.max_input_tokens, model.max_tokens]
  }
  expect([await found('own-model'), await found('claude-opus-5')]).toEqual([
    [1_000, 500],
    [4_000, 128_000],
  ])
})
