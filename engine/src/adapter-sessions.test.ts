// Which conversation a call belongs to; and sessions in a store, which another process that gets the same history continues.
import { afterAll, describe, expect, test } from 'vitest'
import { type AdapterOptions, adapterSessions } from './adapter-sessions.ts'
import { type Plain, plainConverter } from './adapters/history/testing/plain-converter.ts'
import type { EngineEvent } from './core/ports/events.ts'
import type { SessionStore } from './core/ports/session-store.ts'
import { createEngine } from './engine.ts'
import { offline } from './models/offline.ts'
import { everlong } from './openai.ts'
import { memorySessions } from './stores/memory.ts'
import { everyStore } from './stores/testing/every-store.ts'

const { stores, stop } = await everyStore()
afterAll(stop)

type ChatMessage = { role: 'user' | 'assistant'; content: string }

/** A process: gets the whole history, sends the reduced one, and closes. */
async function answered(store: SessionStore, history: readonly ChatMessage[]): Promise<readonly ChatMessage[]> {
  const { chat, close } = everlong({ model: offline(), store, settings: { contextWindow: 40_000 } })
  let sent: readonly ChatMessage[] = []
  await chat(history as ChatMessage[], { sessionId: 'chat' }, async ({ messages }) => {
    sent = messages
  })
  await close()
  return sent
}

async function stored(store: SessionStore): Promise<readonly string[]> {
  const texts: string[] = []
  for await (const { record } of store.records('chat')) {
    const words = /turn \d+/.exec(JSON.stringify(record.message ?? ''))?.[0]
    const isMessage = record.isCompactSummary !== true && record.isMeta !== true
    if (words !== undefined && isMessage && record.type === 'user') texts.push(words)
  }
  return texts
}

describe.each(stores)('a session in %s', (_, createStore) => {
  test('is recognized when it is opened again: nothing is stored twice, also after a compaction', async () => {
    const store = createStore()
    const history: ChatMessage[] = []
    let sent: readonly ChatMessage[] = []
    for (let turn = 1; turn <= 12; turn++) {
      history.push({ role: 'user', content: `This is turn ${turn}. ${'More about it. '.repeat(1_000)}` })
      sent = await answered(store, history)
      history.push({ role: 'assistant', content: `Done with ${turn}.` })
    }
    expect(await stored(store)).toEqual(Array.from({ length: 12 }, (_, at) => `turn ${at + 1}`))
    expect(sent.length).toBeLessThan(12)
    expect(sent.at(-1)?.content.includes('This is turn 12.')).toBe(true)
    await store.close()
  })

  test('goes back to where a history was changed, and keeps what was said before', async () => {
    const store = createStore()
    const first: ChatMessage[] = [{ role: 'user', content: 'This is turn 1.' }]
    await answered(store, first)
    const second: ChatMessage[] = [...first, { role: 'assistant', content: 'Yes.' }]
    await answered(store, [...second, { role: 'user', content: 'This is turn 2.' }])
    const changed: ChatMessage[] = [...second, { role: 'user', content: 'This is turn 3.' }]
    expect(await answered(store, changed)).toEqual(changed)
    expect(await stored(store)).toEqual(['turn 1', 'turn 2', 'turn 3'])
    await store.close()
  })
})

