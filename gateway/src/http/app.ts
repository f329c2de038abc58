// The addresses of the gateway: its own, and everything else, which is forwarded.
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono } from 'hono'
import type { Parts } from '../parts.ts'
import { handle } from './exchange.ts'

export type Health = {
  /** Whether requests are accepted. */
  readonly isStopping: () => boolean
  /** Undefined if the store can be used, otherwise why not. */
  readonly problem: () => Promise<string | undefined>
}

export function createApp(parts: Parts, health: Health): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.get('/readyz', async (context) => {
    const problem = health.isStopping() ? 'stopping' : await health.problem()
    return problem === undefined ? context.json({ status: 'ready' }) : context.json({ status: problem }, 503)
  })
  // Claude Code asks before it sends anything, without a credential. HEAD is answered by the same route.
  app.get('/api/hello', (context) => context.json({ message: 'hello' }))
  app.all('*', async ({ env }) => {
    await handle(env.incoming, env.outgoing as never, parts)
    return RESPONSE_ALREADY_SENT
  })
  return app
}
