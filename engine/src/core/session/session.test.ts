import { describe, expect, test } from 'vitest'
import type { Mechanism, RunningMechanism } from '../mechanisms/mechanism.ts'
import { shapeOf } from '../message/shape.ts'
import type { EngineEvent } from '../ports/events.ts'
import { createStop } from '../ports/safely.ts'
import { checkRequest } from '../request/check-request.ts'
import type { EngineSettings } from '../settings/table.ts'
import { compactNow } from './compact.ts'
import { decliningMechanism, failingMechanism, only, plainMechanism } from './testing/mechanisms.ts'
import { answerOf as anyAnswer, createTestWorld, scripted, type World, type WorldOptions } from './testing/world.ts'

/** Window 40,000, 4,000 for output: effective 36,000, threshold 23,000, target 13,800, blocking 33,000. */
const small: EngineSettings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  blockingLimit: 33_000,
}
const words = (tokens: number) => 'lorem ipsum '.repeat(Math.round(tokens / 2.5))
const usage = (all: number) => ({ input: all - 100, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })
let answers = 0
const answerOf: typeof anyAnswer = (content, more) => anyAnswer(content, { id: `msg_${++answers}`, ...more })

/** A conversation of this size, according to its last answer. */
function sized(tokens: number, options: WorldOptions = {}): World {
  const world = createTestWorld({ settings: small, ...options })
  world.session.add({ role: 'user', content: 'Never touch the database.' })
  world.session.record(answerOf(words(3_000), { usage: usage(tokens) }))
  return world
}
const said = (world: World, type: EngineEvent['type']) => world.events.filter((event) => event.type === type)

