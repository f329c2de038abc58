// The server's own context management in a session: requested if the settings say so, besides existing options.
import { describe, expect, test } from 'vitest'
import { arrayAt, isObject, type JsonObject, objectAt } from '../message/json.ts'
import type { ReductionChoices } from '../settings/resolve.ts'
import { answerOf, createTestWorld, scripted, type World } from './testing/world.ts'

const usage = (input: number) => ({ input, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })

type More = { readonly contextManagement?: boolean; readonly pauseMs?: number; readonly options?: JsonObject }

async function editsOf(
  reductions: ReductionChoices,
  thinking?: JsonObject,
  { contextManagement = true, pauseMs = 0, options = {} }: More = {},
) {
  const model = scripted(() => 'Done.', { capabilities: { contextManagement, promptCache: true } })
  const base = { options, ...(thinking ? { thinking } : {}) }
  const world = createTestWorld({ model, settings: { reductions }, base })
  world.session.add({ role: 'user', content: 'Look at the files.' })
  for (let at = 0; at < 8; at++) {
    const thought = { type: 'thinking', thinking: `Which file comes at ${at}?`, signature: 'c2ln' }
    const use = { type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: `/p/${at}.ts` } }
    world.session.record(answerOf([thought, use], { id: `m${at}`, usage: usage(4_000 * (at + 1)) }))
    const content = `line of file ${at} `.repeat(800)
    world.session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content }] })
  }
  world.turn(pauseMs)
  const prepared = await world.session.prepare()
  if (prepared.type !== 'ready') throw new Error(prepared.why)
  return { world, prepared, edits: typesIn(prepared.options) }
}

function typesIn(options: JsonObject | undefined): readonly string[] {
  const { edits = [] } = (options?.context_management ?? {}) as {
    readonly edits?: readonly { readonly type: string }[]
  }
  return edits.map(({ type }) => type)
}

const micro = ({ events }: World) => events.filter(({ type }) => type === 'micro-compacted')
const small = { trigger: 10_000, keepTokens: 4_000, clearAtLeast: 1_000 }

describe('the server’s own context management', () => {
  test('is asked for where it is set, thinking first', async () => {
    const { world, edits, prepared } = await editsOf({ native: small }, { type: 'enabled', budget_tokens: 2_000 })
    expect(edits).toEqual(['clear_thinking_20251015', 'clear_tool_uses_20250919'])
    expect(prepared.betas).toEqual(['context-management-2025-06-27'])
    expect(prepared.tried.at(-1)).toMatchObject({ mechanism: 'native', outcome: 'done' })
    expect(micro(world)).toMatchObject([{ mechanism: 'native', results: expect.any(Number) }])
  })

  test.each([
    ['is off', { type: 'disabled' }],
    ['is not asked for', undefined],
  ])('says nothing about thinking where thinking %s, since the API would refuse it', async (_, thinking) => {
    expect((await editsOf({ native: small }, thinking)).edits).toEqual(['clear_tool_uses_20250919'])
  })

  test('is told by no event before it has something to do', async () => {
    const { world, edits } = await editsOf({ native: { ...small, trigger: 180_000 } })
    expect(edits).toEqual(['clear_tool_uses_20250919'])
    expect(micro(world)).toEqual([])
  })

  test('is not asked for where nothing is set, or the client cannot', async () => {
    expect((await editsOf({})).edits).toEqual([])
    expect((await editsOf({ native: small }, undefined, { contextManagement: false })).edits).toEqual([])
  })

  const manual = { type: 'enabled', budget_tokens: 2_000 }
  const long = 2 * 3_600_000
  const managed = (prepared: { readonly options?: JsonObject }) =>
    arrayAt(objectAt(prepared.options, 'context_management'), 'edits').filter(isObject)

  test('goes with what another mechanism clears: after a pause, results here and thinking on the server', async () => {
    const { prepared, world } = await editsOf({ native: small, byIdle: { keep: 2 } }, manual, { pauseMs: long })
    expect(JSON.stringify(prepared.messages).match(/Old tool result content cleared/g)).toHaveLength(6)
    expect(managed(prepared)[0]).toEqual({
      type: 'clear_thinking_20251015',
      keep: { type: 'thinking_turns', value: 1 },
    })
    expect(prepared.tried.map(({ mechanism, outcome }) => [mechanism, outcome])).toEqual([
      ['micro-by-idle', 'done'],
      ['native', 'done'],
    ])
    // One event for one clearing.
    expect(micro(world)).toMatchObject([{ mechanism: 'micro-by-idle', results: 6 }])
  })

  test('goes with results that the server leaves out already, in this request and the next', async () => {
    const reductions = { native: small, byCacheEdit: { trigger: 4, keep: 2 }, weigh: false }
    const { prepared, world } = await editsOf(reductions, manual)
    const leftOut = { type: 'tool_uses', value: 2 }
    const expected = [
      { type: 'clear_thinking_20251015', keep: { type: 'all' } },
      { type: 'clear_tool_uses_20250919', trigger: leftOut, keep: leftOut },
    ]
    expect(managed(prepared)).toEqual(expected)
    const again = await world.session.prepare()
    expect(again.type === 'ready' && managed(again)).toEqual(expected)
  })

  test('asks for each edit once, thinking first, where the host asks for some itself', async () => {
    const own = [{ type: 'compact_20260112' }, { type: 'clear_thinking_20251015', keep: 'all' }]
    const options = { context_management: { edits: own } }
    const { prepared } = await editsOf({ native: { ...small, thinking: false } }, manual, { options })
    const types = managed(prepared).map(({ type }) => type)
    expect(types).toEqual(['clear_thinking_20251015', 'clear_tool_uses_20250919', 'compact_20260112'])
    expect((await editsOf({ native: small }, manual, { options })).edits).toEqual(types)
  })

  test('says nothing about thinking in a request that has to do without it', async () => {
    const { world, edits } = await editsOf({ native: small }, manual)
    expect(edits).toContain('clear_thinking_20251015')
    const { session } = world
    session.record(answerOf([{ type: 'text', text: 'Done.' }], { id: 'n1' }))
    session.add({ role: 'user', content: 'And now?' })
    session.record(answerOf([{ type: 'tool_use', id: 'u1', name: 'Read', input: {} }], { id: 'n2' }))
    session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'u1', content: 'found' }] })
    const prepared = await session.prepare()
    if (prepared.type !== 'ready') throw new Error(prepared.why)
    expect([prepared.thinking, typesIn(prepared.options)]).toEqual([undefined, ['clear_tool_uses_20250919']])
  })
})
