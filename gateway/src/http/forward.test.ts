// Forwarding for a client that is not there any more.
import { createServer } from 'node:http'
import { expect, test } from 'vitest'
import { checkConfig } from '../config/load.ts'
import { listening, upstream } from '../testing/started.ts'
import { createUpstreams } from '../upstreams.ts'
import { type Forwarded, forward } from './forward.ts'

test('nothing is sent for a client that went away before, and the exchange ends', async () => {
  const { url, got } = await upstream(() => ({ body: '{}' }))
  const config = checkConfig(
    { upstreams: { one: { url } }, defaultUpstreams: { messages: 'one', openai: 'one' } },
    'the test',
  )
  const upstreams = createUpstreams(config)
  const route = upstreams.routeOf('/v1/messages', true)
  const ended = Promise.withResolvers<Forwarded>()
  const server = await listening(
    createServer((incoming, outgoing) => {
      outgoing.once('close', () => {
        if (!route) return
        const { limits } = config
        const given = { incoming, outgoing, body: Buffer.from('{}'), shape: 'messages', limits, now: Date.now } as const
        forward({ ...given, upstream: route.upstream, path: route.path }).then(ended.resolve, ended.reject)
      })
      outgoing.destroy()
    }),
  )
  await expect(fetch(server.url, { method: 'POST', body: '{}' })).rejects.toThrow()
  const nothing = { headers: {}, bytes: undefined, isWhole: false, firstByteMs: undefined }
  expect(await ended.promise).toEqual({ type: 'aborted', status: 0, ...nothing })
  expect(got).toEqual([])
  upstreams.close()
})
