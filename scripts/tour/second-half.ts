// The second half of the tour's story: headers, the load test that fills the window, documents, a last look.
import { bashCall, failedEditCall, grepCall } from 'everlong/internal/testing'
import { cwd } from './files.ts'
import { accessLog, loadTest, testRun } from './logs.ts'
import { allTests, goals, laterTests, routeTests } from './names.ts'
import { afterTheLoadTest } from './summaries.ts'
import type { Teller } from './teller.ts'

const clientFile = `import type { IncomingMessage } from 'node:http'

/** Who is asking: the key, or else the address that the outermost proxy we trust has seen. */
export function clientOf(request: IncomingMessage, trustedProxies: number): string {
  const key = request.headers['x-api-key']
  if (typeof key === 'string' && key !== '') return \`key:\${key}\`
  const seen = String(request.headers['x-forwarded-for'] ?? '').split(',').map((part) => part.trim())
  const address = trustedProxies > 0 ? seen.at(-trustedProxies) : undefined
  return \`address:\${address || request.socket.remoteAddress}\`
}
`

export function headers(teller: Teller): void {
  teller
    .prompt('Yes, use the proxies setting. And tell clients when they may come back.')
    .calls(
      'Both need the limiter and the server as they are now.',
      teller.read('src/rate-limit.ts'),
      teller.read('src/server.ts'),
    )
    .calls('', teller.write('src/client.ts', clientFile))
    .calls(
      'The verdict has to say more than yes or no.',
      teller.edit(
        'src/rate-limit.ts',
        'export type Verdict = { readonly allowed: boolean }',
        `export type Verdict = {
  readonly allowed: boolean
  /** Whole requests that would pass right now. */
  readonly remaining: number
  /** Seconds until the next one passes; 0 when one would pass now. */
  readonly retryAfter: number
}`,
      ),
    )
    .calls(
      '',
      teller.edit(
        'src/rate-limit.ts',
        `      if (bucket.tokens < 1) return { allowed: false }
      bucket.tokens -= 1
      return { allowed: true }`,
        `      const allowed = bucket.tokens >= 1
      if (allowed) bucket.tokens -= 1
      const missing = Math.max(0, 1 - bucket.tokens)
      return { allowed, remaining: Math.floor(bucket.tokens), retryAfter: Math.ceil((missing / limit.perMinute) * 60) }`,
      ),
    )
    .calls(
      '',
      failedEditCall(`${cwd}/src/server.ts`, {
        oldString: '    const client = request.headers',
        newString: '    const client = clientOf(request, config.trustedProxies)',
      }),
    )
    .calls('That line reads differently from what I remembered. I look again.', teller.read('src/server.ts'))
    .calls(
      '',
      teller.edit(
        'src/server.ts',
        `    const client = String(request.headers['x-api-key'] ?? request.socket.remoteAddress)
    if (request.url !== '/health' && !limiter.take(client).allowed) {
      send(response, 429, { error: 'too many requests' })
      return
    }
`,
        `    if (request.url !== '/health') {
      const verdict = limiter.take(clientOf(request, config.trustedProxies))
      response.setHeader('x-ratelimit-remaining', verdict.remaining)
      if (!verdict.allowed) {
        response.setHeader('retry-after', verdict.retryAfter)
        send(response, 429, { error: 'too many requests' })
        return
      }
    }
`,
      ),
    )
    .calls(
      '',
      teller.edit(
        'src/server.ts',
        "import { config } from './config.ts'\n",
        "import { clientOf } from './client.ts'\nimport { config } from './config.ts'\n",
      ),
      bashCall('node --test', 'Run all tests', testRun({ passed: [...laterTests, ...routeTests] })),
    )
    .calls(
      'A short run against a real server, as one loud client.',
      bashCall(
        'node scripts/load.ts --rate 50 --seconds 25 --key crawler-x1',
        'Load the server as one client',
        loadTest({ seconds: 25, rate: 50, client: 'crawler-x1', allowed: 1 }),
      ),
      teller.plan(4, ...goals),
    )
    .reply(
      'Done. A client is its key, or the address the balancer saw. Every answer carries `x-ratelimit-remaining`, and a refusal says `retry-after`. In the load test the loud client got its burst of 20 and then one request a second; 14 tests pass.',
    )
}

const evict = `      // A bucket that is full again says nothing that a new one would not say.
      if (buckets.size > 10_000) {
        for (const [name, one] of buckets) if (time - one.filledAt > 60_000) buckets.delete(name)
      }
`

