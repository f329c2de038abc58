// A conversation that the API signed itself, on models that bind thinking to the exact prefix: whatever was cleared,
// snipped, compacted, undone and done again in between, the next request is taken. Public names of the engine only.

import { editRecord, foldEntries, type JsonObject, objectAt, requestMessages } from 'everlong/internal'
import { type RequestOptions, situationOf } from 'everlong/internal/compaction'
import { session } from 'everlong/internal/testing'
import { type Edit, microByIdle, microBySize, type PlanningMechanism, snip, type View } from 'everlong/mechanisms'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { combine, text, thinking, toolUse } from './script/answers.ts'
import type { Script } from './script/script.ts'
import type { Simulator } from './simulator.ts'
import { ask, simulate } from './testing/ask.ts'

const models = ['claude-fable-5-1', 'claude-opus-5-5'] as const

/** What the model says, by the number of the request: now and then it does not think, or calls several tools. */
const script: Script = ({ messages }) => {
  const nth = messages.length
  const thought = nth % 7 === 5 ? [] : [thinking(`Thought ${nth}.`)]
  const calls = Array.from({ length: nth % 5 === 3 ? 2 : 1 }, (_, at) =>
    toolUse('Read', { file_path: `/f${nth}-${at}` }),
  )
  return combine(...thought, ...(nth % 6 === 1 ? [text(`Done ${nth}.`)] : [text('Let me look.'), ...calls]))
}

const anyStep = fc.oneof(
  { weight: 5, arbitrary: fc.record({ type: fc.constant('ask' as const), size: fc.integer({ min: 1, max: 400 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('reduce' as const),
      what: fc.constantFrom('by-size' as const, 'by-idle' as const, 'snip' as const),
      keep: fc.nat(2),
      first: fc.nat(1_000),
      second: fc.nat(6),
      boundThinking: fc.constantFrom('delegate' as const, 'remove' as const, 'decline' as const),
      contextManagement: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('undo' as const), which: fc.nat(1_000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('rewind' as const), which: fc.nat(1_000) }) },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('compact' as const), keeps: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('clear-thinking' as const), after: fc.nat(1_000), before: fc.nat(1_000) }),
  },
)
type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never
type Reduce = Extract<Step, { readonly type: 'reduce' }>

/** A client: it asks, writes down what comes back, and edits what it has written. */
function createClient(simulator: Simulator, model: string) {
  const told = session({ startTime: '2026-03-02T09:00:00.000Z' })
  const changes: string[] = []
  let tip: string | null = null
  let options: RequestOptions = {}
  const after = () => (tip === null ? {} : { parent: tip })
  const moved = () => {
    tip = told.last
  }
  const view = (): View =>
    foldEntries(
      told.records.map((record, at) => ({ record, position: { line: at + 1, offset: at, length: 1, nth: 0 } })),
    )
  const edit = (given: Edit): void => {
    const uuid = `edit-${changes.length}`
    const place = { uuid, parentUuid: tip, timestamp: '2026-03-02T10:00:00.000Z', sessionId: told.sessionId }
    told.records.push(editRecord(given, place))
    changes.push(uuid)
    tip = uuid
  }
  const say = (words: string): void => {
    told.user(words, after())
    moved()
  }
  const asks = async (size: number) => {
    if (view().messages.at(-1)?.role !== 'user') say(`Task ${told.records.length}.`)
    const { messages } = requestMessages(view(), { model })
    const { contextManagement, betas = [] } = options
    const management = contextManagement ? { context_management: contextManagement } : {}
    const headers = betas.length > 0 ? { 'anthropic-beta': betas.join(',') } : {}
    options = {}
    const answer = await ask(simulator, { model, max_tokens: 4_000, messages, ...management }, { headers })
    if (answer.status !== 200) return { status: answer.status, error: objectAt(answer.body, 'error')?.message }
    const content = answer.body.content as readonly JsonObject[]
    told.assistant(content, { model, messageId: String(answer.body.id), ...after() })
    moved()
    for (const block of content) {
      if (block.type !== 'tool_use') continue
      told.toolResult(String(block.id), `result ${'of some length '.repeat(size)}`, after())
      moved()
    }
    return { status: answer.status, error: undefined }
  }
  const compact = (keeps: boolean): void => {
    const uuids = view().sources.flatMap((source) => source.uuids)
    const lastHuman = view().messages.findLastIndex(({ origin }) => origin === 'human')
    const kept = keeps
      ? view()
          .sources.slice(lastHuman)
          .flatMap((source) => source.uuids)
      : []
    if (uuids.length === 0 || lastHuman < 0) return
    told.boundary({ kept, logicalParent: tip ?? 'none' }).summary('What happened so far.')
    changes.push(String(told.records.at(-2)?.uuid))
    moved()
  }
  const reduce = (mechanism: PlanningMechanism, step: Reduce): void => {
    const { keep, boundThinking, contextManagement } = step
    const now = view()
    const plan = mechanism.plan(
      now,
      situationOf(now, {
        now: Date.parse('2027-01-01T00:00:00.000Z'),
        model,
        client: { contextManagement },
        reductions: {
          microCompact: 'always',
          boundThinking,
          bySize: { keep, target: 50, minFreed: 20 },
          byIdle: { keep },
        },
      }),
    )
    if (plan.type === 'declined') return
    if (plan.type === 'reduced') for (const one of plan.edits) edit(one)
    else options = plan.request
  }
  return { view, edit, asks, compact, reduce, changes, records: told.records }
}

type Client = ReturnType<typeof createClient>

function pick<T>(items: readonly T[], at: number): T | undefined {
  return items[at % Math.max(1, items.length)]
}

function mechanismOf(view: View, { what, first, second }: Reduce): PlanningMechanism {
  if (what === 'by-size') return microBySize
  if (what === 'by-idle') return microByIdle
  const uuids = view.sources.flatMap(({ pieces }) => pieces.map(({ uuid }) => uuid ?? ''))
  const at = first % Math.max(1, uuids.length)
  return snip({ from: uuids[at] ?? '', to: uuids[Math.min(at + second, uuids.length - 1)] ?? '' })
}

async function take(client: Client, step: Step): Promise<{ readonly status: number; readonly error: unknown }> {
  const uuids = () => client.view().sources.flatMap((source) => source.uuids)
  if (step.type === 'ask') return client.asks(step.size)
  if (step.type === 'compact') client.compact(step.keeps)
  if (step.type === 'reduce') client.reduce(mechanismOf(client.view(), step), step)
  if (step.type === 'undo') {
    const uuid = pick(client.changes, step.which)
    if (uuid !== undefined) client.edit({ type: 'undo', uuid })
  }
  if (step.type === 'rewind') {
    const to = pick(uuids(), step.which)
    if (to !== undefined) client.edit({ type: 'rewind', to })
  }
  if (step.type === 'clear-thinking') {
    const [after, before] = [pick(uuids(), step.after), pick(uuids(), step.before)]
    if (after !== undefined && before !== undefined) client.edit({ type: 'clear-thinking', after, before })
  }
  return { status: 200, error: undefined }
}

describe('on a model that binds thinking to the prefix', () => {
  test('whatever is done to the view, the next request is taken', { timeout: 90_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...models),
        fc.array(anyStep, { minLength: 4, maxLength: 24 }),
        async (model, steps) => {
          const client = createClient(simulate({ script }), model)
          const asked = { type: 'ask', size: 100 } as const
          for (const step of [asked, asked, ...steps, asked, asked]) {
            expect(await take(client, step)).toEqual({ status: 200, error: undefined })
          }
        },
      ),
      { numRuns: 100 },
    )
  })
})
