import { type Misbehavior, misbehaving, type Script, summarizer, text } from '@everlong/simulator'
import type { EngineEvent } from 'everlong'
import { checkRequest, textOf } from 'everlong/internal'
import { type RunningMechanism, summarize } from 'everlong/mechanisms'
import type { Session } from 'everlong/node'
import { describe, expect, test } from 'vitest'
import { fill, prose } from '../testing/history.ts'
import { gate, saying, stagesOverHttp, until } from '../testing/over-http.ts'
import type { Stage, StageOptions } from '../testing/stage.ts'

/** In a window of 40,000. The target is 13,800. */
const small = {
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  blockingLimit: 33_000,
  reductions: { microCompact: false },
} as const
const setStage = stagesOverHttp()
const model = 'claude-opus-4-5'
const answering: Script = () => text('Here you are.')
const stageWith = (options: StageOptions = {}) =>
  setStage({
    window: 40_000,
    script: answering,
    ...options,
    engine: { ...options.engine, settings: { ...small, ...options.engine?.settings } },
  })

/** No summary comes before it is mended, and none is made without a model. */
async function brokenStage() {
  let isBroken = true
  const good = summarizer()
  const stage = await stageWith({
    summaries: (request, context) => (isBroken ? text('') : good(request, context)),
    engine: { settings: { summary: { offline: 'never' } } },
  })
  const mend = () => {
    isBroken = false
  }
  return { stage, mend }
}

/** Over the threshold, and well inside the window. */
async function fullSession(stage: Stage, rounds = 6) {
  const session = await stage.engine.start({ maxTokens: 1_000, system: 'You answer.' })
  fill(session, { rounds, tokens: 2_600 })
  session.add({ role: 'user', content: 'And what comes next? Never guess.' })
  return session
}
/** A read and its large result, which no person typed: with the answer before it over the threshold by any count. */
function readMore(session: Session) {
  const call = { type: 'tool_use', id: 'toolu_more', name: 'Read', input: { file_path: 'src/more.ts' } }
  session.add({ role: 'assistant', content: [call] })
  const result = { type: 'tool_result', tool_use_id: call.id, content: prose(7_500, 99) }
  session.add({ role: 'user', content: [result] })
}
const said = (stage: Stage, type: EngineEvent['type']) => stage.events.filter((event) => event.type === type)
const story = (tried: readonly { readonly mechanism: string; readonly outcome: string }[]) =>
  // The micro-compactions are turned off here, and say so first.
  tried
    .filter(({ mechanism }) => !mechanism.startsWith('micro-'))
    .map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)

describe('each mechanism of a compaction', () => {
  const direct: RunningMechanism = {
    name: 'compact',
    run: (context) => summarize({ ...context, settings: { ...context.settings, shareCache: false } }),
  }
  test.each<[string, Partial<StageOptions>, string]>([
    ['shares the cache of the conversation', {}, 'cache-sharing'],
    ['asks directly', { engine: { mechanisms: { compact: [direct] } } }, 'direct'],
    [
      'leaves the oldest rounds out of what it asks',
      { simulator: { windows: { [model]: 15_000 } } },
      'direct-truncated',
    ],
    ['works without a model', { summaries: misbehaving('empty-text') }, 'offline'],
    ['goes window by window through a long history', {}, 'windows'],
  ])('%s', async (_, options, mechanism) => {
    const stage = await stageWith(options)
    const session = await fullSession(stage, mechanism === 'windows' ? 60 : 6)
    const turn = await session.send()
    expect(turn).toMatchObject({ type: 'answered', prepared: { compaction: { mechanism } } })
    expect(session.explain().size.tokens).toBeLessThan(13_800)
    expect(textOf(session.messages()[0]?.content)).toContain('Never guess.')
    expect(checkRequest(session.messages())).toEqual([])
  })
})

