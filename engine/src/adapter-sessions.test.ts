// A conversation of an adapter whose session lives in a store: another process that gets the same history continues it.
import { afterAll, describe, expect, test } from 'vitest'
import type { SessionStore } from './core/ports/session-store.ts'
import { createEngine } from './engine.ts'
import { offline } from './models/offline.ts'
import { manageChat } from './openai.ts'
import { memorySessions } from './stores/memory.ts'
import { everyStore } from './stores/testing/every-store.ts'

const { stores, stop } = await everyStore()
afterAll(stop)

type ChatMessage = { role: 'user' | 'assistant'; content: string }

/** A process: it gets the whole history, sends what is left of it, and closes. */
async function answered(store: SessionStore, history: readonly ChatMessage[]): Promise<readonly ChatMessage[]> {
  const chat = manageChat({
    model: offline(),
    sessionId: 'chat',
    settings: { contextWindow: 40_000 },
    open: (options, id) => createEngine({ ...options, store }).open(id, { ifMissing: 'start' }),
  })
  let sent: readonly ChatMessage[] = []
  await chat.run(history as ChatMessage[], {}, async ({ messages }) => {
    sent = messages
  })
  await chat.close()
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