describe('a session', () => {
  test('adds, prepares, records: the request is what was said, with marks for the cache', async () => {
    const { session } = createTestWorld({ base: { system: 'Be kind.', tools: [{ name: 'Read' }], maxTokens: 100 } })
    session.add({ role: 'user', content: 'Hello.' })
    const request = await session.prepare()
    expect(request).toMatchObject({ type: 'ready', source: 'turn', model: 'claude-opus-4-5', maxTokens: 100 })
    const cache_control = { type: 'ephemeral' }
    expect(request.type === 'ready' && request.body).toEqual({
      model: 'claude-opus-4-5',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be kind.', cache_control }],
      tools: [{ name: 'Read', cache_control }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello.', cache_control }] }],
    })
    session.record({
      id: 'm',
      model: 'claude-opus-4-5',
      content: [{ type: 'text', text: 'Hi.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 12, output_tokens: 3 },
    })
    expect(session.explain().size).toMatchObject({ tokens: 15, source: 'usage' })
    session.add({ role: 'user', content: 'And now?' })
    expect(session.messages().map(({ role, origin }) => `${role} ${origin}`)).toEqual([
      'user human',
      'assistant assistant',
      'user human',
    ])
  })

  test('a request is valid whatever was left out: a call without its result gets one', async () => {
    const { session } = createTestWorld()
    session.add({ role: 'user', content: 'Go.' })
    session.record(answerOf([{ type: 'tool_use', id: 't1', name: 'Read', input: {} }]))
    session.add({ role: 'user', content: 'Stop, do something else.' })
    const request = await session.prepare()
    if (request.type !== 'ready') throw new Error(request.why)
    expect(shapeOf(request.messages)).toBe('u a[tu] u[tr t]')
    expect(checkRequest(request.messages)).toEqual([])
    expect(request.repairs).toMatchObject([{ type: 'result-added' }])
  })

  test('results and what a person typed beside them are two records, and one message', async () => {
    const { session, records } = createTestWorld()
    session.add({ role: 'user', content: 'Go.' })
    session.record(answerOf([{ type: 'tool_use', id: 't1', name: 'Read', input: {} }]))
    const uuids = session.add({
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: 'text' },
        { type: 'text', text: 'Never do X.' },
      ],
    })
    expect(uuids).toHaveLength(2)
    expect(records().map(({ type }) => type)).toEqual(['user', 'assistant', 'user', 'user'])
    expect(shapeOf(session.messages())).toBe('u a[tu] u[tr t]')
  })

  test('nothing to send is said', async () => {
    const { session } = createTestWorld()
    expect(await session.prepare()).toMatchObject({ type: 'blocked', reason: 'nothing-to-send' })
  })

  test('white space is nothing to send, until something is said', async () => {
    const { session } = createTestWorld()
    session.add([
      { role: 'user', content: ' \n' },
      { role: 'user', content: [{ type: 'text', text: '\t' }] },
    ])
    expect(await session.prepare()).toMatchObject({ type: 'blocked', reason: 'nothing-to-send' })
    session.add({ role: 'user', content: 'Hello.' })
    expect(await session.prepare()).toMatchObject({ type: 'ready', messages: [{ content: [{ text: 'Hello.' }] }] })
  })
})

describe('the mechanisms', () => {
  test('below the threshold nothing is tried', async () => {
    const { session } = sized(22_999, { compaction: [plainMechanism('short')] })
    expect(await session.prepare()).toMatchObject({ type: 'ready', notices: [] })
    expect(session.messages()).toHaveLength(2)
  })

  test('over it the first mechanism that does it wins, and the story is told', async () => {
    const world = sized(23_000, {
      compaction: [
        decliningMechanism('memory'),
        failingMechanism('sharing'),
        plainMechanism('A short summary.'),
        failingMechanism('never'),
      ],
    })
    const request = await world.session.prepare()
    expect(request.tried.slice(-3)).toEqual([
      { mechanism: 'memory', outcome: 'declined', reason: 'not-now', why: 'memory would not' },
      { mechanism: 'sharing', outcome: 'failed', reason: 'api-error', why: 'sharing could not' },
      { mechanism: 'plain', outcome: 'done', why: 'summarized by plain' },
    ])
    expect(request).toMatchObject({ type: 'ready', compaction: { mechanism: 'plain', before: 23_000 } })
    expect(world.session.messages().map(({ origin }) => origin)).toEqual(['summary'])
    expect(world.session.explain().size.source).toBe('estimate')
    expect(said(world, 'compaction-finished')).toMatchObject([
      { trigger: 'auto', tokensBefore: 23_000, chain: { isRecompaction: false } },
    ])
  })

  test('what frees too little is not applied and counts as failed', async () => {
    const world = sized(24_000, { compaction: [plainMechanism(words(2_000))] })
    const before = world.session.messages()
    const request = await world.session.prepare()
    expect(request.tried.at(-1)).toMatchObject({ mechanism: 'plain', outcome: 'failed' })
    expect(request.tried.at(-1)?.why).toMatch(/frees too little: 24,000 → \d\d,\d{3} tokens, and the target is 13,800/)
    expect(world.session.messages()).toEqual(before)
    expect(world.records().filter(({ subtype }) => subtype === 'compact_boundary')).toEqual([])
    expect(said(world, 'compaction-failed')).toMatchObject([{ reason: 'no-progress' }])
    expect(world.session.tracking().breaker.failures).toBe(1)
  })

  test('what was spent in vain is told, of all mechanisms together', async () => {
    const paid = (name: string, cost: number): RunningMechanism => ({
      name,
      run: async () => ({
        type: 'failed',
        reason: 'api-error',
        why: 'No.',
        tried: [],
        usage: usage(600),
        cost,
        attempts: 1,
      }),
    })
    const world = sized(24_000, { compaction: [paid('first', 0.25), paid('second', 0.5)] })
    await world.session.prepare()
    expect(said(world, 'compaction-failed')).toMatchObject([
      { cost: 0.75, attempts: 2, usage: { input: 1_000, output: 200 } },
    ])
  })

  test('by hand, what counts as smaller is done, though a guess with its margin is above what was reported', async () => {
    // 3,000 tokens by our counter. The answer reported fewer than we guessed for half of them.
    const world = sized(1_200, { compaction: [plainMechanism(words(1_500))] })
    expect(await world.session.compact()).toMatchObject({ type: 'compacted', mechanism: 'plain' })
    const grown = sized(1_200, { compaction: [plainMechanism(words(6_000))] })
    expect(await grown.session.compact()).toMatchObject({ type: 'failed', reason: 'no-progress' })
  })

  test('overhead that alone is over the threshold is said with the numbers, once a turn, instead of compacting', async () => {
    const world = sized(25_000, { compaction: [plainMechanism('short')], base: { system: words(40_000) } })
    const first = await world.session.prepare()
    expect(first.notices).toHaveLength(1)
    expect(first.notices[0]).toMatch(/alone take \d\d,\d{3} tokens, and the threshold is 23,000/)
    expect((await world.session.prepare()).notices).toEqual([])
    expect(said(world, 'compaction-started')).toEqual([])
  })

  test('at the blocking limit it stops with a clear word, and compacting by hand still works', async () => {
    const world = sized(33_000, {
      compaction: [only('person', plainMechanism('short'))],
    })
    const request = await world.session.prepare()
    expect(request).toMatchObject({ type: 'blocked', reason: 'blocking-limit' })
    expect(request.type === 'blocked' && request.why).toContain('33,000')
    expect(await world.session.compact()).toMatchObject({ type: 'compacted', mechanism: 'plain' })
    expect(await world.session.prepare()).toMatchObject({ type: 'ready' })
  })

  test('at the blocking limit nobody is told to compact where that is turned off', async () => {
    for (const collapse of [true, false]) {
      const { session } = sized(33_000, { settings: { ...small, collapse }, environment: { DISABLE_COMPACT: '1' } })
      const request = await session.prepare()
      expect(request).toMatchObject({
        type: 'blocked',
        why: expect.stringMatching(/no request is sent\. Compaction is off: DISABLE_COMPACT\. Turn it on, remove/),
      })
    }
  })
})

describe('a signal that is aborted', () => {
  const signal = (isAborted: boolean) => {
    const stop = createStop()
    if (isAborted) stop.stop()
    return stop
  }

  test('prepares and sends nothing', async () => {
    const model = scripted(() => 'Done.')
    const world = sized(23_000, { model, compaction: [plainMechanism('short')] })
    const before = world.session.messages()
    const options = { signal: signal(true).signal }
    expect(await world.session.prepare(options)).toMatchObject({ type: 'blocked', reason: 'aborted' })
    expect(await world.session.send(options)).toMatchObject({ type: 'blocked', reason: 'aborted', compactions: [] })
    expect([world.session.messages(), model.requests, said(world, 'compaction-started')]).toEqual([before, [], []])
  })

  test('while a compaction runs: nothing is sent after it', async () => {
    const { signal: own, stop } = signal(false)
    const model = scripted(() => 'Done.')
    const during = async () => stop()
    const world = sized(23_000, { model, compaction: [plainMechanism('short', { during })] })
    const before = world.session.messages()
    expect(await world.session.send({ signal: own })).toMatchObject({ type: 'blocked', reason: 'aborted' })
    expect([world.session.messages(), model.requests]).toEqual([before, []])
    expect(await world.session.prepare()).toMatchObject({ type: 'ready' })
  })
})

describe('guards', () => {
  test.each<[string, WorldOptions]>([
    ['DISABLE_COMPACT', { environment: { DISABLE_COMPACT: '1' } }],
    ['DISABLE_AUTO_COMPACT', { environment: { DISABLE_AUTO_COMPACT: 'yes' } }],
    ['the setting', { settings: { ...small, compaction: 'manual' } }],
    ['reactive-only mode', { settings: { ...small, compaction: 'reactive' } }],
    ['collapse mode', { settings: { ...small, collapse: true } }],
    ['ask mode without somebody to ask', { settings: { ...small, compaction: 'ask' } }],
    ['ask mode, no', { settings: { ...small, compaction: 'ask' }, ask: async () => false }],
    [
      'ask mode, no answer',
      { settings: { ...small, compaction: 'ask', askTimeoutMs: 1_000 }, ask: () => new Promise(() => undefined) },
    ],
  ])('%s keeps automatic compaction away', async (_, options) => {
    const world = sized(24_000, { compaction: [plainMechanism('short')], ...options })
    expect(await world.session.prepare()).not.toHaveProperty('compaction')
    expect(said(world, 'compaction-started')).toEqual([])
  })

  test.each(['compact', 'session-memory', 'collapse'] as const)('a request of %s never compacts', async (source) => {
    const world = sized(24_000, { compaction: [plainMechanism('short')] })
    const prepared = await world.session.prepare({ source })
    expect(prepared).toMatchObject({ type: 'ready', source })
    expect(prepared.tried).toMatchObject([{ mechanism: 'guard', outcome: 'declined' }])
    expect(said(world, 'compaction-started')).toEqual([])
  })

  test('ask mode, yes: it runs; after a no it is asked again only after the next human message', async () => {
    const asked: number[] = []
    const answers = [false, true]
    const ask = async ({ tokens }: { readonly tokens: number }) => {
      asked.push(tokens)
      return answers.shift()
    }
    const world = sized(24_000, {
      compaction: [plainMechanism('short')],
      settings: { ...small, compaction: 'ask' },
      ask,
    })
    await world.session.prepare()
    await world.session.prepare()
    expect(asked).toEqual([24_000])
    world.session.record(answerOf('ok', { usage: usage(24_000) }))
    world.session.add({ role: 'user', content: 'Go on.' })
    expect(await world.session.prepare()).toMatchObject({ compaction: { mechanism: 'plain' } })
    expect(asked).toHaveLength(2)
  })

  test('DISABLE_COMPACT refuses by hand too, and says so', async () => {
    const world = sized(24_000, { compaction: [plainMechanism('short')], environment: { DISABLE_COMPACT: 'on' } })
    expect(await world.session.compact()).toEqual({
      type: 'failed',
      reason: 'vetoed',
      why: 'Compaction is off: DISABLE_COMPACT.',
      tried: [],
    })
  })

  test('DISABLE_COMPACT: nothing is cleared either, not even after an overflow', async () => {
    const world = createTestWorld({
      settings: { ...small, reductions: { weigh: false, bySize: { target: 1, minFreed: 1 } } },
      environment: { DISABLE_COMPACT: '1' },
    })
    world.session.add({ role: 'user', content: 'Look at the files.' })
    for (let at = 0; at < 8; at++) {
      const use = { type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: `/p/${at}.ts` } }
      const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
      world.session.record(answerOf([use], { id: `m${at}`, usage: usage(2_800 * (at + 1)) }))
      const content = [{ type: 'text', text: `line of file ${at} `.repeat(700) }, image]
      world.session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: use.id, content }] })
    }
    const before = world.session.messages()
    expect((await world.session.prepare()).tried).toEqual([])
    for (const reason of ['overflow', 'too-large'] as const) {
      const failure = { type: 'failed', reason, message: 'too long', tries: 1 } as const
      expect(await world.session.recover(failure)).toEqual({
        type: 'unrecovered',
        failure,
        steps: [
          {
            mechanism: 'compact',
            outcome: 'declined',
            reason: 'turned-off',
            why: 'Compaction is off: DISABLE_COMPACT.',
          },
        ],
      })
    }
    expect(world.session.messages()).toEqual(before)
    expect(world.records().filter(({ subtype }) => subtype === 'everlong_edit')).toEqual([])
  })

  test('DISABLE_COMPACT: nothing is collapsed, and no model is asked to', async () => {
    const model = scripted(() => answerOf('Done.', { usage: usage(20_000) }))
    const settings = { ...small, collapse: true } as const
    const world = createTestWorld({ settings, environment: { DISABLE_COMPACT: '1' }, model })
    for (let at = 0; at < 6; at++) {
      world.session.add({ role: 'user', content: `Task ${at}. ${words(4_000)}` })
      await world.session.send()
    }
    await world.session.idle()
    expect(model.requests.map(({ source }) => source)).toEqual(Array.from({ length: 6 }, () => 'turn'))
  })

  test('three failures in a row open the breaker; it is reported once, and no further attempt is made', async () => {
    const world = sized(24_000, { compaction: [failingMechanism('sharing')] })
    const notices: string[] = []
    for (let at = 0; at < 6; at++) {
      const request = await world.session.prepare()
      notices.push(...request.notices)
      world.session.record(answerOf('ok', { usage: usage(24_000) }))
      world.session.add({ role: 'user', content: [{ type: 'text', text: 'more' }], origin: 'meta' })
    }
    expect(said(world, 'compaction-started')).toHaveLength(3)
    expect(said(world, 'breaker-tripped')).toEqual([{ type: 'breaker-tripped', failures: 3, sessionId: 'session-1' }])
    expect(notices).toHaveLength(1)
    expect(notices[0]).toContain('Automatic compaction has stopped')
  })

  test('a human message alone does not close it; after a change it does', async () => {
    const world = sized(24_000, {
      compaction: [failingMechanism('sharing')],
    })
    for (let at = 0; at < 4; at++) await world.session.prepare()
    const attempts = () =>
      said(world, 'compaction-started').filter((event) => 'trigger' in event && event.trigger === 'auto').length
    expect(attempts()).toBe(3)
    world.session.record(answerOf('ok', { usage: usage(24_000) }))
    world.session.add({ role: 'user', content: 'Please go on.' })
    await world.session.prepare()
    expect(attempts()).toBe(3)
    await world.session.useModel({ client: scripted(() => 'x'), name: 'claude-opus-4-1' })
    await world.session.prepare()
    expect(attempts()).toBeLessThanOrEqual(4)
    world.session.record(answerOf('ok', { usage: usage(24_000) }))
    world.session.add({ role: 'user', content: 'And now?' })
    await world.session.prepare()
    expect(world.session.tracking().breaker).toMatchObject({ isOpen: false, failures: 1 })
  })

  test('an abort is no failure', async () => {
    const signal = { aborted: false, addEventListener: () => undefined, removeEventListener: () => undefined }
    const during = async () => {
      signal.aborted = true
    }
    const world = sized(24_000, { compaction: [plainMechanism('short', { during })] })
    const before = world.session.messages()
    await world.session.prepare({ signal })
    expect(world.session.tracking().breaker.failures).toBe(0)
    expect(said(world, 'compaction-failed')).toMatchObject([{ reason: 'aborted' }])
    expect(world.session.messages()).toEqual(before)
    expect(world.records().filter(({ subtype }) => subtype === 'compact_boundary')).toEqual([])
  })
})

