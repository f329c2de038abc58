// The two summaries of the tour, as a model would have left them for itself: nine sections each.
import { cwd } from './files.ts'

const opening = 'This conversation goes on from an earlier one that was compacted. What came before, in short:'
const closing = `The whole of it can be read at: /home/mara/.claude/projects/-home-mara-parcel-desk/5b0f4c1e-6d0a-4f7e-9a51-0c2d7be1f3a9.jsonl
Go on from where it stopped, without asking again.`

export const afterTheFirstHalf = `${opening}

Summary:
1. What was asked and why:
Mara runs parcel-desk, a read-only tracking service. On the night of 1 March one client polled every parcel ten times a second and the other clients saw timeouts. She asked for rate limiting, with a plan first, and no new dependencies.

2. Technical ideas in play:
A token bucket for each client; clients are told apart by x-api-key and, without one, by their address. The clock is handed in, so that tests do not wait. /health stays outside of the limit because the load balancer polls it.

3. Files and code touched:
- ${cwd}/src/rate-limit.ts: new. rateLimiter(limit, { now }) with take(client).
- ${cwd}/src/server.ts: asks the limiter before route(); answers 429 with { error: 'too many requests' }.
- ${cwd}/test/rate-limit.test.ts: new, three tests.
- Read only so far: src/routes.ts, src/store.ts, src/config.ts, docs/operations.md.

4. Errors met and their fixes:
The first tests failed because the limiter read the clock itself; it now takes now() as an argument.

5. Problems solved and open:
Behind the proxy every client without a key has the proxy's address. A sub-agent found that config.trustedProxies exists but nothing reads it. Open.

6. Everything the human said:
- "Our public tracking endpoint was hammered last night … tell me what you would do before you change anything."
- "A token bucket is fine. Per API key if there is one, else per address. 60 a minute with bursts of 20. No new dependencies, please."
- "Does anything in the repo already know the client's address behind the proxy?"

7. Tasks still to do:
Read the client's address behind the proxy; answer with Retry-After and what remains; show that two clients do not starve one another; document it.

8. Work in hand:
The limiter works and its tests pass. Nothing is half done.

9. Next step, if any:
Use x-forwarded-for with trustedProxies to find the client's address.

${closing}`

export const afterTheLoadTest = `${opening}

Summary:
1. What was asked and why:
Rate limiting for parcel-desk after one client starved the others on 1 March: 60 requests a minute per client with bursts of 20, per API key or else per address, no new dependencies.

2. Technical ideas in play:
Token buckets with the clock handed in; the address is the one the outermost trusted proxy saw; Retry-After in whole seconds, rounded up; x-ratelimit-remaining on every answer.

3. Files and code touched:
- ${cwd}/src/rate-limit.ts: take(client) gives { allowed, remaining, retryAfter }.
- ${cwd}/src/client.ts: new. clientOf(request, trustedProxies).
- ${cwd}/src/server.ts: limiter before route(), headers on every answer, /health outside.
- ${cwd}/test/rate-limit.test.ts and test/client.test.ts: nine tests together.

4. Errors met and their fixes:
An edit of server.ts missed because the file had changed since it was read; reading it again and repeating the edit helped. Never trust an old reading of that file.

5. Problems solved and open:
The load test with two keys shows both at their own rate. It also shows memory growing by one bucket for each address and never shrinking: buckets that are full again can be dropped. Open.

6. Everything the human said:
- All of the first half (see the earlier summary): bucket, per key or address, 60 a minute, bursts of 20, no new dependencies.
- "Yes, use the proxies setting. And tell clients when they may come back."
- "Run the load test with two keys at once. I want to see that they do not starve one another."

7. Tasks still to do:
Drop full buckets; document the limit in docs/operations.md and README.md; a last look before the merge.

8. Work in hand:
The second load test has just run; its output is among the kept messages.

9. Next step, if any:
Drop buckets that are full again, with a test.

${closing}`
