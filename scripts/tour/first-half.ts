// The first half of the tour's story: the plan, the limiter, the question of the proxies, and a compaction by hand.
import { bashCall, failedBashCall, globCall, taskCall } from 'everlong/internal/testing'
import { cwd, limiterDraft, limiterTest } from './files.ts'
import { accessLog, testRun } from './logs.ts'
import { firstTests, goals, routeTests } from './names.ts'
import { afterTheFirstHalf } from './summaries.ts'
import type { Teller } from './teller.ts'

export function plan(teller: Teller): void {
  const listing = [
    'README.md',
    'docs/operations.md',
    'src/config.ts',
    'src/routes.ts',
    'src/server.ts',
    'src/store.ts',
    'test/routes.test.ts',
  ]
  teller
    .prompt(
      'Our public tracking endpoint was hammered last night: one client polled every parcel ten times a second, and everybody else got timeouts. Please add rate limiting to the service. Look around first and tell me what you would do before you change anything.',
    )
    .calls(
      "I'll look at how the service is put together.",
      globCall(
        '**/*.{ts,md}',
        listing.map((path) => `${cwd}/${path}`),
      ),
    )
    .calls(
      'Four small files. I read them all, and the notes on operations.',
      teller.read('src/server.ts'),
      teller.read('src/routes.ts'),
      teller.read('src/store.ts'),
      teller.read('src/config.ts'),
    )
    .calls('Who the clients are matters more than the code.', teller.read('docs/operations.md'))
    .calls(
      "And last night's log, around the time it began.",
      bashCall("sed -n '/02:14/,/02:17/p' logs/access.log", 'Show the access log of the incident', accessLog(50)),
    )
    .calls('I have what I need; let me write the plan down.', teller.plan(0, ...goals))
    .reply(`Here is what I would do.

**What happened.** \`crawler-x1\` sent four of every five requests. Nothing in the service holds one client back, so it took all the time there was.

**What I suggest**
1. A token bucket for each client, in memory: a burst at once, then a steady rate. About forty lines, no dependency.
2. It stands before the routes in \`server.ts\`. \`/health\` stays outside, or the balancer would take us out of service.
3. A refused request gets 429 and is told when to come back.

**What I need from you:** the rate, and whether a client is a key or an address. Two instances mean that a client gets twice the rate; I would accept that.`)
}

export function limiter(teller: Teller): void {
  const trace =
    "  error: 'Expected values to be strictly equal: false !== true'\n  stack: |-\n    TestContext.<anonymous> (test/rate-limit.test.ts:22:10)"
  teller
    .prompt(
      'A token bucket is fine. Per API key if there is one, else per address. 60 a minute with bursts of 20. No new dependencies, please.',
    )
    .calls(
      'The limiter first, and its tests beside it.',
      teller.write('src/rate-limit.ts', limiterDraft),
      teller.write('test/rate-limit.test.ts', limiterTest),
    )
    .calls(
      '',
      failedBashCall(
        'node --test test/rate-limit.test.ts',
        'Run the tests of the limiter',
        testRun({ passed: firstTests.slice(0, 1), failed: firstTests.slice(1, 2), trace }),
      ),
    )
    .calls(
      'The test hands in a clock, but the limiter reads its own. The clock has to be an argument.',
      teller.edit(
        'src/rate-limit.ts',
        'export function rateLimiter(limit: Limit) {',
        'export function rateLimiter(limit: Limit, { now = Date.now }: { readonly now?: () => number } = {}) {',
      ),
    )
    .calls(
      '',
      teller.edit(
        'src/rate-limit.ts',
        `      const now = Date.now()
      const bucket = buckets.get(client) ?? { tokens: limit.burst, filledAt: now }
      const refilled = bucket.tokens + ((now - bucket.filledAt) / 60_000) * limit.perMinute
      bucket.tokens = Math.min(limit.burst, refilled)
      bucket.filledAt = now`,
        `      const time = now()
      const bucket = buckets.get(client) ?? { tokens: limit.burst, filledAt: time }
      const refilled = bucket.tokens + ((time - bucket.filledAt) / 60_000) * limit.perMinute
      bucket.tokens = Math.min(limit.burst, refilled)
      bucket.filledAt = time`,
      ),
    )
    .calls('', bashCall('node --test', 'Run all tests', testRun({ passed: [...firstTests, ...routeTests] })))
  beforeTheRoutes(teller)
}

function beforeTheRoutes(teller: Teller): void {
  teller
    .calls('Now the server, where every request comes in.', teller.plan(2, ...goals))
    .calls(
      '',
      teller.edit(
        'src/server.ts',
        "import { config } from './config.ts'\n",
        "import { config } from './config.ts'\nimport { rateLimiter } from './rate-limit.ts'\n",
      ),
    )
    .calls(
      '',
      teller.edit(
        'src/server.ts',
        '    const answer = await route(request, store)\n',
        `    const client = String(request.headers['x-api-key'] ?? request.socket.remoteAddress)
    if (request.url !== '/health' && !limiter.take(client).allowed) {
      send(response, 429, { error: 'too many requests' })
      return
    }
    const answer = await route(request, store)
`,
      ),
    )
    .calls(
      '',
      teller.edit(
        'src/server.ts',
        'const store = openStore(config.databasePath)\n',
        'const store = openStore(config.databasePath)\nconst limiter = rateLimiter({ perMinute: 60, burst: 20 })\n',
      ),
    )
    .calls(
      '',
      bashCall('node --test', 'Run all tests', testRun({ passed: [...firstTests, ...routeTests] })),
      teller.plan(3, ...goals),
    )
    .reply(`The limiter is in: 60 a minute with bursts of 20, a bucket for each key or address, \`/health\` outside. Eight tests pass.

One thing bothers me. Behind the balancer \`remoteAddress\` is the balancer's own address, so all the people on the public page would share a single bucket.`)
}

export function proxies(teller: Teller): void {
  const report = `**Nothing reads the client's address at the moment.**

- \`src/config.ts\` has \`trustedProxies\` (default 1), with a comment about \`x-forwarded-for\`. No other file mentions it.
- \`docs/operations.md\` says that the balancer appends the client's address to \`x-forwarded-for\`. It appends and does not replace, so the left part of the header can be forged by anybody.
- The access log prints \`socket.remoteAddress\`, which is the balancer for every request without a key.

The safe reading: take the entry that the outermost trusted proxy added, counted from the right.`
  teller
    .prompt(
      "Does anything in the repo already know the client's address behind the proxy? Send somebody to look, I don't want to fill this conversation with it.",
    )
    .calls(
      'I send a sub-agent, so that its reading stays out of here.',
      taskCall({
        description: 'Find who reads the client address',
        prompt:
          'Find out whether anything in this repository works out the address of a client behind a proxy: settings, headers, logs, documents. Report in ten lines, with the files.',
        report,
        agentId: 'a41c7d20',
        tokens: 21_400,
      }),
    )
    .reply(
      'Nothing does yet. The setting `trustedProxies` is there and nobody reads it. The header can be forged on its left side, so the address must be counted from the right. Shall I use it?',
    )
    .compact({
      trigger: 'manual',
      instructions: 'keep the decisions about limits and clients',
      summary: afterTheFirstHalf,
      shown: ['src/rate-limit.ts', 'src/server.ts'],
    })
}