describe('by hand', () => {
  test('undo takes the last compaction back: the view is as it was', async () => {
    const world = sized(24_000, { compaction: [plainMechanism('short')] })
    const before = world.session.messages()
    expect(await world.session.compact()).toMatchObject({ type: 'compacted' })
    expect(await world.session.undo()).toMatchObject({ type: 'undone', change: { type: 'compaction' } })
    expect(world.session.messages()).toEqual(before)
    expect(await world.session.undo()).toEqual({ type: 'nothing-to-undo' })
  })

  test('undo takes back all that one snip did, on both sides of what is pinned', async () => {
    const { session } = createTestWorld({ settings: small })
    const asked: string[] = []
    for (const nth of [1, 2, 3]) {
      asked.push(...session.add({ role: 'user', content: `Question ${nth}. ${words(200)}` }))
      session.record(answerOf(words(200)))
    }
    const before = session.messages()
    await session.pin(asked[1] ?? '')
    expect(await session.snip({ from: asked[0] ?? '', to: asked[2] ?? '' })).toMatchObject({ type: 'done' })
    expect(shapeOf(session.messages())).not.toBe(shapeOf(before))
    expect(await session.undo()).toMatchObject({ type: 'undone', change: { type: 'drop-range' } })
    expect(session.messages()).toEqual(before)
    expect(await session.undo()).toEqual({ type: 'nothing-to-undo' })
  })

  test('a compaction by hand is told from one by itself, and the next chain knows it', async () => {
    const world = sized(24_000, { compaction: [plainMechanism('short')] })
    await world.session.compact()
    world.session.record(answerOf(words(500), { usage: usage(24_000) }))
    await world.session.prepare()
    expect(said(world, 'compaction-finished')).toMatchObject([
      { trigger: 'manual', chain: { isRecompaction: false } },
      { trigger: 'auto', chain: { isRecompaction: true, turnsSincePrevious: 1 } },
    ])
  })

  test('a snip, a pin and a rewind are edits; what is unknown is declined', async () => {
    const { session } = createTestWorld()
    const [first = ''] = session.add({ role: 'user', content: words(500) })
    const uuid = session.record(answerOf(words(500)))
    const [last = ''] = session.add({ role: 'user', content: 'Go on.' })
    expect(await session.pin('nobody')).toMatchObject({ type: 'declined' })
    expect(await session.pin(last)).toEqual({ type: 'done', freed: 0 })
    expect(await session.snip({ from: first, to: uuid })).toMatchObject({ type: 'done' })
    expect(session.messages()).toHaveLength(1)
    expect(await session.rewind(first)).toMatchObject({ type: 'done' })
    expect(shapeOf(session.messages())).toBe('u')
  })
})