describe('a summarizer that fails', () => {
  const allTheWay = ['cache-sharing failed', 'direct failed', 'offline done']

  test.each<[Misbehavior, readonly string[]]>([
    ['empty-text', allTheWay],
    ['error-text', allTheWay],
    ['calls-tools', allTheWay],
    ['refuses', allTheWay],
    ['only-thinking', allTheWay],
    ['echoes-prompt', allTheWay],
    // Cut to its budget it is a summary like any other.
    ['longer-than-source', ['cache-sharing done']],
  ])('with %s falls to what comes next, and the story is told', async (kind, between) => {
    const stage = await stageWith({ summaries: misbehaving(kind) })
    const session = await fullSession(stage)
    const turn = await session.send()
    expect(turn.type).toBe('answered')
    if (turn.type !== 'answered') return
    expect(story(turn.prepared.tried)).toEqual(['session-memory declined', ...between, 'compact done'])
    expect(session.explain().size.tokens).toBeLessThan(13_800)
    expect(JSON.stringify(session.messages())).toContain('Never guess.')
  })

  test('a mechanism of the host comes first; when it declines or frees too little the next one is tried', async () => {
    const declining: RunningMechanism = {
      name: 'notes',
      run: async () => ({ type: 'declined', reason: 'no-notes', why: 'no notes yet' }),
    }
    const edit = { type: 'clear-results', toolUseIds: ['toolu_fill_0'] } as const
    const freeing: RunningMechanism = {
      name: 'little',
      run: async () => ({ type: 'reduced', edits: [edit], freed: 2_600 }),
    }
    const stage = await stageWith({
      engine: { mechanisms: ({ compact }) => ({ compact: [declining, freeing, ...compact.slice(1)] }) },
    })
    const session = await fullSession(stage)
    const turn = await session.send()
    expect(turn.type === 'answered' && story(turn.prepared.tried)).toEqual([
      'notes declined',
      'little failed',
      'cache-sharing done',
      'compact done',
    ])
    expect(
      turn.type === 'answered' && turn.prepared.tried.find(({ mechanism }) => mechanism === 'little')?.why,
    ).toMatch(/^It frees too little: /)
    // The insufficient step was not applied either, so only the compaction can be undone.
    expect(await session.undo()).toMatchObject({ type: 'undone', change: { type: 'compaction' } })
    expect(await session.undo()).toEqual({ type: 'nothing-to-undo' })
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
    expect(said(stage, 'cache-missed')).toMatchObject([{ reason: 'first-request' }, { reason: 'prefix-changed' }])
  })
})

describe('a compaction in the background', () => {
  const settings = { ...small, background: { from: 0.5 } }

  test('is prepared while work continues and swapped in between two requests; what came meanwhile is kept', async () => {
    const stage = await stageWith({ engine: { settings, hooks: saying('The tree was saved first.') } })
    const session = await fullSession(stage, 4)
    const first = await session.send()
    expect(first).not.toHaveProperty('prepared.compaction')
    session.add({ role: 'user', content: 'One more question, word for word.' })
    await untilCommitting(stage)
    const second = await session.send()
    const receipt = { mechanism: 'cache-sharing' }
    expect(second).toMatchObject({
      type: 'answered',
      prepared: { compaction: receipt, notices: ['The tree was saved first.'] },
      compactions: [receipt],
    })
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
    await untilCommitting(stage)
    const [first] = session.messages()
    await session.snip({ from: first?.uuid ?? '', to: first?.uuid ?? '' })
    session.add({ role: 'user', content: 'Go on.' })
    const before = session.messages().length
    const turn = await session.send()
    expect(turn).not.toHaveProperty('prepared.compaction')
    expect(session.messages()).toHaveLength(before + 1)
    expect(said(stage, 'compaction-failed')).toMatchObject([
      { reason: 'aborted', why: 'What it summarized has changed meanwhile.' },
    ])
    expect(session.tracking().breaker.failures).toBe(0)
    await session.close()
  })

  const untilCommitting = ({ events }: Stage) =>
    until(() => events.some((event) => event.type === 'compaction-progressed' && event.phase === 'committing'))
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

  test('has a breaker of its own: three failures of it stop nobody else', async () => {
    const { stage, mend } = await brokenStage()
    const session = await fullSession(stage)
    const sub = await session.subagent()
    fill(sub, { rounds: 6, tokens: 2_600 })
    readMore(sub)
    for (const nth of [1, 2, 3]) {
      sub.add({ role: 'user', content: `Step ${nth}.` })
      await sub.prepare()
    }
    expect(sub.tracking().breaker).toMatchObject({ isOpen: true, failures: 3 })
    expect(session.tracking().breaker).toMatchObject({ isOpen: false, failures: 0 })
    mend()
    expect(await session.send()).toMatchObject({ type: 'answered', prepared: { compaction: {} } })
  })
})

describe('the blocking limit', () => {
  test('stops with a clear message; a manual compaction still works, and then it continues', async () => {
    const stage = await stageWith({ engine: { settings: { ...small, compaction: 'manual' } }, summaries: summarizer() })
    const session = await fullSession(stage, 8)
    expect(await session.send()).toMatchObject({ type: 'blocked', reason: 'blocking-limit' })
    expect(await session.compact({ instructions: 'Keep the questions.' })).toMatchObject({ type: 'compacted' })
    expect(await session.send()).toMatchObject({ type: 'answered' })
  })
})

