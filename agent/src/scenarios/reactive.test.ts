import { overflowShapes, text } from '@everlong/simulator'
import type { EngineSettings } from 'everlong'
import { checkRequest, textOf } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import { fill } from '../testing/history.ts'
import { eventsOf, inTurn, runLoop, saying, stagesOverHttp } from '../testing/over-http.ts'
import type { StageOptions } from '../testing/stage.ts'

const setStage = stagesOverHttp()
const model = 'claude-opus-4-5'
/** The engine believes the table, 200,000; the server takes 40,000. Nothing is cleared before the first request. */
const smaller = (options: StageOptions = {}): StageOptions => ({
  model,
  script: () => text('Here you are.'),
  ...options,
  engine: { ...options.engine, settings: { economy: 'claude-code', ...options.engine?.settings } },
  simulator: { windows: { [model]: 40_000 }, ...options.simulator },
})

const said = (events: readonly { readonly type: string }[], type: string) =>
  events.filter((event) => event.type === type)

describe('a prompt that is too long', () => {
  test.each(overflowShapes)(
    'is met, told as %s: the conversation goes on as if nothing had happened',
    async (shape) => {
      const stage = await setStage(smaller({ simulator: { windows: { [model]: 40_000 }, overflow: shape } }))
      const session = await stage.engine.start({ system: 'You answer.', maxTokens: 1_000 })
      fill(session, { rounds: 10, tokens: 5_500 })
      session.add({ role: 'user', content: 'And what comes next?' })
      const turn = await session.send()
      expect(turn).toMatchObject({ type: 'answered', answer: { content: [{ text: 'Here you are.' }] } })
      expect(said(stage.events, 'overflow-recovered')).toHaveLength(1)
      expect(said(stage.events, 'overflow-unrecovered')).toEqual([])
      const turns = stage.sent.filter(({ request }) => request.source === 'turn')
      expect(turns.map(({ result }) => result.type)).toEqual(['failed', 'answer'])
      expect(turns.flatMap(({ request }) => checkRequest(request.messages))).toEqual([])
      expect(JSON.stringify(session.messages())).toContain('And what comes next?')
    },
  )

  test('teaches the real limit of this endpoint and model, and every later window knows it', async () => {
    const stage = await setStage(smaller())
    const session = await stage.engine.start({ maxTokens: 1_000 })
    expect(session.explain().contextWindow.value).toBe(200_000)
    fill(session, { rounds: 10, tokens: 5_500 })
    session.add({ role: 'user', content: 'Go on.' })
    await session.send()
    expect(said(stage.events, 'limit-learned')).toEqual([
      { type: 'limit-learned', endpoint: stage.model.endpoint, model, limit: 40_000, sessionId: session.id },
    ])
    const learned = { value: 40_000, source: 'learned from an overflow error' }
    expect(session.explain().contextWindow).toEqual(learned)
    expect((await stage.engine.start()).explain().contextWindow).toEqual(learned)
  })

  test('by the output alone: a lower limit is enough, and nothing leaves the context', async () => {
    const older = 'claude-sonnet-4'
    const stage = await setStage({
      model: older,
      script: () => text('Here you are.'),
      simulator: { windows: { [older]: 40_000 } },
      engine: { settings: { economy: 'claude-code' } },
    })
    const session = await stage.engine.start({ maxTokens: 20_000 })
    fill(session, { rounds: 6, tokens: 4_000 })
    session.add({ role: 'user', content: 'Go on.' })
    const before = session.messages()
    expect(await session.send()).toMatchObject({ type: 'answered' })
    expect(said(stage.events, 'overflow-recovered')).toMatchObject([{ steps: ['lower-output: done'] }])
    expect(session.messages().slice(0, before.length)).toEqual(before)
    expect(stage.sent.at(-1)?.request.maxTokens).toBeLessThan(20_000)
  })

  test('told by an answer that the window ended: what it says is kept, the limit is learned, the next request is smaller', async () => {
    let answers = 0
    const stage = await setStage(
      smaller({
        script: () => (answers++ === 0 ? { ...text('On and on. '), endless: true } : text('And so it ended.')),
        engine: { settings: { reductions: { microCompact: false } } },
      }),
    )
    const session = await stage.engine.start({ maxTokens: 8_000 })
    fill(session, { rounds: 13, tokens: 2_800 })
    session.add({ role: 'user', content: 'Tell me all of it.' })
    const events = await runLoop({ session })
    const reasons = eventsOf(events, 'answer').map(({ answer }) => answer.stopReason)
    expect(reasons).toEqual(['model_context_window_exceeded', 'end_turn'])
    expect(stage.events.find(({ type }) => type === 'limit-learned')).toMatchObject({ limit: 40_000 })
    expect(events.filter(({ type }) => type === 'record').length).toBeGreaterThan(0)
    expect(events.at(-1)).toMatchObject({ type: 'stopped', why: 'finished' })
    expect(said(stage.events, 'overflow-unrecovered')).toEqual([])
    const turns = stage.sent.filter(({ request }) => request.source === 'turn')
    expect(turns.map(({ result }) => result.type)).toEqual(['answer', 'answer'])
    expect(textOf(turns[1]?.request.messages.at(-1)?.content)).toContain('Continue where it ends.')
  })

  test('met by a compaction in the loop: its records and its words to the person come before the answer streams, and the count begins again', async () => {
    const hooks = saying('The tree was saved first.')
    const stage = await setStage(smaller({ engine: { hooks, settings: { reductions: { microCompact: false } } } }))
    const session = await stage.engine.start({ maxTokens: 1_000 })
    fill(session, { rounds: 10, tokens: 5_500 })
    session.add({ role: 'user', content: 'Go on.' })
    const state = { turnId: session.tracking().turnId, turn: 7, isCompacted: false, failures: 0 }
    const events = await runLoop({ session, state })
    expect(inTurn(events)).toEqual(['notice', 'record', 'stream', 'answer', 'stopped'])
    expect(eventsOf(events, 'notice')).toEqual([{ type: 'notice', text: 'The tree was saved first.' }])
    const [boundary, summary] = eventsOf(events, 'record').map(({ record }) => record)
    expect(boundary).toMatchObject({ subtype: 'compact_boundary', compactMetadata: { trigger: 'auto' } })
    expect(summary).toMatchObject({ isCompactSummary: true })
    const { turnId } = session.tracking()
    expect(events.at(-1)).toMatchObject({ state: { turnId, turn: 1, isCompacted: true, failures: 0 } })
    expect(turnId).not.toBe(state.turnId)
  })

  test('leaves a receipt of the compaction that met it with the turn', async () => {
    const stage = await setStage(smaller({ engine: { settings: { reductions: { microCompact: false } } } }))
    const session = await stage.engine.start({ maxTokens: 1_000 })
    fill(session, { rounds: 10, tokens: 5_500 })
    session.add({ role: 'user', content: 'Go on.' })
    const turn = await session.send()
    expect(turn.compactions).toMatchObject([{ type: 'compacted', mechanism: expect.any(String) }])
    expect(turn.compactions[0]?.after).toBeLessThan(turn.compactions[0]?.before ?? 0)
    expect(turn.compactions[0]?.records[0]).toMatchObject({ subtype: 'compact_boundary' })
    session.add({ role: 'user', content: 'And now?' })
    expect((await session.send()).compactions).toEqual([])
  })

  test.each(overflowShapes)(
    'told as %s where compaction is off: what was cleared may be enough, so the request is sent again',
    async (shape) => {
      const windows = { [model]: 40_000 }
      const settings: EngineSettings = { compaction: 'manual', reductions: { reproducible: ['Read'] } }
      const stage = await setStage(smaller({ simulator: { windows, overflow: shape }, engine: { settings } }))
      const session = await stage.engine.start({ maxTokens: 1_000 })
      fill(session, { rounds: 10, tokens: 5_500 })
      session.add({ role: 'user', content: 'Go on.' })
      const turn = await session.send()
      expect(turn).toMatchObject({ type: 'answered', compactions: [] })
      const turns = stage.sent.filter(({ request }) => request.source === 'turn')
      expect(turns.map(({ result }) => result.type)).toEqual(['failed', 'answer'])
      expect(said(stage.events, 'overflow-recovered')).toHaveLength(1)
      expect(said(stage.events, 'compaction-started')).toEqual([])
    },
  )

  test('told by an answer without a word in it: it is withheld, and the second one is the answer', async () => {
    let answers = 0
    const full = { content: [], stopReason: 'model_context_window_exceeded' } as const
    const stage = await setStage(smaller({ script: () => (answers++ === 0 ? full : text('Here you are.')) }))
    const session = await stage.engine.start({ maxTokens: 1_000 })
    fill(session, { rounds: 12, tokens: 2_800 })
    session.add({ role: 'user', content: 'Go on.' })
    const turn = await session.send()
    expect(turn).toMatchObject({ type: 'answered', answer: { content: [{ text: 'Here you are.' }] } })
    expect(said(stage.events, 'overflow-recovered')).toMatchObject([
      { steps: expect.arrayContaining(['compact: done']) },
    ])
    expect(session.messages().filter(({ role }) => role === 'assistant').length).toBeGreaterThan(0)
    expect(session.spent().turn.requests).toBe(2)
  })

  test('by its bytes: images leave first, and only they', async () => {
    const stage = await setStage({ script: () => text('Seen.'), simulator: { maxBodyBytes: 300_000 } })
    const session = await stage.engine.start()
    const image = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
    session.add({ role: 'user', content: [image(png + 'A'.repeat(200_000)), { type: 'text', text: 'First.' }] })
    session.add({ role: 'assistant', content: 'I see.' })
    session.add({ role: 'user', content: [image(png + 'A'.repeat(200_000)), { type: 'text', text: 'Second.' }] })
    await session.send()
    expect(said(stage.events, 'overflow-recovered')).toMatchObject([{ steps: ['strip-media: done'] }])
    const kinds = session
      .messages()
      .map(({ content }) => (typeof content === 'string' ? content : content.map(({ type }) => type)))
    expect(kinds).toEqual([['text', 'text'], ['text'], ['image', 'text'], ['text']])
  })

  test('that nothing makes shorter is shown as the provider told it, with what was tried', async () => {
    const stage = await setStage(smaller({ engine: { settings: { compaction: 'manual' } } }))
    const session = await stage.engine.start({ maxTokens: 1_000 })
    session.add({ role: 'user', content: 'x '.repeat(45_000) })
    const turn = await session.send()
    expect(turn).toMatchObject({
      type: 'failed',
      failure: { reason: 'overflow', message: expect.stringContaining('prompt is too long') },
    })
    expect(turn.type === 'failed' && turn.steps.at(-1)).toMatchObject({ mechanism: 'compact', outcome: 'declined' })
    expect(said(stage.events, 'overflow-unrecovered')).toHaveLength(1)
  })
})
