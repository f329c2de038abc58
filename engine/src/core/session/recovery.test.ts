import { describe, expect, test } from 'vitest'
import type { Mechanism } from '../mechanisms/mechanism.ts'
import { noTokens } from '../message/usage.ts'
import type { ModelFailure } from '../ports/model.ts'
import { plainMechanism, summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted } from './testing/world.ts'

const tooLong = (overflow?: ModelFailure['overflow']): ModelFailure => ({
  type: 'failed',
  reason: 'overflow',
  message: 'prompt is too long',
  tries: 1,
  ...(overflow ? { overflow } : {}),
})
const clearing: Mechanism = {
  name: 'clearing',
  run: async () => ({
    type: 'reduced',
    edits: [{ type: 'clear-results', toolUseIds: ['t1'] }],
    freed: 900,
    results: 1,
  }),
}

/** A read of a thousand words, followed by a question. */
function worldWith(options: Parameters<typeof createTestWorld>[0]) {
  const world = createTestWorld(options)
  world.session.add({ role: 'user', content: 'Read it.' })
  world.session.add({ role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Read', input: {} }] })
  const result = { type: 'tool_result', tool_use_id: 't1', content: 'parse the record '.repeat(400) }
  world.session.add({ role: 'user', content: [result, { type: 'text', text: 'And now?' }] })
  return world
}

describe('recovery', () => {
  test('asks for less output where that leaves room for an answer, and not where it does not', async () => {
    const { session } = worldWith({ mechanisms: { reduce: [] }, compaction: [plainMechanism('In short.')] })
    const roomy = await session.recover(tooLong({ actual: 38_000, limit: 40_000, maxTokens: 8_000 }))
    expect(roomy).toMatchObject({ type: 'recovered', request: { maxTokens: 2_000 }, steps: [{ outcome: 'done' }] })
    const cramped = await session.recover(tooLong({ actual: 39_500, limit: 40_000, maxTokens: 8_000 }))
    expect(cramped.steps[0]).toEqual({
      mechanism: 'lower-output',
      outcome: 'declined',
      why: 'Only 500 tokens are left.',
    })
    expect(cramped).toMatchObject({ type: 'recovered', compaction: { mechanism: 'plain' } })
  })

  test('keeps the newest messages as they were, and summarizes the rest', async () => {
    const model = scripted(() => '<summary>\n1. Primary request and intent:\n- Read the records.\n</summary>')
    const { session } = createTestWorld({ model, mechanisms: { reduce: [] }, compaction: [summarizing()] })
    for (let at = 0; at < 12; at++) {
      session.add({ role: 'user', content: `Question ${at}. ${'parse the record '.repeat(100)}` })
      session.record(answerOf(`Answer ${at}. ${'it is parsed '.repeat(100)}`, { id: `m${at}` }))
    }
    session.add({ role: 'user', content: 'And now?' })
    const before = session.messages()
    expect(await session.recover(tooLong())).toMatchObject({ type: 'recovered', compaction: { type: 'compacted' } })
    const after = session.messages()
    expect(after.slice(-2)).toEqual(before.slice(-2))
    expect(after.length).toBeLessThan(before.length / 2)
  })

  test('that a person stops sends nothing more, even where something was cleared', async () => {
    const signal = { aborted: false, addEventListener: () => undefined, removeEventListener: () => undefined }
    const stopping = plainMechanism('In short.', {
      during: async () => {
        signal.aborted = true
      },
    })
    const { session } = worldWith({ mechanisms: { reduce: [clearing], compact: [stopping] } })
    const stopped = await session.recover(tooLong(), { signal })
    expect(stopped.steps.map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)).toEqual([
      'clearing done',
      'plain failed',
    ])
    expect(stopped.type).toBe('unrecovered')
  })

  test('does not believe a limit with which no setting works', async () => {
    const settings = { maxOutputTokens: 64_000 }
    const { session, events } = worldWith({
      settings,
      mechanisms: { reduce: [] },
      compaction: [plainMechanism('x')],
    })
    await session.recover(tooLong({ actual: 210_000, limit: 14_500 }))
    expect(session.explain().contextWindow.value).toBe(200_000)
    expect(events.filter(({ type }) => type === 'limit-learned')).toEqual([])
  })

  test('leaves an answer alone that calls a tool, although the window ended it', async () => {
    const call = { type: 'tool_use', id: 't2', name: 'Read', input: {} }
    const model = scripted(() => answerOf([call], { stopReason: 'model_context_window_exceeded' }))
    const { session } = worldWith({ model })
    expect(await session.send()).toMatchObject({ type: 'answered', answer: { content: [call] } })
    expect(model.requests).toHaveLength(1)
  })

  /** Old results in a warm cache: between requests, clearing them would not pay yet. */
  function youngWorld(options: Parameters<typeof createTestWorld>[0] = {}) {
    const world = createTestWorld({ compaction: [plainMechanism('In short.')], ...options })
    const { session } = world
    session.add({ role: 'user', content: 'Build it.' })
    for (let at = 1; at <= 12; at++) {
      const call = { type: 'tool_use', id: `t${at}`, name: 'Bash', input: { command: `make ${at}` } }
      session.record(answerOf([call], { id: `m${at}`, usage: { ...noTokens, cacheRead: at * 9_000 } }))
      const result = { type: 'tool_result', tool_use_id: `t${at}`, content: 'parse the record '.repeat(1_700) }
      session.add({ role: 'user', content: [result] })
    }
    session.record(answerOf('Built.', { id: 'm13', usage: { ...noTokens, cacheRead: 117_000 } }))
    session.add({ role: 'user', content: 'And now?' })
    return world
  }

  test.each<[string, NonNullable<Parameters<typeof createTestWorld>[0]>, ModelFailure]>([
    ['by hand', { settings: { compaction: 'manual' } }, tooLong()],
    ['automatic compaction turned off', { environment: { DISABLE_AUTO_COMPACT: '1' } }, tooLong()],
    ['automatic', {}, tooLong({ actual: 201_000, limit: 200_000 })],
  ])('clears old results whatever that costs: %s', async (_, options, failure) => {
    const { session } = youngWorld(options)
    const prepared = await session.prepare()
    expect(['below-warning', 'does-not-pay']).toContain(prepared.tried.at(-1)?.reason)
    const recovery = await session.recover(failure)
    expect(recovery).toMatchObject({ type: 'recovered' })
    expect(recovery).not.toHaveProperty('compaction')
    const cleared = recovery.type === 'recovered' ? recovery.request.messages : []
    expect(JSON.stringify(cleared).split('Old tool result content cleared').length - 1).toBe(9)
  })

  test('sends again what was cleared where no compaction may run', async () => {
    const { session } = worldWith({ mechanisms: { reduce: [clearing] }, settings: { compaction: 'manual' } })
    const recovery = await session.recover(tooLong())
    expect(recovery.type).toBe('recovered')
    expect(JSON.stringify(recovery.type === 'recovered' && recovery.request.messages)).not.toContain('parse the record')
  })
})