describe('ask mode', () => {
  const asking = { ...small, compaction: 'ask', askTimeoutMs: 400 } as const
  const declined = { mechanism: 'ask', outcome: 'declined', reason: 'refused', why: 'The host did not allow it.' }

  test('yes: the host hears the numbers, and it compacts', async () => {
    const questions: unknown[] = []
    const ask = async (question: unknown) => {
      questions.push(question)
      return true
    }
    const stage = await stageWith({ engine: { settings: asking, ask } })
    const session = await fullSession(stage)
    const { size } = session.explain()
    expect(await session.send()).toMatchObject({
      type: 'answered',
      prepared: { compaction: { mechanism: 'cache-sharing' } },
    })
    expect(questions).toEqual([{ tokens: size.tokens, threshold: 23_000 }])
  })

  test.each<[string, () => Promise<boolean | undefined>]>([
    ['no', async () => false],
    ['no answer', () => new Promise(() => undefined)],
  ])('%s: the conversation continues as it is, and nobody is asked again before a person speaks', async (_, answer) => {
    let asked = 0
    const ask = () => {
      asked++
      return answer()
    }
    const stage = await stageWith({ engine: { settings: asking, ask } })
    const session = await fullSession(stage)
    const before = session.messages()
    const turn = await session.send()
    expect(turn.type === 'answered' && turn.prepared.tried.at(-1)).toEqual(declined)
    expect(session.messages().slice(0, before.length)).toEqual(before)
    readMore(session)
    expect((await session.send()).type).toBe('answered')
    expect(session.explain().isAboveThreshold).toBe(true)
    expect(asked).toBe(1)
    session.add({ role: 'user', content: 'A person speaks.' })
    await session.send()
    expect(asked).toBe(2)
    expect(stage.sent.map(({ request }) => request.source)).toEqual(['turn', 'turn', 'turn'])
  })
})

describe('the breaker', () => {
  test('three failures, one clear message, no fourth attempt; with the cause removed it works again', async () => {
    const { stage, mend } = await brokenStage()
    const session = await fullSession(stage)
    const notices: string[] = []
    const turn = async (content: string) => {
      session.add({ role: 'user', content })
      const sent = await session.send()
      if (sent.type !== 'answered') throw new Error(sent.type)
      notices.push(...sent.prepared.notices)
      return sent.prepared
    }
    await turn('Question 1.')
    readMore(session)
    session.add({ role: 'assistant', content: 'It has been read.' })
    for (const nth of [2, 3, 4, 5]) await turn(`Question ${nth}.`)
    expect(said(stage, 'compaction-failed')).toHaveLength(3)
    expect(said(stage, 'breaker-tripped')).toEqual([{ type: 'breaker-tripped', failures: 3, sessionId: session.id }])
    expect(notices).toEqual([expect.stringContaining('Automatic compaction has stopped for this conversation')])
    expect((await turn('And now?')).tried.at(-1)?.reason).toBe('breaker-open')

    mend()
    expect(await session.compact()).toMatchObject({ type: 'compacted' })
    fill(session, { rounds: 6, tokens: 2_600, from: 20 })
    expect(await turn('Once more.')).toMatchObject({ compaction: { mechanism: 'cache-sharing' } })
    expect(notices).toHaveLength(1)
    expect(session.tracking().breaker).toMatchObject({ isOpen: false, failures: 0 })
  })
})

describe('a person who types while a compaction runs', () => {
  test('is added after it: the words follow the summary, and nothing was aborted', async () => {
    const { opened, open } = gate()
    const good = summarizer()
    const stage = await stageWith({
      summaries: async (request, context) => {
        await opened
        return good(request, context)
      },
    })
    const session = await fullSession(stage)
    const sending = session.send()
    await until(() => said(stage, 'compaction-started').length > 0)
    const [uuid] = session.add({ role: 'user', content: 'Typed meanwhile, word for word.' })
    expect(JSON.stringify(session.messages())).not.toContain('Typed meanwhile')
    open()
    expect(await sending).toMatchObject({
      type: 'answered',
      prepared: { compaction: { mechanism: 'cache-sharing' } },
    })
    expect(session.messages().at(-1)).toMatchObject({ uuid, role: 'user', content: 'Typed meanwhile, word for word.' })
    expect(await session.send()).toMatchObject({ type: 'answered' })
    const turns = stage.sent.filter(({ request }) => request.source === 'turn')
    expect(turns.flatMap(({ request }) => checkRequest(request.messages))).toEqual([])
    expect(said(stage, 'compaction-failed')).toEqual([])
  })
})
