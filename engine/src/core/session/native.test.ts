// The server's own context management in a session: asked for where the settings say so, beside what is there already.
import { describe, expect, test } from 'vitest'
import type { ReductionChoices } from '../mechanisms/settings.ts'
import type { JsonObject } from '../message/json.ts'
import { answerOf, createTestWorld, scripted, type World } from './testing/world.ts'

const usage = (input: number) => ({ input, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })

async function editsOf(reductions: ReductionChoices, thinking?: JsonObject, contextManagement = true) {
  const model = scripted(() => 'Done.', { capabilities: { contextManagement } })
  const world = createTestWorld({ model, settings: { reductions }, base: thinking ? { thinking } : {} })
  world.session.add({ role: 'user', content: 'Look at the files.' })
  for (let at = 0; at < 8; at++) {
    const thought = { type: 'thinking', thinking: `Which file comes at ${at}?`, signature: 'c2ln' }
    const use = { type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: `/p/${at}.ts` } }
    world.session.record(answerOf([thought, use], { id: `m${at}`, usage: usage(4_000 * (at + 1)) }))
    const content = `line of file ${at} `.repeat(800)
    world.session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content }] })
  }
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
    expect((await editsOf({ native: small }, undefined, false)).edits).toEqual([])
  })
})
