// A process under load: the gateway on one of its levels, or a bare Hono proxy. It sends its port, and what it used when asked.

import { checkConfig, startGateway } from '@everlong/gateway'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { proxy } from 'hono/proxy'

export type Used = { readonly rss: number; readonly cpuMs: number }

const [kind = '', upstream = '', data = ''] = process.argv.slice(2)
const url = await (kind === 'hono' ? bareProxy() : gateway())
process.on('message', (message) => {
  if (message === 'stop') process.exit()
  globalThis.gc?.()
  const { user, system } = process.cpuUsage()
  process.send?.({ rss: process.memoryUsage.rss(), cpuMs: (user + system) / 1_000 } satisfies Used)
})
process.send?.(url)

async function bareProxy(): Promise<string> {
  const app = new Hono()
  app.all('*', ({ req }) => proxy(`${upstream}${new URL(req.url).pathname}`, req))
  const server = createAdaptorServer({ fetch: app.fetch })
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
  return `http://127.0.0.1:${port}`
}

async function gateway(): Promise<string> {
  const upstreams = { simulated: { url: upstream } }
  const defaultUpstreams = { messages: 'simulated', openai: 'simulated' }
  const config = checkConfig({ listen: { port: 0 }, data, level: kind, upstreams, defaultUpstreams }, 'the benchmark')
  return (await startGateway(config, { write: () => undefined })).url
}
