import { describe, expect, test } from 'vitest'
import { session } from '../../testing/index.ts'
import type { JsonObject } from '../message/json.ts'
import { editRecord } from '../transcript/format/edits.ts'
import { editedSize, viewSize } from './measure.ts'
import { text, viewOf } from './testing/examples.ts'

const counting = { estimator: 'chars/4' } as const

function records(tokens?: { readonly input: number; readonly output: number }) {
  return session()
    .user('go')
    .assistant([{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }])
    .toolResult('t1', text(5_000))
    .assistant('done', tokens ? { tokens } : {}).records
}

const edit = (edit: Parameters<typeof editRecord>[0], uuid: string): JsonObject =>
  editRecord(edit, { uuid, parentUuid: null, timestamp: '2026-03-03T00:00:00.000Z', sessionId: 's' })

const clear = edit({ type: 'clear-results', toolUseIds: ['t1'] }, 'edit-1')
const undo = edit({ type: 'undo', uuid: 'edit-1' }, 'undo-1')

describe('the size of a view that was edited since its newest answer', () => {
  const told = records({ input: 20_000, output: 10 })
  const answered = viewOf(told)

  test('is what the answer reported, less what has gone: what it counted beside the messages still counts', () => {
    const now = viewOf([...told, clear])
    expect(editedSize(answered, now, counting)).toMatchObject({ tokens: 20_010 - 4_992, source: 'usage' })
    // An estimate alone would have missed the 15,000 tokens of system prompt and tools that only the answer's usage includes.
    expect(viewSize(now, counting).tokens).toBeLessThan(100)
  })

  test('is what it was when the edit was undone', () => {
    expect(editedSize(answered, viewOf([...told, clear, undo]), counting)).toEqual(viewSize(answered, counting))
  })

  test('grows by what comes back', () => {
    const built = session()
      .user('go')
      .assistant([{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }])
      .toolResult('t1', text(5_000))
    built
      .raw({ ...clear, parentUuid: built.last })
      .from('edit-1')
      .user('on')
      .assistant('done', { tokens: { input: 20_000, output: 10 } })
    const cleared = viewOf(built.records)
    expect(editedSize(cleared, viewOf([...built.records, undo]), counting)).toMatchObject({
      tokens: 20_010 + 4_992,
      estimated: 4_992,
      source: 'usage+estimate',
    })
  })

  test('estimates what came after the newest report as it is now', () => {
    const silent = records({ input: 0, output: 0 })
    const { reported, tokens } = editedSize(viewOf(silent), viewOf([...silent, clear]), counting)
    expect(reported).toBe(viewSize(viewOf(silent), counting).reported)
    expect(tokens - reported).toBeLessThan(30)
  })

  test('knows the answer again whose first piece left with its thinking', () => {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
    const built = session()
      .user('go')
      .assistant([thought, { type: 'text', text: 'done' }], { tokens: { input: 20_000, output: 10 } }).records
    const unthink = edit({ type: 'clear-thinking' }, 'edit-1')
    expect(editedSize(viewOf(built), viewOf([...built, unthink]), counting)).toMatchObject({ source: 'usage' })
  })

  test('is an estimate where no answer reported anything', () => {
    const silent = session().user('go').records
    const now = viewOf([...silent, clear])
    expect(editedSize(viewOf(silent), now, counting)).toEqual(viewSize(now, counting))
  })
})
