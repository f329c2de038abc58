// A small session for the screens in docs/command-line.md: two compactions, files read twice, a failed command, a
// sub-agent, parallel calls. The same records every time.
import type { JsonObject } from 'everlong/internal'
import { session, thinkingBlock, toolUseBlock } from 'everlong/internal/testing'

const folder = '/home/mara/parcel-desk'
const limiter = `${folder}/src/rate-limit.ts`

export function sampleSession(): readonly JsonObject[] {
  const writer = createWriter()
  firstEpoch(writer)
  secondEpoch(writer)
  thirdEpoch(writer)
  return writer.made.records
}

type Writer = ReturnType<typeof createWriter>

/** Writes calls and answers, each with the usage that a context of its size would have. */
function createWriter() {
  const made = session({ cwd: folder, startTime: '2026-03-02T08:40:00.000Z' })
  let context = 14_000
  let calls = 0
  const answer = (content: string | readonly JsonObject[], added: number) => {
    const tokens = { input: 4, cacheRead: context, cacheWrite: added, output: 120 }
    made.wait(6).assistant(content, { tokens, model: 'claude-sonnet-4-5-20250929' })
    context += added
  }
  const call = (name: string, input: JsonObject, result: string) => {
    const id = `toolu_${++calls}`
    answer([toolUseBlock(id, name, input)], 60 + Math.round(result.length / 3))
    made.wait(2).toolResult(id, result, { isError: result.startsWith('not ok') })
  }
  const compact = (trigger: 'manual' | 'auto', summary: string, kept: readonly string[] = []) => {
    const preTokens = context
    context = 15_200
    made.wait(20).boundary({ trigger, preTokens, postTokens: context, kept }).summary(summary)
  }
  return { made, answer, call, compact }
}

function firstEpoch({ made, answer, call }: Writer): void {
  made.user('Our tracking endpoint was flooded last night. Please add rate limiting. Never add a dependency.')
  call('Grep', { pattern: 'createServer' }, 'src/server.ts:12:const server = createServer(handle)')
  call(
    'Read',
    { file_path: `${folder}/src/server.ts` },
    numbered(60, 'if (url.pathname === routes[0]) return track(url)'),
  )
  call('Bash', { command: 'tail -n 80 logs/access.log' }, numbered(80, '02:14:07 GET /track/7f3a crawler-x1 200 38 ms'))
  made.sidechain('a1b2c3', (agent) =>
    agent.user('Find out whether the repository reads the address behind the proxy.').assistant('It does not.'),
  )
  answer('One client sent four of five requests. I suggest a token bucket for each client. Which rate?', 220)
  made.wait(40).user('60 a minute with bursts of 20, per API key if there is one, else per address.')
  call('Write', { file_path: limiter, content: limiterCode }, 'File created successfully.')
  call('Bash', { command: 'npm test' }, 'not ok 3 - a burst passes\n  expected 20, got 0')
  answer('The bucket starts empty. It has to start full.', 90)
  call('Edit', { file_path: limiter, old_string: 'tokens: 0', new_string: 'tokens: burst' }, 'The file was updated.')
  call('Bash', { command: 'npm test' }, numbered(8, 'ok - rate limit'))
  answer('The limiter is in, with 60 requests a minute and bursts of 20. All 8 tests pass.', 100)
}

function secondEpoch({ made, answer, call, compact }: Writer): void {
  compact('manual', summaryOf('The limiter is in src/rate-limit.ts and its 8 tests pass.'))
  made.wait(30).user('Now run the load test with two keys at once. They must not starve each other.')
  call('Read', { file_path: limiter }, limiterCode)
  answer(
    [
      thinkingBlock('Both clients have to run at the same time.'),
      toolUseBlock('toolu_loud', 'Bash', { command: 'node scripts/load.ts --rate 40 --key crawler-x1' }),
      toolUseBlock('toolu_polite', 'Bash', { command: 'node scripts/load.ts --rate 1 --key shop-7f' }),
    ],
    400,
  )
  made.wait(30).toolResult('toolu_loud', numbered(40, 'crawler-x1: 40 requests, 1 answered, 39 refused'))
  made.toolResult('toolu_polite', numbered(30, 'shop-7f: 1 request, 1 answered, 17 ms'))
}

function thirdEpoch({ made, answer, call, compact }: Writer): void {
  compact(
    'auto',
    summaryOf('The load test shows that a polite client loses no request.'),
    made.records.slice(-5).map(uuidOf),
  )
  made.attachment('file', { displayPath: 'src/rate-limit.ts', filename: limiter, content: limiterCode })
  answer('The polite client got all of its 30 requests. Old clients are never forgotten, which would leak.', 800)
  call('Read', { file_path: limiter }, limiterCode)
  call('Edit', { file_path: limiter, old_string: 'return taken', new_string: 'forgetIdle()' }, 'The file was updated.')
  call('Bash', { command: 'npm test' }, numbered(9, 'ok - rate limit'))
  made.wait(40).user('Good. Write it down where the people on call will look.')
  call('Read', { file_path: `${folder}/docs/operations.md` }, numbered(30, 'Two instances run behind the balancer.'))
  call(
    'Edit',
    { file_path: `${folder}/docs/operations.md`, old_string: '## Alerts', new_string: '## Rate limit' },
    'Done.',
  )
  call('Read', { file_path: limiter }, limiterCode)
  call('Grep', { pattern: 'retry-after' }, 'docs/operations.md:27: A refused client gets 429 and retry-after.')
  call('Bash', { command: 'git diff --stat main' }, ' docs/operations.md | 7 +++\n src/rate-limit.ts | 41 +++++')
  answer('docs/operations.md has the rate, who counts as a client, and what a refused client sees.', 140)
}

const limiterCode = numbered(45, 'if (bucket.tokens < 1) return { type: refused, retryAfter }')

function numbered(lines: number, text: string): string {
  return Array.from({ length: lines }, (_, at) => `${at + 1}\t${text}`).join('\n')
}

function summaryOf(state: string): string {
  return `This session continues an earlier conversation that ran out of context.\n\n1. Request: add rate limiting, 60 a minute with bursts of 20, per key or address. Never add a dependency.\n2. State: ${state}\n3. Next: whatever the user asks for.`
}

function uuidOf({ uuid }: JsonObject): string {
  return String(uuid)
}
