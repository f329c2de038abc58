// A session that a person can follow, for the pictures: an agent adds rate limiting to an API, and two compactions make it forget what it
// was told. The sizes are those of a real session of an afternoon.
import { session, textBlock, thinkingBlock, toolUseBlock } from 'everlong/internal/testing'

/** The system prompt and the tools. */
const headTokens = 21_000

/** Its window has 200,000 tokens. */
const model = 'claude-opus-4-5'

type Builder = ReturnType<typeof session>

const areas = ['routes', 'middleware', 'limits', 'billing', 'tenants', 'audit', 'webhooks', 'sessions'] as const
const steps = [
  'reads the key of the tenant',
  'counts the request',
  'writes the audit row',
  'answers with the limit',
] as const

/** A file as a tool returns it; longer or shorter by `size`. */
function fileText(area: string, size: number): string {
  const lines = Array.from({ length: size }, (_, at) => {
    const step = steps[at % steps.length]
    return `${String(at + 1).padStart(5)}  export async function ${area}Step${at}(request: Request, store: Store) { // ${step}`
  })
  return lines.join('\n')
}

/** Answers report how large the context is: what the file says so far, in tokens. */
function createMeter(made: Builder) {
  let size = headTokens
  let cached = 0
  return {
    /** Adds what has been said since, and returns the model and the usage of the next answer. */
    answer: (added: number, { isMiss = false } = {}) => {
      size += added
      const cacheRead = isMiss ? headTokens : cached
      cached = size
      return { model, tokens: { input: 3, cacheRead, cacheWrite: size - cacheRead, output: 180 + (added % 400) } }
    },
    size: () => size,
    reset: (after: number) => {
      size = headTokens + after
      cached = headTokens
    },
    made,
  }
}

/** Of source code. */
const charactersPerToken = 3.1

type Meter = ReturnType<typeof createMeter>

type Work = { readonly name: string; readonly turns: number; readonly from: number }

/** Reads and edits files, one after the other. */
function work({ made, answer }: Meter, { name, turns, from }: Work): void {
  let added = 900
  for (let turn = 0; turn < turns; turn++) {
    const area = areas[(turn + from) % areas.length] ?? 'routes'
    const id = `${name}-${turn}`
    const file = `src/api/${area}.ts`
    const lines = 40 + ((turn * 37 + from * 11) % 100)
    const isEdit = turn % 3 === 2
    const edited = { old_string: `${area}Step${turn}`, new_string: fileText(area, Math.ceil(lines / 2)) }
    const call = isEdit
      ? toolUseBlock(id, 'Edit', { file_path: file, ...edited })
      : toolUseBlock(id, 'Read', { file_path: file })
    const thought = thinkingBlock(
      `The ${area} module calls the store on every request. `.repeat(turn % 4 === 0 ? 60 : 12),
    )
    const text = textBlock(`${area}.ts is limited per tenant now; the next module calls the store too. `.repeat(8))
    const blocks = [thought, ...(isEdit ? [text] : []), call]
    made.assistant(blocks, answer(added))
    made.wait(40 + (turn % 5) * 20)
    const result = isEdit ? `The file ${file} has been updated.` : fileText(area, lines)
    made.toolResult(id, result)
    added = Math.round((JSON.stringify(blocks).length + result.length) / charactersPerToken)
  }
}

/** Whole numbers of turns between two compactions. */
const turnsPerEpoch = 40

export function storySession(): string {
  const made = session({ cwd: '/home/dev/orders-api', startTime: '2026-03-02T13:02:00.000Z' })
  const meter = createMeter(made)
  made
    .user(
      'Add rate limiting to the public API. Never change the /v1/orders routes: partners depend on them. Ask me before you add a dependency.',
    )
    .assistant('I read how requests reach the handlers first.', meter.answer(400))
  work(meter, { name: 'one', turns: 9, from: 0 })
  made
    .toolUse(
      'ask',
      'AskUserQuestion',
      { questions: [{ question: 'Where should the counters live?' }] },
      meter.answer(1_800),
    )
    .toolResult('ask', '"Where should the counters live?"="PostgreSQL, no Redis"', {
      toolUseResult: { answers: { 'Where should the counters live?': 'PostgreSQL, no Redis' } },
    })
  made.user('The limit comes from the plan of the tenant. Answer 429 with the header Retry-After.')
  work(meter, { name: 'two', turns: turnsPerEpoch - 12, from: 3 })
  made
    .toolUse('test', 'Bash', { command: 'npm test -- limits' }, meter.answer(2_400))
    .toolResult('test', 'Exit code 1\nError: deadlock detected while two requests update api_counters', {
      isError: true,
    })
    .assistant(
      'The counters deadlock when two requests of a tenant arrive together: rows must be locked in the order of the tenant id.',
      meter.answer(600),
    )
  compact(meter, {
    summary:
      '1. **Request:** Add rate limiting to the public API.\n2. **Work so far:**\n   - The middleware counts requests per tenant before the handlers run.\n   - The user approved adding the ioredis package.\n3. **Next:** Continue with billing and webhooks.',
  })
  made.user('Go on with billing, then the webhooks.')
  work(meter, { name: 'three', turns: turnsPerEpoch / 2, from: 1 })
  // Longer than the cache lives.
  made
    .wait(4_500)
    .assistant('Billing is limited now. I continue with the webhooks.', meter.answer(300, { isMiss: true }))
  work(meter, { name: 'four', turns: turnsPerEpoch / 2, from: 5 })
  compact(meter, {
    summary:
      '1. **Request:** Add rate limiting to the public API.\n2. **Work so far:**\n   - Billing and webhooks are limited.\n   - The counters are in Redis.\n3. **Next:** Write the documentation.',
  })
  made.user('Now the documentation, please.')
  work(meter, { name: 'five', turns: 14, from: 2 })
  made.assistant('The limits are described in docs/limits.md, with an example for each plan.', meter.answer(500))
  return made.text
}

function compact({ made, size, reset, answer }: Meter, { summary }: { readonly summary: string }): void {
  made.boundary({ preTokens: size(), postTokens: 24_300, metadata: { durationMs: 94_000 } }).summary(summary)
  reset(3_300)
  made.attachment('file', {
    filename: 'src/api/limits.ts',
    content: { type: 'text', file: { content: fileText('limits', 40) } },
  })
  answer(1_300)
}
