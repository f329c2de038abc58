// The files of the small service in the tour: a parcel tracker that is about to get rate limiting. Text only.

export const cwd = '/home/mara/parcel-desk'

export const server = `import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { config } from './config.ts'
import { route } from './routes.ts'
import { openStore } from './store.ts'

const store = openStore(config.databasePath)

export const server = createServer(async (request, response) => {
  const started = Date.now()
  try {
    const answer = await route(request, store)
    send(response, answer.status, answer.body)
  } catch (error) {
    console.error('unhandled', request.url, error)
    send(response, 500, { error: 'internal' })
  } finally {
    log(request, response, Date.now() - started)
  }
})

function send(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
  })
  response.end(text)
}

function log(request: IncomingMessage, response: ServerResponse, milliseconds: number): void {
  const client = request.headers['x-api-key'] ?? request.socket.remoteAddress
  console.log(\`\${request.method} \${request.url} \${response.statusCode} \${milliseconds}ms \${client}\`)
}

if (import.meta.main) {
  server.listen(config.port, () => console.log(\`parcel-desk listens on \${config.port}\`))
}
`

export const routes = `import type { IncomingMessage } from 'node:http'
import type { Store } from './store.ts'

export type Answer = { readonly status: number; readonly body: unknown }

const notFound: Answer = { status: 404, body: { error: 'not found' } }

/** Every path of the public API. The health check stays outside of any limit: the load balancer polls it. */
export async function route(request: IncomingMessage, store: Store): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const [, first, second, third] = url.pathname.split('/')
  if (first === 'health') return { status: 200, body: { ok: true } }
  if (first !== 'parcels' || request.method !== 'GET') return notFound
  if (second === undefined || second === '') {
    const limit = Math.min(Number(url.searchParams.get('limit') ?? 50), 200)
    return { status: 200, body: await store.list({ limit, after: url.searchParams.get('after') }) }
  }
  const parcel = await store.find(second)
  if (!parcel) return notFound
  if (third === 'events') return { status: 200, body: await store.events(parcel.id) }
  return { status: 200, body: parcel }
}
`

export const store = `import { DatabaseSync } from 'node:sqlite'

export type Parcel = {
  readonly id: string
  readonly sender: string
  readonly recipient: string
  readonly state: 'announced' | 'in-transit' | 'delivered' | 'returned'
  readonly updatedAt: string
}

export type ParcelEvent = { readonly at: string; readonly place: string; readonly text: string }

export type Store = {
  find(id: string): Promise<Parcel | undefined>
  list(page: { readonly limit: number; readonly after: string | null }): Promise<readonly Parcel[]>
  events(id: string): Promise<readonly ParcelEvent[]>
}

export function openStore(path: string): Store {
  const database = new DatabaseSync(path, { readOnly: true })
  const byId = database.prepare('select * from parcel where id = ?')
  const page = database.prepare('select * from parcel where id > ? order by id limit ?')
  const events = database.prepare('select at, place, text from event where parcel = ? order by at')
  return {
    find: async (id) => byId.get(id) as Parcel | undefined,
    list: async ({ limit, after }) => page.all(after ?? '', limit) as unknown as readonly Parcel[],
    events: async (id) => events.all(id) as unknown as readonly ParcelEvent[],
  }
}
`

export const config = `/** Read once at start. Everything has a default that works on a laptop. */
export const config = {
  port: Number(process.env.PORT ?? 8080),
  databasePath: process.env.PARCEL_DB ?? 'parcels.db',
  /** How many proxies stand before us; each appends one address to x-forwarded-for. */
  trustedProxies: Number(process.env.TRUSTED_PROXIES ?? 1),
} as const
`

export const operations = `# Operations

## Where it runs

Two instances behind one load balancer. The balancer ends TLS, appends the client's address to
\`x-forwarded-for\` and polls \`/health\` every two seconds. An instance that misses three polls is taken out.

## Clients

| client       | key | requests a day | notes                                   |
| ------------ | --- | -------------- | --------------------------------------- |
| web shop     | yes | 40 000         | asks for single parcels                 |
| courier app  | yes | 120 000        | asks for events, in bursts at 7 and 16 h |
| partner sync | yes | 9 000          | walks the whole list at night           |
| public page  | no  | 25 000         | people who paste a tracking number      |

## When it is slow

1. Look at the access log: is one client much louder than the rest?
2. \`sqlite3 parcels.db 'pragma integrity_check'\`. It has never been the database so far.
3. Restart one instance, wait for its health check, restart the other.

## Incidents

- 12 January: the disk was full of logs. Rotation is on since then.
- 3 February: a certificate ran out. There is a reminder now.
- 1 March: one client polled every parcel ten times a second; everybody else saw timeouts.
`

export const readme = `# parcel-desk

A small read-only HTTP service over the parcel database.

    GET /parcels?limit=50&after=ID     a page of parcels
    GET /parcels/ID                    one parcel
    GET /parcels/ID/events             where it has been
    GET /health                        for the load balancer

Run it with \`node src/server.ts\`, test it with \`node --test\`. Settings: see \`src/config.ts\`.
`

export const limiterDraft = `export type Limit = { readonly perMinute: number; readonly burst: number }

export type Verdict = { readonly allowed: boolean }

type Bucket = { tokens: number; filledAt: number }

/** A token bucket for each client: a burst at once, then a steady rate. */
export function rateLimiter(limit: Limit) {
  const buckets = new Map<string, Bucket>()
  return {
    take(client: string): Verdict {
      const now = Date.now()
      const bucket = buckets.get(client) ?? { tokens: limit.burst, filledAt: now }
      const refilled = bucket.tokens + ((now - bucket.filledAt) / 60_000) * limit.perMinute
      bucket.tokens = Math.min(limit.burst, refilled)
      bucket.filledAt = now
      buckets.set(client, bucket)
      if (bucket.tokens < 1) return { allowed: false }
      bucket.tokens -= 1
      return { allowed: true }
    },
  }
}
`

export const limiterTest = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rateLimiter } from '../src/rate-limit.ts'

const limit = { perMinute: 60, burst: 20 }

test('a burst passes, the next request does not', () => {
  const limiter = rateLimiter(limit, { now: () => 0 })
  const verdicts = Array.from({ length: 21 }, () => limiter.take('shop').allowed)
  assert.deepEqual(verdicts.slice(0, 20), Array(20).fill(true))
  assert.equal(verdicts[20], false)
})

test('one token comes back each second', () => {
  let time = 0
  const limiter = rateLimiter(limit, { now: () => time })
  for (let count = 0; count < 20; count += 1) limiter.take('shop')
  assert.equal(limiter.take('shop').allowed, false)
  time = 1000
  assert.equal(limiter.take('shop').allowed, true)
  assert.equal(limiter.take('shop').allowed, false)
})

test('clients do not spend one another\\'s tokens', () => {
  const limiter = rateLimiter(limit, { now: () => 0 })
  for (let count = 0; count < 50; count += 1) limiter.take('loud')
  assert.equal(limiter.take('quiet').allowed, true)
})
`
