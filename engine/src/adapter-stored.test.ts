// session(id) of an adapter opens a stored session that no call has opened, as after a restart.
import { afterAll, describe, expect, test } from 'vitest'
import { everlong as anthropic } from './anthropic.ts'
import type { ModelClient } from './core/ports/model.ts'
import type { SessionStore } from './core/ports/session-store.ts'
import { createEngine } from './engine.ts'
import { offline } from './models/offline.ts'
import { everlong } from './openai.ts'
import { memorySessions } from './stores/memory.ts'
import { everyStore } from './stores/testing/every-store.ts'

const { stores, stop } = await everyStore()
afterAll(stop)

type ChatMessage = { role: 'user' | 'assistant'; content: string }

const named = { sessionId: 'chat', model: 'claude-opus-4-5' }
const long = (nth: number): ChatMessage[] => [
  { role: 'user', content: `Question ${nth}. ${'More about it. '.repeat(400)}` },
  { role: 'assistant', content: `Answer ${nth}.` },
]
const history: ChatMessage[] = [1, 2, 3, 4, 5, 6].flatMap(long)
const next: ChatMessage = { role: 'user', content: 'And now?' }

/** A process that makes two calls, so that an answer of the named model is recorded. */
async function stored(store: SessionStore): Promise<void> {
  await using managed = everlong({ model: offline(), store, environment: {} })
  await managed.chat(history.slice(0, -1), named, async () => undefined)
  await managed.chat([...history, next], named, async () => undefined)
}

describe.each(stores)('a conversation in %s', (_, createStore) => {
  test('is explained, searched, compacted and undone by its id after a restart, and a call continues it', async () => {
    const store = createStore()
    await stored(store)
    await using managed = everlong({ model: offline(), store, environment: {} })
    const session = await managed.session('chat')
    expect(session.explain()).toMatchObject({ model: 'claude-opus-4-5', contextWindow: { value: 200_000 } })
    expect(JSON.stringify(await session.recall('Question 3'))).toContain('Question 3.')
    const before = session.messages()
    expect(before).toHaveLength(history.length + 1)
    expect(await session.compact()).toMatchObject({ type: 'compacted' })
    expect(session.messages().length).toBeLessThan(before.length)
    expect(await session.undo()).toMatchObject({ type: 'undone' })
    expect(session.messages()).toEqual(before)

    const longer: ChatMessage[] = [...history, next, { role: 'assistant', content: 'Done.' }, next]
    let sent: readonly ChatMessage[] = []
    await managed.chat(longer, named, async ({ messages }) => {
      sent = messages
    })
    expect(sent).toEqual(longer)
    await store.close()
  })

  test('has the model of its newest call, and after a restart that of its newest answer', async () => {
    const store = createStore()
    const before = everlong({ model: offline(), store, environment: {} })
    for (const [at, model] of ['claude-opus-4-5', 'gpt-5', 'gpt-4o', 'claude-haiku-4-5'].entries()) {
      await before.chat(history.slice(0, 2 * at + 1), { sessionId: 'chat', model }, async () => undefined)
      expect((await before.session('chat')).explain().model).toBe(model)
    }
    await before.close()
    await using managed = everlong({ model: offline(), store, environment: {} })
    // The last call got no answer.
    expect((await managed.session('chat')).explain().model).toBe('gpt-4o')
    await store.close()
  })

  test('that is not there is said to be missing, and nothing is stored', async () => {
    const store = createStore()
    await using managed = everlong({ model: offline(), store, environment: {} })
    await expect(managed.session('chat')).rejects.toMatchObject({
      reason: 'missing',
      message: 'No call has named the conversation chat so far, and the store has none.',
    })
    expect([await store.list(), managed.sessions()]).toEqual([[], []])
    await store.close()
  })
})

test('a compaction of one process is undone by the next, and the call sends the whole history again', async () => {
  const store = memorySessions()
  const small = { model: offline(), store, environment: {}, settings: { contextWindow: 40_000, autoCompactAt: 8_000 } }
  const compacting = everlong(small)
  await compacting.chat([...history, next], named, async () => undefined)
  expect((await compacting.session('chat')).messages().length).toBeLessThan(history.length)
  await compacting.close()

  await using managed = everlong({ ...small, settings: { contextWindow: 40_000 } })
  expect(await (await managed.session('chat')).undo()).toMatchObject({ type: 'undone' })
  let sent: readonly ChatMessage[] = []
  await managed.chat([...history, next], named, async ({ messages }) => {
    sent = messages
  })
  expect(sent).toEqual([...history, next])
})

