// Failures before anything is sent: a missing package, a missing key.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type ModelRequest, noCapabilities } from '../core/ports/model.ts'
import { MessageAccumulator } from './anthropic/accumulate.ts'
import { anthropic } from './anthropic/client.ts'
import { openai } from './openai/client.ts'
import { createSdkClient, loadedOnce } from './sdk.ts'

const hello: ModelRequest = { source: 'turn', model: '', messages: [{ role: 'user', content: 'Hello' }] }

/** The error that Node throws if a package is not installed. */
function missing(): Promise<never> {
  const error = new Error("Cannot find package 'x' imported from y")
  return Promise.reject(Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' }))
}

type Options = Parameters<typeof createSdkClient<unknown>>[0]
type Sdk = Parameters<typeof createSdkClient>[1]

function sdkClient(sdk: Partial<Sdk>, capabilities = {}, options: Partial<Options> = {}) {
  return createSdkClient<unknown>(
    { model: 'm', capabilities, ...options },
    {
      provider: 'some',
      name: '@anthropic-ai/sdk',
      publicEndpoint: 'http://127.0.0.1:1',
      make: async () => ({}),
      bodyOf: () => ({}),
      open: missing,
      accumulator: () => new MessageAccumulator(),
      catalog: () => noCapabilities,
      describe: async () => undefined,
      ...sdk,
    },
  )
}

describe('loading an SDK', () => {
  test('that is not installed is a refusal that says what to install', async () => {
    const client = sdkClient({ make: missing })
    const refusal = {
      type: 'failed',
      reason: 'refused',
      message:
        'the package @anthropic-ai/sdk is not installed; it is an optional peer of everlong: npm install @anthropic-ai/sdk',
      tries: 1,
    }
    expect([await client.send(hello), await client.describe?.('m')]).toEqual([refusal, refusal])
  })

  test('happens once, and again only where it failed', async () => {
    let loads = 0
    const load = loadedOnce('x', async () => {
      loads++
      if (loads === 1) throw new Error('the disk is on fire')
      return loads
    })
    await expect(load()).rejects.toThrow('the disk is on fire')
    expect([await load(), await load(), loads]).toEqual([2, 2, 2])
  })
})

test.each([
  ['the address of the client', { client: { baseURL: 'http://own' }, baseURL: 'http://option' }, 'http://own'],
  ['that of the options', { baseURL: 'http://option' }, 'http://option'],
  ['that of the options for a client that has none', { client: {}, baseURL: 'http://option' }, 'http://option'],
  ['the public one', {}, 'http://127.0.0.1:1'],
])('the endpoint is %s', (_, options, endpoint) => {
  expect(sdkClient({}, {}, options).endpoint).toBe(endpoint)
})

describe('without a key', () => {
  beforeEach(() => {
    const names = [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'ANTHROPIC_PROFILE',
      'OPENAI_API_KEY',
      'OPENAI_ADMIN_KEY',
    ]
    for (const name of names) vi.stubEnv(name, undefined)
    // Where the SDK would look for a key.
    for (const name of ['HOME', 'XDG_CONFIG_HOME', 'USERPROFILE', 'APPDATA']) vi.stubEnv(name, '/nowhere')
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  test.each([
    ['anthropic', anthropic],
    ['openai', openai],
  ])('%s refuses before anything is sent', async (_, make) => {
    const fetch = () => Promise.reject(new Error('sent'))
    const failed = await make({ model: 'm', fetch }).send(hello)
    expect(failed).toMatchObject({ type: 'failed', reason: 'refused', tries: 1 })
  })

  test('a server with an address of its own is asked all the same', async () => {
    const fetch = async (_: unknown, init?: RequestInit) => {
      const keys = new Headers(init?.headers).get('authorization')
      const chunk = { id: 'x', model: 'm', choices: [{ delta: { content: String(keys) }, finish_reason: 'stop' }] }
      return new Response(`data: ${JSON.stringify(chunk)}\n\n`, { headers: { 'content-type': 'text/event-stream' } })
    }
    const answer = await openai({ model: 'm', baseURL: 'http://127.0.0.1:1/v1', fetch }).send(hello)
    expect(answer).toMatchObject({ type: 'answer', content: [{ text: 'Bearer none' }] })
  })
})

test('what the host says comes before what the provider said, and that before the catalog', async () => {
  let asked = 0
  const client = sdkClient(
    {
      catalog: () => ({ ...noCapabilities, window: 1, maxOutput: 1, promptCache: true }),
      describe: async (_, model) => (asked++ === 0 && model === 'm' ? { window: 2, maxOutput: 2 } : undefined),
    },
    { window: 3 },
  )
  const before = { ...noCapabilities, window: 3, maxOutput: 1, promptCache: true }
  const known = { ...noCapabilities, window: 3, maxOutput: 2, promptCache: true }
  expect(client.capabilities('')).toEqual(before)
  const described = { type: 'described', model: 'm', capabilities: known }
  expect([await client.describe?.(''), await client.describe?.('m'), asked]).toEqual([described, described, 1])
  expect([client.capabilities('m'), client.capabilities('another')]).toEqual([known, before])
  expect(await client.describe?.('another')).toMatchObject({ type: 'failed', message: 'the server lists no another' })
})

describe('counting the tokens of a request', () => {
  test('says what the server counted, or why it did not', async () => {
    const counts: (number | undefined)[] = [1_234, undefined]
    const count = async () => {
      if (counts.length === 0) throw Object.assign(new Error('no such address'), { status: 404 })
      return counts.shift()
    }
    const client = sdkClient({ count })
    expect(await client.count?.(hello)).toEqual({ type: 'counted', inputTokens: 1_234 })
    const refusal = { type: 'failed', reason: 'refused', message: 'the server does not count', tries: 1 }
    expect(await client.count?.(hello)).toEqual(refusal)
    expect(await client.count?.(hello)).toMatchObject({ type: 'failed', message: 'no such address' })
  })

  test('is not offered where the SDK has no way to', () => {
    expect(sdkClient({}).count).toBeUndefined()
  })
})