describe('a session that is cleared', () => {
  test('sends nothing of what was said before, keeps it in the transcript, and can go back', async () => {
    const { session, records } = createTestWorld()
    session.add({ role: 'user', content: 'Paint the door.' })
    session.record(answerOf('Done.'))
    await session.clear()
    session.add({ role: 'user', content: 'Open the gate.' })
    expect(session.messages().map(({ content }) => content)).toEqual(['Open the gate.'])
    expect(JSON.stringify(await session.prepare())).not.toContain('Paint the door.')
    expect(JSON.stringify(records())).toContain('Paint the door.')
    await session.undo()
    expect(shapeOf(session.messages())).toBe('u a u')
  })

  test('has the size of what is added, with the system prompt, also before an answer reports it', async () => {
    const fresh = createTestWorld()
    const cleared = createTestWorld()
    cleared.session.add({ role: 'user', content: 'Paint the door. '.repeat(2_000) })
    cleared.session.record(answerOf('Done.'))
    await cleared.session.clear()
    const sizes = [fresh, cleared].map(({ session }) => {
      session.configure({ system: 'Be careful. '.repeat(500) })
      session.add({ role: 'user', content: 'Open the gate. '.repeat(1_000) })
      return session.explain().size.tokens
    })
    expect(sizes[1]).toBe(sizes[0])
    expect(sizes[1]).toBeGreaterThan(4_000)
  })
})