test('without a store there is nothing to open', async () => {
  await using managed = everlong({ model: offline(), environment: {} })
  await expect(managed.session('chat')).rejects.toThrow(
    'No call has named the conversation chat so far, and everlong() has no store to open it from.',
  )
  await expect(managed.session('')).rejects.toThrow('session() needs the id of a conversation')
})

test('one that another process holds is not opened, and opened once that process has released it', async () => {
  const store = memorySessions()
  await stored(store)
  const other = await createEngine({ model: offline(), store, environment: {} }).open('chat')
  await using managed = everlong({ model: offline(), store, environment: {} })
  await expect(managed.session('chat')).rejects.toMatchObject({ reason: 'held' })
  await other.close()
  expect((await managed.session('chat')).messages()).toHaveLength(history.length + 1)
})

test('asked for twice at once it is opened once; after the host has closed it, it is opened again', async () => {
  const store = memorySessions()
  await stored(store)
  await using managed = everlong({ model: offline(), store, environment: {} })
  const [one, same] = await Promise.all([managed.session('chat'), managed.session('chat')])
  expect(one).toBe(same)
  await one.close()
  expect(managed.sessions()).toEqual([])
  const again = await managed.session('chat')
  expect(again).not.toBe(one)
  expect(managed.sessions()).toEqual([again])
})

test('asked for while a call opens it, both get it, and the call keeps it', async () => {
  const store = memorySessions()
  await stored(store)
  await using managed = everlong({ model: offline(), store, environment: {} })
  const calling = managed.chat([...history, next], named, async () => undefined)
  const meanwhile = managed.session('chat')
  await calling
  expect((await meanwhile).id).toBe('chat')
  const [own, ...others] = managed.sessions()
  expect([others, await managed.session('chat')]).toEqual([[], own])
  await managed.chat([...history, next], named, async () => undefined)
  expect(managed.sessions()).toEqual([own])
})

test('both shapes of an SDK share it: a call in either one takes it over', async () => {
  const store = memorySessions()
  await stored(store)
  await using managed = everlong({ model: offline(), store, environment: {} })
  const session = await managed.session('chat')
  expect(managed.sessions()).toEqual([session])
  await managed.responses([...history, next], named, async () => undefined)
  const [own, ...others] = managed.sessions()
  expect([own === session, others, await managed.session('chat')]).toEqual([false, [], own])
})

test('only as many are open as `maxConversations` allows, and the oldest one is closed first', async () => {
  const store = memorySessions()
  for (const id of ['a', 'b', 'c']) await (await createEngine({ model: offline(), store }).start({ id })).close()
  await using managed = everlong({ model: offline(), store, environment: {}, maxConversations: 2 })
  for (const id of ['a', 'b', 'c']) await managed.session(id)
  expect(managed.sessions().map(({ id }) => id)).toEqual(['b', 'c'])
  expect(
    (await store.list())
      .filter(({ isHeld }) => isHeld)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(['b', 'c'])
})

test('the model of everlong() writes its summary; without one it says what is missing, and changes nothing', async () => {
  const store = memorySessions()
  await stored(store)
  const asked: string[] = []
  const model: ModelClient = {
    ...offline(),
    provider: 'test',
    model: 'claude-haiku-4-5',
    send: async ({ model }) => {
      asked.push(model)
      return { type: 'failed', reason: 'refused', message: 'no', tries: 1 }
    },
  }
  const settings = { summary: { offline: 'never' } } as const
  const given = anthropic({ model, store, environment: {}, settings })
  expect(await (await given.session('chat')).compact()).toMatchObject({
    type: 'failed',
    reason: 'api-error',
    why: 'no',
  })
  expect(new Set(asked)).toEqual(new Set(['claude-haiku-4-5']))
  await given.close()

  await using managed = anthropic({ store, environment: {}, settings })
  const session = await managed.session('chat')
  const before = session.messages()
  expect(await session.compact()).toMatchObject({
    type: 'failed',
    why: expect.stringContaining('Pass `model` to everlong().'),
  })
  expect(session.messages()).toEqual(before)
})
