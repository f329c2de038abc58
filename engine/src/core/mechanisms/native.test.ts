import { describe, expect, test } from 'vitest'
import { session, thinkingBlock, toolUseBlock } from '../../testing/index.ts'
import { appliedEdits } from '../session/server-side.ts'
import { editRecord } from '../transcript/format/edits.ts'
import { serverCleared, viewSize } from './measure.ts'
import { native } from './native.ts'
import { type SituationInput, situationOf } from './situation.ts'
import { text, viewOf } from './testing/examples.ts'

const hour = 3_600_000
const built = session()
  .user('go')
  .assistant([thinkingBlock('hm'), toolUseBlock('t1', 'Read', { file_path: 'a' })])
  .toolResult('t1', text(30_000))
  .toolUse('t2', 'Write', { file_path: 'b', content: 'x' })
  .toolResult('t2', text(25_000))
  .toolUse('t3', 'mcp__db__query')
  .toolResult('t3', text(25_000))
  .toolUse('t4', 'Grep')
  .toolResult('t4', text(10_000))
const view = viewOf(built.records)
const last = view.messages.findLast(({ role }) => role === 'assistant')?.time ?? 0

const planOf = (input: Partial<SituationInput> = {}) => {
  const client = { contextManagement: true }
  return native.plan(view, situationOf(view, { now: last + 1, estimator: 'chars/4', client, thinks: true, ...input }))
}
const editsOf = (input: Partial<SituationInput> = {}) => {
  const plan = planOf(input)
  return plan.type === 'delegated' ? plan.request.contextManagement?.edits : plan
}
const keepAll = { type: 'clear_thinking_20251015', keep: { type: 'all' } }
const uses = {
  type: 'clear_tool_uses_20250919',
  trigger: { type: 'input_tokens', value: 180_000 },
  keep: { type: 'tool_uses', value: 2 },
  clear_at_least: { type: 'input_tokens', value: 20_000 },
  exclude_tools: ['mcp__db__query'],
}

describe('native context management', () => {
  test('names the trigger, what 40,000 tokens of the newest results are, and what must stay', () => {
    expect(editsOf()).toEqual([keepAll, { ...uses, clear_tool_inputs: ['Write'] }])
  })

  test('its strategies are independent', () => {
    const only = (choices: object) => {
      const off = { toolResults: false, toolInputs: false, thinking: false }
      return editsOf({ reductions: { native: { ...off, ...choices } } })
    }
    expect(only({ toolResults: true })).toEqual([uses])
    expect(only({ thinking: true })).toEqual([keepAll])
    expect(only({})).toMatchObject({ reason: 'nothing-to-do' })
    expect(editsOf({ reductions: { native: { toolResults: false, keepTokens: 0, thinking: false } } })).toMatchObject({
      reason: 'nothing-to-do',
    })
  })

  test('leaves thinking alone where the next request does not think: the API would refuse it', () => {
    expect(editsOf({ thinks: false })).toEqual([{ ...uses, clear_tool_inputs: ['Write'] }])
    const unsaid = situationOf(view, { now: last + 1, model: 'claude-fable-5-1' })
    expect([unsaid.thinks, situationOf(view, { now: last + 1, model: 'claude-haiku-4-5' }).thinks]).toEqual([
      true,
      false,
    ])
  })

  test('after more than an hour the last thinking turn is enough', () => {
    const keepOne = { type: 'clear_thinking_20251015', keep: { type: 'thinking_turns', value: 1 } }
    expect(editsOf({ now: last + hour })).toMatchObject([keepAll, {}])
    expect(editsOf({ now: last + hour + 1 })).toMatchObject([keepOne, {}])
  })

  test('promises something only above the trigger', () => {
    const sized = (tokens: number) => ({ tokens, reported: tokens, estimated: 0, source: 'usage' as const })
    expect(planOf({ size: sized(180_000) })).toMatchObject({ freed: 0, items: [] })
    expect(planOf({ size: sized(180_001) })).toMatchObject({ freed: 29_992, items: [{ toolUseId: 't1' }] })
  })

  test('is declined where the client cannot do it', () => {
    expect(planOf({ client: {} })).toMatchObject({ type: 'declined', reason: 'client-unable' })
  })
})

describe('what the server left out', () => {
  const answer = {
    context_management: {
      applied_edits: [
        { type: 'clear_thinking_20251015', cleared_thinking_turns: 2, cleared_input_tokens: 500 },
        { type: 'clear_tool_uses_20250919', cleared_tool_uses: 1, cleared_input_tokens: 30_000 },
      ],
    },
  }
  const edit = { type: 'server-cleared', toolUses: 1, thinkingTurns: 2, tokens: 30_500, mechanism: 'native' } as const

  test('becomes an edit', () => {
    expect(appliedEdits(answer)).toEqual([edit])
    expect(appliedEdits({ context_management: { applied_edits: [] } })).toEqual([])
    expect([null, {}, { context_management: null }].flatMap(appliedEdits)).toEqual([])
  })

  test('which changes no message, is read back, and is counted where the size is estimated', () => {
    const place = { uuid: 'e1', parentUuid: built.last, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
    const after = viewOf([...built.records, editRecord(edit, place)])
    expect(after.messages).toEqual(view.messages)
    expect(after.trusted).toEqual(view.trusted)
    expect(serverCleared(after)).toBe(30_500)
    const noUsage = (given: typeof view) => ({
      ...given,
      messages: given.messages.map(({ usage: _, ...rest }) => rest),
    })
    const sizes = [view, after].map((given) => viewSize(noUsage(given), { estimator: 'chars/4' }).tokens)
    expect((sizes[0] ?? 0) - (sizes[1] ?? 0)).toBe(30_500)
    expect(viewSize(after)).toEqual(viewSize(view))
  })
})