describe('a summary that a host adds', () => {
  test('replaces everything before it, and what was restored after it follows', async () => {
    const { session } = createTestWorld()
    session.add({ role: 'user', content: 'Paint the door.' })
    session.record(answerOf('Done.'))
    const content = [
      { type: 'text', text: 'In short: a door.' },
      { type: 'text', text: '<system-reminder>A file.</system-reminder>' },
    ]
    session.add({ role: 'user', origin: 'summary', content })
    session.add({ role: 'user', content: 'Open the gate.' })
    expect(session.messages()).toMatchObject([
      { origin: 'summary', content: [...content, { type: 'text', text: 'Open the gate.' }] },
    ])
  })
})

describe('while a compaction runs', () => {
  test('what a person types is held, written down as queued, and stands after the summary', async () => {
    let world: World | undefined
    const during = async () => {
      world?.session.add({ role: 'user', content: 'One more thing.' })
    }
    world = sized(24_000, { compaction: [plainMechanism('A short summary.', { during })] })
    expect(await world.session.prepare()).toMatchObject({ type: 'ready', compaction: { mechanism: 'plain' } })
    world.session.record(answerOf('ok'))
    expect(shapeOf(world.session.messages())).toBe('u a u')
    expect(world.session.messages().at(-1)?.content).toBe('One more thing.')
    expect(
      world
        .records()
        .filter(({ type }) => type === 'queue-operation')
        .map(({ operation }) => operation),
    ).toEqual(['enqueue', 'dequeue'])
  })

  test('an answer that arrives meanwhile follows it, and its usage is not used', async () => {
    let world: World | undefined
    const during = async () => {
      world?.session.record(answerOf('late', { usage: usage(24_000) }))
    }
    world = sized(24_000, { compaction: [plainMechanism('A short summary.', { during })] })
    await world.session.prepare()
    await world.session.compact()
    expect(shapeOf(world.session.messages())).toBe('u a')
    expect(world.session.explain().size.source).toBe('estimate')
  })
})

