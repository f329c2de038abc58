// Whatever happens in a session, and whichever model it is handed to in the middle of it, the API takes its next request:
// real turns with thinking that is bound, calls of other providers, server tools, images, edits and compactions.
import type { Block, Message } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { isToolUse, knownModels, modelFacts, pairHalfOf } from 'everlong/internal'
import { createEngine, type Session } from 'everlong/node'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { route } from './script/route.ts'
import type { Script } from './script/script.ts'
import { asksForSummary, summarizer } from './summary/summarizer.ts'
import { ask, simulate } from './testing/ask.ts'
import { stillPorts } from './testing/still-ports.ts'

const models = knownModels().map(({ id }) => id)
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image: Block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: dot } }
const tools = [{ name: 'Read', input_schema: { type: 'object' } }]

/** The server runs what the turn was paused on before the model goes on. */
function pendingResults(messages: readonly Message[]): readonly Block[] {
  const halves = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content.map(pairHalfOf)))
  const answered = new Set(halves.map((half) => (half?.half === 'result' ? half.id : undefined)))
  const open = halves.filter((half) => half?.tool === 'server' && half.half === 'use' && !answered.has(half.id))
  return open.map((half) => ({ type: 'web_search_tool_result', tool_use_id: half?.id, content: [] }))
}

/** Thinks where the model does, and calls up to three tools, or none. */
const works: Script = ({ model, messages }, { random, turn }) => ({
  content: [
    ...pendingResults(messages),
    ...(modelFacts(model)?.thinking === 'none' ? [] : [{ type: 'thinking', thinking: `Let me see ${turn}.` }]),
    ...(random() < 0.5 ? [{ type: 'text', text: 'I look.' }] : []),
    ...Array.from({ length: Math.floor(random() * 4) }, () => ({
      type: 'tool_use',
      name: 'Read',
      input: { at: turn },
    })),
    ...(random() < 0.3 ? [{ type: 'text', text: 'Done.' }] : []),
    ...(turn % 7 === 6 ? [] : [{ type: 'text', text: 'So far.' }]),
  ].toSorted((a, b) => Number(a.type === 'tool_use') - Number(b.type === 'tool_use')),
})

type Happening =
  | { readonly type: 'turn'; readonly answered: number; readonly says: boolean; readonly images: number }
  | { readonly type: 'switch'; readonly model: string }
  | { readonly type: 'foreign'; readonly id: string; readonly input: unknown; readonly answered: boolean }
  | { readonly type: 'server'; readonly answered: boolean; readonly says: boolean }
  | { readonly type: 'snip' | 'pin' | 'rewind' | 'compact-from' | 'compact-up-to'; readonly at: number }
  | { readonly type: 'undo' | 'compact' | 'say' }

const nat = fc.nat(40)
const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('turn' as const),
      answered: fc.nat(4),
      says: fc.boolean(),
      images: fc.constantFrom(0, 0, 1, 45),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('switch' as const), model: fc.constantFrom(...models) }) },
  fc.record({
    type: fc.constant('foreign' as const),
    id: fc.constantFrom('functions.Read:0', 'functions.Read:1', 'call_a|fc_b', 'functions_Read_0', ''),
    input: fc.constantFrom({}, 'text', null, [1]),
    answered: fc.boolean(),
  }),
  fc.record({ type: fc.constant('server' as const), answered: fc.boolean(), says: fc.boolean() }),
  fc.record({
    type: fc.constantFrom(
      'snip' as const,
      'pin' as const,
      'rewind' as const,
      'compact-from' as const,
      'compact-up-to' as const,
    ),
    at: nat,
  }),
  fc.record({ type: fc.constantFrom('undo' as const, 'compact' as const, 'say' as const) }),
)

const thinkingOf = (model: string) => {
  const way = modelFacts(model)?.thinking
  if (way === 'none') return undefined
  return way === 'budget' ? { type: 'enabled', budget_tokens: 1_024 } : { type: 'adaptive' }
}