test('a stored session whose first message was changed sends nothing of what it had before', async () => {
  const store = memorySessions()
  await answered(store, [
    { role: 'user', content: 'This is turn 1.' },
    { role: 'assistant', content: 'Yes.' },
    { role: 'user', content: 'This is turn 2.' },
  ])
  const changed: ChatMessage[] = [{ role: 'user', content: 'This is turn 3.' }]
  expect(await answered(store, changed)).toEqual(changed)
  const next: ChatMessage[] = [...changed, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Go on.' }]
  expect(await answered(store, next)).toEqual(next)
  expect(await stored(store)).toEqual(['turn 1', 'turn 2', 'turn 3'])
})

const user = (text: string): Plain => ({ role: 'user', text })
const assistant = (text: string): Plain => ({ role: 'assistant', text })

function conversations(options: AdapterOptions<undefined> = {}) {
  const parts = { converter: plainConverter, howToName: 'Name it.' }
  const { historyOf, sessions } = adapterSessions<Plain, undefined>({ environment: {}, ...options }, parts)
  const client = offline()
  const of = (messages: readonly Plain[], id?: string) =>
    historyOf({ host: undefined, messages, id, client: () => client })
  return { sessions, of }
}

describe('a call', () => {
  test('that continues a history belongs to its conversation', async () => {
    const all = conversations()
    const first = await all.of([user('hi')])
    await first.prepare([user('hi')])
    expect(await all.of([user('hi'), assistant('hello'), user('go on')])).toBe(first)
  })

  test('of somebody else who began alike gets a conversation of its own', async () => {
    const all = conversations()
    const first = await all.of([user('hi')])
    await first.prepare([user('hi'), assistant('hello, Ann'), user('go on')])
    const other = await all.of([user('hi')])
    expect(other).not.toBe(first)
    await other.prepare([user('hi'), assistant('hello, Bob'), user('go on')])
    expect(JSON.stringify([...(await other.session.entries())])).not.toContain('Ann')
    expect(await all.of([user('hi'), assistant('hello, Ann'), user('go on'), assistant('yes')])).toBe(first)
  })

  test('that comes while another is on its way does not take its place', async () => {
    const all = conversations()
    const [first, other] = await Promise.all([all.of([user('one')]), all.of([user('two')])])
    expect(first).not.toBe(other)
  })

  test('with an id belongs to that conversation, whatever it says', async () => {
    const all = conversations()
    const [first, again, other] = await Promise.all([
      all.of([user('a')], '1'),
      all.of([user('b')], '1'),
      all.of([], '2'),
    ])
    expect(again).toBe(first)
    expect(other).not.toBe(first)
  })

  test('belongs to the session that the host gave, which the host closes', async () => {
    const session = await createEngine({ model: offline(), environment: {} }).start()
    const all = conversations({ session })
    const history = await all.of([user('a')])
    expect(history.session).toBe(session)
    expect(await all.of([user('b')])).toBe(history)
    await all.sessions.close()
    await history.prepare([user('a')])
    expect(session.messages()).toHaveLength(1)
  })

  test('without an id is found by the id of its session', async () => {
    const all = conversations()
    const { session } = await all.of([user('hi')])
    expect(await all.sessions.session(session.id)).toBe(session)
    await expect(all.sessions.session('other')).rejects.toMatchObject({ reason: 'missing' })
  })

  test('closes the conversation that was not used for longest when there are too many', async () => {
    const all = conversations({ maxConversations: 2 })
    const first = await all.of([], '1')
    await all.of([], '2')
    await all.of([], '1')
    await all.of([], '3')
    expect(all.sessions.sessions()).toHaveLength(2)
    expect(await all.sessions.session('1')).toBe(first.session)
    await expect(all.sessions.session('2')).rejects.toMatchObject({ reason: 'missing' })
    expect(await all.of([], '1')).toBe(first)
  })
})

describe('users who share an adapter', () => {
  type Call = { readonly user: string }
  const shared = (options: AdapterOptions<Call> = {}) => {
    const { historyOf, sessions } = adapterSessions<Plain, Call>(
      { user: ({ user }) => user, ...options },
      { converter: plainConverter, howToName: '' },
    )
    return {
      sessions,
      of: (user: string, id: string) => historyOf({ host: { user }, messages: [], id, client: () => offline() }),
    }
  }

  test('never close the conversations of each other', async () => {
    const { of, sessions } = shared({ maxConversations: 3 })
    const kept = await of('ada', 'a1')
    for (let nth = 1; nth <= 20; nth++) await of('bob', `b${nth}`)
    const isOpen = async (id: string) =>
      sessions.session(id).then(
        () => true,
        () => false,
      )
    expect(await sessions.session('a1')).toBe(kept.session)
    expect([await isOpen('b18'), sessions.sessions().length]).toEqual([false, 3])
    // Among users with equally many, the least recently used one is closed.
    await of('cy', 'c1')
    expect([await isOpen('b19'), await isOpen('b20')]).toEqual([false, true])
    expect(await sessions.session('a1')).toBe(kept.session)
    await sessions.close()
    expect(sessions.sessions()).toEqual([])
  })

  test('the newest conversation stays, whatever the limit', async () => {
    const { of, sessions } = shared({ maxConversations: 0 })
    await of('ada', 'a1')
    const { session } = await of('ada', 'a2')
    expect(sessions.sessions()).toEqual([session])
    await sessions.close()
  })

  test('do not wait for each other; two first calls of one user get the same session', async () => {
    const store = memorySessions()
    let free: () => void = () => undefined
    const slow = new Promise<void>((resolve) => {
      free = resolve
    })
    const { of, sessions } = shared({
      store: {
        ...store,
        open: async (id, options) => {
          if (id === 'slow') await slow
          return store.open(id, options)
        },
      },
    })
    const waiting = of('ada', 'slow')
    const quick = await of('bob', 'quick')
    expect(sessions.sessions()).toEqual([quick.session])
    const second = of('ada', 'slow')
    free()
    expect(await second).toBe(await waiting)
    await sessions.close()
  })
})

describe('a history that no session knows', () => {
  const history: ChatMessage[] = [
    { role: 'user', content: 'Choose the colors. '.repeat(2_000) },
    { role: 'assistant', content: 'Red.' },
    { role: 'user', content: 'And the door?' },
  ]
  const imported = async (messages: readonly ChatMessage[], store?: SessionStore) => {
    const events: EngineEvent[] = []
    const { chat, close } = everlong({
      model: offline(),
      ...(store ? { store } : {}),
      onEvent: (event) => events.push(event),
    })
    await chat([...messages], { sessionId: 'chat', model: 'claude-opus-4-5' }, async () => undefined)
    await close()
    return events.filter(({ type }) => type === 'history-imported')
  }

  test('is reported with its price: in another process without a store, each time', async () => {
    for (let process = 1; process <= 2; process++) {
      const [event, ...more] = await imported(history)
      expect([event, more]).toEqual([
        {
          type: 'history-imported',
          sessionId: expect.any(String),
          messages: 3,
          tokens: expect.any(Number),
          hasStore: false,
          cost: expect.any(Number),
        },
        [],
      ])
      const { tokens, cost } = event as { readonly tokens: number; readonly cost: number }
      expect(tokens).toBeGreaterThan(7_000)
      expect(cost).toBeCloseTo((tokens * 5) / 1_000_000, 6)
    }
  })

  test('is reported once where there is a store, and then recognized from it', async () => {
    const store = memorySessions()
    expect(await imported(history, store)).toMatchObject([{ hasStore: true, messages: 3 }])
    expect(await imported(history, store)).toEqual([])
  })

  test('a context that Everlong wrote is small and continues, so it is none', async () => {
    let sent: readonly ChatMessage[] = []
    const { chat, close } = everlong({ model: offline(), settings: { contextWindow: 40_000 } })
    const long = Array.from({ length: 24 }, (_, at): ChatMessage => {
      const role = at % 2 === 0 ? 'user' : 'assistant'
      return { role, content: `This is turn ${at}. ${'More about it. '.repeat(600)}` }
    })
    const asked: ChatMessage[] = [...long, { role: 'user', content: 'And now?' }]
    await chat(asked, { sessionId: 'chat' }, async ({ messages }) => {
      sent = messages
    })
    await close()
    expect(sent.length).toBeLessThan(12)
    expect(
      await imported([...sent, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Go on.' }]),
    ).toEqual([])
  })

  test('a conversation that only begins is none', async () => {
    expect(await imported(history.slice(0, 1))).toEqual([])
  })
})

test('the functions of the host reach every session of an adapter, also the one that another process opens', async () => {
  const store = memorySessions()
  const decision = `DECISION: ${Array.from({ length: 80 }, (_, at) => `plank ${at} gets color ${at * 37}`).join(', ')}.`
  const history: ChatMessage[] = [
    { role: 'user', content: 'Choose the colors.' },
    { role: 'assistant', content: decision },
  ]
  let sent = ''
  let compactions = 0
  for (let turn = 1; turn <= 12; turn++) {
    history.push({ role: 'user', content: `This is turn ${turn}. ${'More about it. '.repeat(1_000)}` })
    const { chat, session, close } = everlong({
      model: offline(),
      store,
      settings: { contextWindow: 40_000 },
      retain: ({ content }) => JSON.stringify(content).includes('DECISION:'),
      tokenizer: (text) => text.split(' ').length,
      onEvent: ({ type }) => {
        if (type === 'compaction-finished') compactions++
      },
    })
    await chat(history, { sessionId: 'chat' }, async ({ messages }) => {
      sent = JSON.stringify(messages)
    })
    const own = await session('chat')
    const words = own.messages().reduce((sum, { content }) => sum + JSON.stringify(content).split(' ').length, 0)
    expect(own.explain().size.tokens).toBeLessThan(words * 1.4)
    await close()
    history.push({ role: 'assistant', content: `Done with ${turn}.` })
  }
  expect(compactions).toBeGreaterThan(1)
  expect(sent).toContain(decision)
})

test('calls share an engine only if client, model, marks and cache are the same', async () => {
  const made: string[] = []
  const { historyOf, sessions } = adapterSessions<Plain, unknown>(
    {
      createEngine: (options) => {
        made.push(`${options.model.provider} ${options.model.model}`)
        return createEngine({ ...options, environment: {} })
      },
    },
    { converter: plainConverter, howToName: '' },
  )
  const client = offline()
  const base = { host: {}, client: () => client, model: 'm', asksCalled: true, hasMarks: false, sharesCache: true }
  const others = [
    { client: () => ({ ...client, provider: 'other' }) },
    { client: () => ({ ...client, model: 'other' }) },
    { model: 'other' },
    { hasMarks: true },
    { sharesCache: false },
  ]
  const start = (id: string, more: object) => historyOf({ ...base, ...more, id, messages: [] })
  for (const [at, more] of [{}, {}, ...others, ...others].entries()) await start(`chat-${at}`, more)
  expect(made).toHaveLength(1 + others.length)
  await sessions.close()
})
