import { describe, expect, test } from 'vitest'
import { type SessionBuilder, session, thinkingBlock, toolUseBlock } from '../../testing/index.ts'
import { textOf } from '../message/message.ts'
import { shapeOf } from '../message/shape.ts'
import { type Edit, editRecord } from '../transcript/format/edits.ts'
import { viewSize } from './measure.ts'
import { type SnipInput, snip } from './ranges.ts'
import { type SituationInput, situationOf } from './situation.ts'
import { text, viewOf } from './testing/examples.ts'

const detour = () =>
  session()
    .user('start', { uuid: 'start' })
    .assistant('fine', { uuid: 'fine' })
    .user('a detour', { uuid: 'ask' })
    .assistant([toolUseBlock('t1', 'Bash'), toolUseBlock('t2', 'Bash')], { uuid: 'calls' })
    .toolResult('t1', text(5_000), { uuid: 'r1' })
    .toolResult('t2', text(5_000), { uuid: 'r2' })
    .user(text(300), { uuid: 'paste' })
    .assistant('back again', { uuid: 'back', tokens: { input: 20_000 } })

const planOf = (built: SessionBuilder, range: SnipInput, input: Partial<SituationInput> = {}) => {
  const view = viewOf(built.records)
  return snip(range).plan(view, situationOf(view, { now: 0, estimator: 'chars/4', ...input }))
}
const editsOf = (...given: Parameters<typeof planOf>): readonly Edit[] => {
  const plan = planOf(...given)
  return plan.type === 'reduced' ? plan.edits : []
}
const append = (built: SessionBuilder, edits: readonly Edit[]) => {
  for (const [at, edit] of edits.entries()) {
    const uuid = `e${built.records.length}-${at}`
    const place = { uuid, parentUuid: built.last, timestamp: '2026-03-02T10:00:00.000Z', sessionId: 's' }
    built.raw(editRecord(edit, place)).from(uuid)
  }
  return viewOf(built.records)
}

describe('a snip', () => {
  test('grows to whole rounds, and one line is in its place', () => {
    const built = detour()
    const edits = editsOf(built, { from: 'r1', to: 'r1', marker: '[a detour]' })
    expect(edits).toMatchObject([{ type: 'drop-range', to: 'r2', marker: '[a detour]', mechanism: 'snip' }])
    const before = shapeOf(viewOf(built.records).messages)
    const after = append(built, edits)
    expect([before, shapeOf(after.messages)]).toEqual(['u a u a[tu2] u[tr2 t] a', 'u a u[t3] a'])
    expect(textOf(after.messages[2]?.content)).toBe(`a detour\n[a detour]\n${text(300)}`)
  })

  test('is the same whichever end is named first', () => {
    const uuids = detour().records.map(({ uuid }) => String(uuid))
    for (const [at, from] of uuids.entries()) {
      for (const to of uuids.slice(at))
        expect(planOf(detour(), { from: to, to: from })).toEqual(planOf(detour(), { from, to }))
    }
  })

  test('is declined if the line in its place weighs as much', () => {
    const paste = text(300)
    expect(planOf(detour(), { from: 'paste', to: 'paste', marker: paste })).toMatchObject({ reason: 'nothing-to-do' })
    const shorter = paste.slice(0, -8)
    expect(editsOf(detour(), { from: 'paste', to: 'paste', marker: shorter })).toHaveLength(1)
  })

  test('of a huge paste takes nothing else, though it is in one message with results', () => {
    expect(editsOf(detour(), { from: 'paste', to: 'paste' })).toEqual([
      {
        type: 'drop-range',
        from: 'paste',
        to: 'paste',
        marker: '[Removed from the context: 1 entry, about 300 tokens]',
        mechanism: 'snip',
      },
    ])
  })

  test('leaves what is pinned, with the call it belongs to', () => {
    const built = detour()
    append(built, [{ type: 'pin', uuid: 'r2' }])
    const edits = editsOf(built, { from: 'fine', to: 'paste' })
    expect(edits).toMatchObject([{ type: 'drop-range', from: 'paste', to: 'paste' }])
  })

  test.each<[string, SnipInput, string]>([
    ['of entries that are not in the view', { from: 'nowhere', to: 'ask' }, 'range-unknown'],
    ['of less than its line weighs', { from: 'fine', to: 'fine' }, 'nothing-to-do'],
  ])('%s is declined', (_, range, reason) => {
    expect(planOf(detour(), range)).toMatchObject({ type: 'declined', reason })
  })

  test('of what is pinned, or gone already, is declined', () => {
    const built = detour()
    append(built, [{ type: 'pin', uuid: 'paste' }])
    expect(planOf(built, { from: 'paste', to: 'paste' })).toMatchObject({ reason: 'range-pinned' })
    append(built, [{ type: 'unpin', uuid: 'paste' }])
    append(built, editsOf(built, { from: 'paste', to: 'paste' }))
    expect(planOf(built, { from: 'paste', to: 'paste' })).toMatchObject({ reason: 'nothing-to-do' })
  })

  test('is subtracted from the reported usage until a new answer arrives', () => {
    const built = detour()
    const plan = planOf(built, { from: 'ask', to: 'r2' })
    const freed = plan.type !== 'declined' ? plan.freed : 0
    expect(viewSize(viewOf(built.records))).toMatchObject({ tokens: 20_020, source: 'usage' })
    const after = append(
      built,
      editsOf(built, { from: 'ask', to: 'r2' }).map((edit) => ({ ...edit, freed })),
    )
    expect(viewSize(after)).toMatchObject({ tokens: 20_020 - freed, freed, source: 'usage' })
    built.user('on').assistant('yes', { tokens: { input: 11_000 } })
    expect(viewSize(viewOf(built.records))).toMatchObject({ tokens: 11_020, source: 'usage' })
  })

  test('on a model that binds thinking takes the thinking after it along, or is declined', () => {
    const built = session()
      .user(text(500), { uuid: 'paste' })
      .assistant([thinkingBlock('hm'), { type: 'text', text: 'well' }], { model: 'claude-opus-5-5' })
    expect(planOf(built, { from: 'paste', to: 'paste' })).toMatchObject({
      thinking: 'removed',
      edits: [{ type: 'drop-range' }, { type: 'clear-thinking', after: 'paste' }],
    })
    const reductions = { boundThinking: 'decline' } as const
    expect(planOf(built, { from: 'paste', to: 'paste' }, { reductions })).toMatchObject({ reason: 'thinking-bound' })
  })
})
