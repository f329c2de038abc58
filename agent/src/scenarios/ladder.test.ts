import { type Misbehaviour, misbehaving, type Script, summariser, text } from '@everlong/simulator'
import { checkRequest, compactRung, type EngineEvent, type Rung, textOf } from 'everlong'
import { describe, expect, test } from 'vitest'
import { fill, prose } from '../testing/history.ts'
import { type Stage, type StageOptions, setStage } from '../testing/stage.ts'

/** Window 40,000, 4,000 for output: the threshold is 23,000, the target 13,800. */
const small = { maxOutputTokens: 4_000, reductions: { microCompact: false } } as const
const answering: Script = () => text('Here you are.')
const stageWith = (options: StageOptions = {}) =>
  setStage({
    window: 40_000,
    script: answering,
    ...options,
    engine: { ...options.engine, settings: { ...small, ...options.engine?.settings } },
  })

/** Over the threshold, and well inside the window. */
async function fullSession(stage: Stage, rounds = 6) {
  const session = await stage.engine.start({ maxTokens: 1_000, system: 'You answer.' })
  fill(session, { rounds, tokens: 2_600 })
  session.add({ role: 'user', content: 'And what comes next? Never guess.' })
  return session
}
const said = (stage: Stage, type: EngineEvent['type']) => stage.events.filter((event) => event.type === type)
const story = (tried: readonly { readonly mechanism: string; readonly outcome: string }[]) =>
  // The micro-compactions are turned off here, and say so first.
  tried.slice(3).map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)

describe('each rung of a compaction', () => {
  const only = (settings: Parameters<typeof compactRung>[0]): Partial<StageOptions> => ({
    engine: { ladder: { 'over-threshold': [compactRung(settings)] } },
  })
  test.each<[string, Partial<StageOptions>, string]>([
    ['shares the cache of the conversation', {}, 'cache-sharing'],
    ['asks directly', only({ settings: { shareCache: false } }), 'direct'],
    ['works without a model', { summaries: misbehaving('empty-text') }, 'offline'],
  ])('%s', async (_, options, mechanism) => {
    const stage = await stageWith(options)
    const session = await fullSession(stage)
    const turn = await session.send()
    expect(turn).toMatchObject({ type: 'answered', prepared: { compaction: { mechanism } } })
    expect(session.explain().size.tokens).toBeLessThan(13_800)
    expect(textOf(session.messages()[0]?.content)).toContain('Never guess.')
    expect(checkRequest(session.messages())).toEqual([])
  })
})

describe('a summariser that fails', () => {
  test.each<[Misbehaviour]>([
    ['empty-text'],
    ['error-text'],
    ['calls-tools'],
    ['refuses'],
    ['only-thinking'],
    ['longer-than-source'],
    ['echoes-prompt'],
  ])('with %s falls to what comes next, and the story is told', async (kind) => {
    const stage = await stageWith({ summaries: misbehaving(kind) })
    const session = await fullSession(stage)
    const turn = await session.send()
    expect(turn.type).toBe('answered')
    if (turn.type !== 'answered') return
    const told = story(turn.prepared.tried)
    expect(told[0]).toBe('session-memory declined')
    expect(told[1]).toMatch(/^cache-sharing (failed|done)$/)
    expect(told.at(-1)).toBe('compact done')
    expect(session.explain().size.tokens).toBeLessThan(13_800)
    expect(JSON.stringify(session.messages())).toContain('Never guess.')
  })

  test('a rung of the host comes first; when it declines or frees too little the next one is tried', async () => {
    const declining: Rung = { name: 'notes', run: async () => ({ type: 'declined', why: 'no notes yet' }) }
    const stage = await stageWith({ engine: { ladder: { 'over-threshold': [declining, compactRung()] } } })
    const session = await fullSession(stage)
    const turn = await session.send()
    expect(turn.type === 'answered' && story(turn.prepared.tried)).toEqual([
      'notes declined',
      'cache-sharing done',
      'compact done',
    ])
  })
})

