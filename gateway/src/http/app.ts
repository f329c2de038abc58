// The routes of the gateway: its own, and everything else, which is forwarded.
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono, type MiddlewareHandler } from 'hono'
import { reportOf } from '../books/report.ts'
import type { Parts } from '../parts.ts'
import { answerRecall, isFromElsewhere } from '../recall/mcp.ts'
import { handle } from './exchange.ts'
import { type Refusal, refusals } from './refusals.ts'

export function createApp(parts: Parts): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.get('/healthz', (context) => context.json({ status: 'ok' }))
  app.get('/readyz', (context) => {
    const problem = parts.health.problem()
    const isRefusing = problem !== undefined && parts.config.whenStoreIsAway === 'refuse'
    const status = parts.isStopping() ? 'stopping' : isRefusing ? 'refusing' : 'ready'
    // Requests pass while the store is unavailable, so load balancers must not remove this process.
    const body = { status, ...(problem === undefined ? {} : { store: 'away' }) }
    return context.json(body, status === 'ready' ? 200 : 503)
  })
  app.use('/metrics', onlyAdmin(parts))
  app.get('/metrics', async (context) =>
    context.body(await parts.metrics.text(), 200, { 'content-type': parts.metrics.contentType }),
  )
  // A tenant may see only its own data; administrators may see everything.
  app.get('/everlong/report', async (context) => {
    const { incoming } = context.env
    const tenant = parts.tenants.isAdmin(incoming) ? undefined : parts.tenants.callerOf(incoming)?.tenant
    if (tenant === undefined && !parts.tenants.isAdmin(incoming)) return context.json(errorOf(refusals.noKey), 401)
    const since = Number(context.req.query('since') ?? 0)
    if (!Number.isFinite(since))
      return context.json({ error: 'since must be a number of milliseconds since 1970' }, 400)
    return context.json(reportOf(await parts.books.sums({ tenant, since })))
  })
  app.all('/mcp', async ({ env, json }) => {
    const { incoming, outgoing } = env
    const caller = parts.tenants.callerOf(incoming)
    if (!caller) return json(errorOf(refusals.noKey), 401)
    if (isFromElsewhere(incoming)) return json(errorOf(refusals.fromElsewhere), 403)
    await answerRecall({ incoming, outgoing: outgoing as never, place: parts.recallPlace(caller.tenant) })
    return RESPONSE_ALREADY_SENT
  })
  // Claude Code calls this before it sends anything, without a credential. The same route answers HEAD.
  app.get('/api/hello', (context) => context.json({ message: 'hello' }))
  app.all('*', async ({ env }) => {
    const handled = handle(env.incoming, env.outgoing as never, parts)
    parts.inFlight.add(handled)
    await handled
    return RESPONSE_ALREADY_SENT
  })
  return app
}

function onlyAdmin({ tenants }: Parts): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async (context, next) => {
    if (tenants.isAdmin(context.env.incoming)) return next()
    return context.json(errorOf(refusals.notAdmin), 401)
  }
}

function errorOf({ type, message }: Refusal): object {
  return { type: 'error', error: { type, message } }
}