function world() {
  const script = route([{ when: asksForSummary, script: summarizer() }], works)
  const simulator = simulate({ script })
  const client = anthropic({ model: 'claude-fable-5-1', apiKey: 'key', fetch: simulator.fetch, ports: stillPorts() })
  const workspace = { state: async () => ({ type: 'unknown', why: 'a test' }) as const }
  const engine = createEngine({ model: client, environment: {}, workspace, settings: { sessionMemory: false } })
  const use = async (session: Session, name: string) => {
    session.configure({ thinking: thinkingOf(name) } as never)
    await session.useModel({ client, name })
  }
  return { simulator, engine, use }
}

type World = ReturnType<typeof world>
type Acting = World & { readonly session: Session; readonly count: number }

async function turn({ session }: Acting, { answered, says, images }: Extract<Happening, { readonly type: 'turn' }>) {
  const sent = await session.send()
  if (sent.type === 'failed' && sent.failure.reason === 'invalid') throw new Error(sent.failure.message)
  const calls = sent.type === 'answered' ? sent.answer.content.filter(isToolUse) : []
  const results = calls.slice(0, answered).map(({ id }, at): Block => {
    return {
      type: 'tool_result',
      tool_use_id: id,
      content: at === 0 ? Array.from({ length: images }, () => image) : 'ok',
    }
  })
  if (results.length > 0) session.add({ role: 'user', content: results })
  if (says || results.length === 0) session.add({ role: 'user', content: 'Go on.' })
}

async function happen(acting: Acting, what: Happening): Promise<void> {
  const { session, use, count } = acting
  const uuids = session.messages().flatMap(({ uuid }) => uuid ?? [])
  switch (what.type) {
    case 'turn':
      return turn(acting, what)
    case 'switch':
      return use(session, what.model)
    case 'say':
      session.add({ role: 'user', content: `And ${count}?` })
      return
    case 'foreign': {
      const call = { type: 'tool_use', id: what.id, name: 'Read', input: what.input }
      session.record({ model: 'kimi-k2', content: [{ type: 'thinking', thinking: 'hm' }, call] })
      const result = { type: 'tool_result', tool_use_id: what.id, content: 'ok' }
      session.add({ role: 'user', content: what.answered ? [result] : 'Never mind.' })
      return
    }
    case 'server': {
      const id = `srvtoolu_${count}`
      const result = { type: 'web_search_tool_result', tool_use_id: id, content: [] }
      const use = { type: 'server_tool_use', id, name: 'web_search', input: {} }
      session.record({ content: what.answered ? [use, result, { type: 'text', text: 'So.' }] : [use] })
      if (what.says) session.add({ role: 'user', content: 'Well?' })
      return
    }
    case 'undo':
      await session.undo()
      return
    case 'compact':
      await session.compact()
      return
    default:
      await edit(session, what, uuids)
  }
}

async function edit(session: Session, what: { readonly type: string; readonly at: number }, uuids: readonly string[]) {
  const uuid = uuids[what.at % Math.max(1, uuids.length)]
  if (uuid === undefined) return
  if (what.type === 'pin') await session.pin(uuid)
  if (what.type === 'rewind') await session.rewind(uuid)
  if (what.type === 'snip')
    await session.snip({ from: uuid, to: uuids[Math.min(what.at + 2, uuids.length - 1)] ?? uuid } as never)
  if (what.type === 'compact-from') await session.compact({ from: uuid })
  if (what.type === 'compact-up-to') await session.compact({ upTo: uuid })
}

test('the next request of any session is taken, whatever the model', { timeout: 90_000 }, async () => {
  let taken = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...models),
      fc.array(happening, { minLength: 3, maxLength: 14 }),
      fc.constantFrom(...models),
      async (first, happenings, last) => {
        const { simulator, engine, use } = world()
        const session = await engine.start({ maxTokens: 2_000, tools })
        await use(session, first)
        session.add({ role: 'user', content: 'Go.' })
        for (const [count, what] of happenings.entries()) await happen({ simulator, engine, use, session, count }, what)
        await use(session, last)
        const ready = await session.prepare()
        if (ready.type === 'ready') {
          const headers = ready.betas ? { 'anthropic-beta': ready.betas.join(',') } : {}
          const told = await ask(simulator, ready.body, { headers })
          expect([told.status, told.body.error]).toEqual([200, undefined])
          taken++
        } else expect(ready.reason).toBe('nothing-to-send')
        await session.close()
      },
    ),
    { numRuns: 75 },
  )
  expect(taken).toBeGreaterThan(50)
})