describe('a model with a smaller window', () => {
  test('1M → 200k with 300k of history: the old model compacts first', async () => {
    const stage = await setStage({ model: 'claude-opus-4-6', script: answering })
    const session = await stage.engine.start({ maxTokens: 1_000 })
    fill(session, { rounds: 8, tokens: 30_000 })
    session.add({ role: 'user', content: 'Now with the small one. Never guess.' })
    expect(session.explain().size.tokens).toBeGreaterThan(300_000)
    const switched = await session.useModel({ client: stage.model, name: 'claude-opus-4-5' })
    expect(switched).toMatchObject({
      from: 'claude-opus-4-6',
      to: 'claude-opus-4-5',
      compaction: { type: 'compacted' },
    })
    expect(stage.sent.map(({ request }) => `${request.source} ${request.model}`)).toEqual(['compact claude-opus-4-6'])
    expect(session.explain()).toMatchObject({ contextWindow: { value: 200_000 }, isAboveThreshold: false })
    expect(await session.send()).toMatchObject({ type: 'answered', answer: { model: 'claude-opus-4-5' } })
  })

  test('one that has room is changed to at once, and the cache is not said to be broken', async () => {
    const stage = await setStage({ script: answering })
    const session = await stage.engine.start({ maxTokens: 1_000, system: prose(5_000, 1) })
    session.add({ role: 'user', content: 'Hello.' })
    await session.send()
    expect(await session.useModel({ client: stage.model, name: 'claude-opus-4-1' })).not.toHaveProperty('compaction')
    session.add({ role: 'user', content: 'And now?' })
    await session.send()
    expect(said(stage, 'cache-broken')).toEqual([])
  })
})

describe('a compaction in the background', () => {
  const settings = { ...small, background: { from: 0.5 } }

  test('is prepared while work goes on and swapped in between two requests; what came meanwhile is kept', async () => {
    const stage = await stageWith({ engine: { settings } })
    const session = await fullSession(stage, 4)
    const first = await session.send()
    expect(first).not.toHaveProperty('prepared.compaction')
    session.add({ role: 'user', content: 'One more question, word for word.' })
    await untilSummarised(stage)
    const second = await session.send()
    expect(second).toMatchObject({ type: 'answered', prepared: { compaction: { mechanism: 'cache-sharing' } } })
    const texts = session.messages().map(({ content }) => textOf(content))
    expect(texts[0]).toContain('continues from an earlier one')
    expect(texts.join('\n')).toContain('One more question, word for word.')
    expect(checkRequest(session.messages())).toEqual([])
    expect(said(stage, 'compaction-finished')).toHaveLength(1)
    await session.close()
  })

  test('whose source was changed meanwhile is dropped, and nothing is lost by it', async () => {
    const stage = await stageWith({ engine: { settings } })
    const session = await fullSession(stage, 4)
    await session.send()
    await untilSummarised(stage)
    const [first] = session.messages()
    await session.snip({ from: first?.uuid ?? '', to: first?.uuid ?? '' })
    session.add({ role: 'user', content: 'Go on.' })
    const before = session.messages().length
    const turn = await session.send()
    expect(turn).not.toHaveProperty('prepared.compaction')
    expect(session.messages()).toHaveLength(before + 1)
    expect(said(stage, 'compaction-failed')).toMatchObject([
      { reason: 'aborted', detail: 'What it summarised has changed meanwhile.' },
    ])
    expect(session.tracking().breaker.failures).toBe(0)
    await session.close()
  })

  const untilSummarised = async (stage: Stage) => {
    while (!stage.events.some((event) => event.type === 'compaction-progressed' && event.phase === 'committing')) {
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
})

describe('a sub-agent', () => {
  test('compacts its own window, and leaves the one that called it alone', async () => {
    const stage = await stageWith()
    const session = await fullSession(stage, 2)
    const sub = await session.subagent()
    fill(sub, { rounds: 6, tokens: 2_600 })
    sub.add({ role: 'user', content: 'Go on.' })
    const before = session.messages()
    expect(await sub.send()).toMatchObject({
      type: 'answered',
      prepared: { compaction: { mechanism: 'cache-sharing' } },
    })
    expect(session.messages()).toEqual(before)
    expect(session.tracking().previous).toBeUndefined()
    expect(sub.tracking().previous).toBeDefined()
  })
})

describe('the blocking limit', () => {
  test('stops with a clear word; by hand it still works, and then it goes on', async () => {
    const stage = await stageWith({ engine: { settings: { ...small, autoCompact: false } }, summaries: summariser() })
    const session = await fullSession(stage, 8)
    expect(await session.send()).toMatchObject({ type: 'blocked', why: 'blocking-limit' })
    expect(await session.compact({ instructions: 'Keep the questions.' })).toMatchObject({ type: 'compacted' })
    expect(await session.send()).toMatchObject({ type: 'answered' })
  })
})