describe('clearing right before a compaction', () => {
  const clearing = (freed: number): Mechanism => ({
    name: 'clearing',
    run: async () => ({ type: 'reduced', edits: [{ type: 'clear-results', toolUseIds: ['t1'] }], freed, results: 1 }),
  })
  const prepared = async (freed: number, settings: EngineSettings = {}) => {
    const mechanisms = { reduce: [clearing(freed)] }
    const options = { mechanisms, settings: { ...small, ...settings }, compaction: [plainMechanism('short')] }
    const { session } = sized(23_000, options)
    const { tried } = await session.prepare()
    return tried.map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)
  }

  test('is left to the compaction, unless it is enough or none may follow', async () => {
    expect((await prepared(1))[0]).toBe('clearing done')
    expect(await prepared(0)).toEqual(['clearing failed', 'plain done'])
    expect(await prepared(0, { compaction: 'reactive' })).toEqual(['clearing done', 'guard declined'])
    expect(await prepared(0, { compaction: 'manual' })).toEqual(['clearing done'])
  })
})

test('a compaction that only clears is named after the mechanism that cleared, not after one that declined', async () => {
  const declining: Mechanism = {
    name: 'declining',
    run: async () => ({ type: 'declined', reason: 'not-now', why: 'Not now.' }),
  }
  const clearing: Mechanism = {
    name: 'clearing',
    run: async () => ({ type: 'reduced', edits: [{ type: 'clear-results', toolUseIds: ['t1'] }], freed: 6_000 }),
  }
  const { session } = createTestWorld({ settings: small, compaction: [declining, clearing] })
  session.add({ role: 'user', content: 'Read it.' })
  session.add({ role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Read', input: {} }] })
  const result = { type: 'tool_result', tool_use_id: 't1', content: 'lorem ipsum '.repeat(4_000) }
  session.add({ role: 'user', content: [result, { type: 'text', text: 'And now?' }] })
  expect(await session.compact()).toMatchObject({
    type: 'compacted',
    mechanism: 'clearing',
    records: [],
    tried: [
      { mechanism: 'declining', outcome: 'declined', reason: 'not-now', why: 'Not now.' },
      { mechanism: 'clearing', outcome: 'done' },
    ],
  })
})

test('background workers hear the size that a compaction left', async () => {
  const { runtime } = sized(23_000, { compaction: [plainMechanism('In short.')] })
  const heard: number[] = []
  const worker = {
    afterAnswer: () => undefined,
    afterCompaction: (tokens: number) => void heard.push(tokens),
    idle: async () => undefined,
  }
  const done = await compactNow({ ...runtime, background: [worker] }, { cause: 'person' })
  expect(done).toMatchObject({ type: 'compacted', after: heard[0] })
  expect(heard).toHaveLength(1)
})