export function twoKeys(teller: Teller): void {
  teller
    .prompt('Run the load test with two keys at once. I want to see that they do not starve one another.')
    .calls(
      'Both at the same time, ten seconds apart in their start.',
      bashCall(
        'node scripts/load.ts --rate 40 --seconds 35 --key crawler-x1',
        'Load as the loud client',
        loadTest({ seconds: 35, rate: 40, client: 'crawler-x1', allowed: 1 }),
      ),
      bashCall(
        'node scripts/load.ts --rate 1 --seconds 30 --key shop-7f',
        'Load as a polite client',
        loadTest({ seconds: 30, rate: 1, client: 'shop-7f', allowed: 1 }),
      ),
    )
    .compact({ trigger: 'auto', isKeeping: true, summary: afterTheLoadTest, shown: ['src/rate-limit.ts'] })
    .calls(
      'The polite client lost nothing: 30 of 30. One thing I saw in passing is that buckets are never dropped, so I mend that now.',
      teller.read('src/rate-limit.ts'),
    )
    .calls(
      '',
      teller.edit(
        'src/rate-limit.ts',
        '      const bucket = buckets.get(client)',
        `${evict}      const bucket = buckets.get(client)`,
      ),
    )
    .calls('', bashCall('node --test', 'Run all tests', testRun({ passed: allTests })))
    .reply(
      'They do not: while the loud client was refused 39 times a second, the polite one got every one of its 30 requests, within 17 ms. I also made the limiter forget clients that have been quiet for a minute once it knows ten thousand of them; otherwise every address on the internet would have stayed in memory.',
    )
}

export function documents(teller: Teller): void {
  teller
    .prompt('Good. Please write it down where the people on call will look.')
    .calls(
      'That is the page on operations, and a line in the README.',
      teller.read('docs/operations.md'),
      teller.read('README.md'),
    )
    .calls(
      '',
      teller.edit(
        'docs/operations.md',
        '## When it is slow\n',
        `## Limits

Each client may send 60 requests a minute, with bursts of 20, on each instance. A client is its \`x-api-key\` or, without one, the
address that the balancer saw (\`TRUSTED_PROXIES\`, counted from the right of \`x-forwarded-for\`). Beyond that it gets 429 with
\`retry-after\` in seconds. \`/health\` is never limited. The figures are in \`src/server.ts\`.

## When it is slow
`,
      ),
    )
    .calls(
      '',
      teller.edit(
        'README.md',
        'Run it with',
        'Clients that ask more than 60 times a minute (bursts of 20) get 429 and a `retry-after` header.\n\nRun it with',
      ),
    )
    .calls(
      '',
      grepCall(
        '429|retry-after',
        `docs/operations.md:27:address that the balancer saw … Beyond that it gets 429 with\nREADME.md:10:Clients that ask more than 60 times a minute (bursts of 20) get 429\nsrc/server.ts:22:        response.setHeader('retry-after', verdict.retryAfter)`,
      ),
    )
    .reply(
      'Both pages say it now: the rate, who counts as a client, what a refused client sees, and where to change the figures.',
    )
}

export function lastLook(teller: Teller): void {
  teller
    .prompt('Anything left before I merge? Please look over the whole change once more, with fresh eyes.')
    .calls(
      'The whole change, from the top.',
      bashCall(
        'git diff --stat main',
        'Show what changed',
        ' README.md               |  2 ++\n docs/operations.md      |  7 +++++++\n src/client.ts           | 11 +++++++++++\n src/rate-limit.ts       | 39 +++++++++++++++++++++++++++++++++++++\n src/server.ts           | 13 ++++++++++++-\n test/client.test.ts     | 44 ++++++++++++++++++++++++++++++++++++++++\n test/rate-limit.test.ts | 71 ++++++++++++++++++++++++++++++++++++++++++++++++++++++++\n 7 files changed, 186 insertions(+), 1 deletion(-)',
      ),
    )
    .calls('', teller.read('src/rate-limit.ts'), teller.read('src/server.ts'), teller.read('src/client.ts'))
    .calls(
      'One more look at the log of the incident, to replay it against the limit.',
      bashCall("sed -n '/02:14/,/02:17/p' logs/access.log", 'Show the access log of the incident', accessLog(50)),
    )
    .calls('The limiter once more, next to the log.', teller.read('src/rate-limit.ts'))
    .calls('', bashCall('node --test', 'Run all tests', testRun({ passed: allTests })))
    .reply(`I would merge it. Two things to know:

- **The night sync.** \`sync-90\` walks the whole list. With pages of 200 that is about 450 requests; at 60 a minute it takes eight minutes where it took one. If that is too slow, give its key a higher rate.
- **Two instances, two buckets.** A client that is spread over both gets up to 120 a minute. For keeping one client from starving the rest that is good enough.

Replayed against last night's log, \`crawler-x1\` would have got 20 requests at once and one a second after that. Nobody else would have noticed. ✓`)
}
