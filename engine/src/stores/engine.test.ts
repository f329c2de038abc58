// An engine whose sessions are in a store.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../core/message/json.ts'
import { type SessionStore, StoreError } from '../core/ports/session-store.ts'
import type { Session } from '../core/session/session-api.ts'
import { createEngine } from '../engine.ts'
import { offline } from '../models/offline.ts'
import { createEngine as createNodeEngine } from '../node-engine.ts'
import { session as transcript } from '../testing/index.ts'
import { jsonlSessions } from './disk/jsonl.ts'
import { memorySessions } from './memory.ts'
import { everyStore } from './testing/every-store.ts'

const { stores, folder, stop } = await everyStore()
afterAll(stop)

describe.each(stores)('a session in %s', (_, createStore) => {
  const engineOn = (store: SessionStore) => createEngine({ model: offline(), store })

  test('is continued where it was left, by another engine', async () => {
    const store = createStore()
    const session = await engineOn(store).start({ id: 'chat', user: 'ann' })
    session.add({ role: 'user', content: 'Remember the blue zeppelin.' })
    expect((await session.send()).type).toBe('answered')
    const messages = JSON.stringify(session.messages())
    await session.close()

    const again = await engineOn(store).open('chat')
    expect(JSON.stringify(again.messages())).toBe(messages)
    expect((await again.recall('zeppelin')).matches.length).toBeGreaterThan(0)
    expect(again.id).toBe('chat')
    await again.close()
    await store.close()
  })

  test('has one writer at a time, and can be started once', async () => {
    const store = createStore()
    const session = await engineOn(store).start({ id: 'chat', owner: 'worker 1' })
    await expect(engineOn(store).open('chat')).rejects.toThrow(/worker 1/)
    await expect(engineOn(store).open('other')).rejects.toThrow(
      new StoreError('There is no session other. Start it with start({ id }).', { reason: 'missing' }),
    )
    await session.close()
    await expect(engineOn(store).start({ id: 'chat' })).rejects.toThrow(StoreError)
    await store.close()
  })

  test('is started if it is missing, and waited for while another worker has it', async () => {
    const store = createStore()
    const first = await engineOn(store).open('chat', { owner: 'worker 1', user: 'ann', ifMissing: 'start' })
    await expect(engineOn(store).open('chat', { ifMissing: 'start' })).rejects.toMatchObject({ reason: 'held' })
    const waiting = engineOn(store).open('chat', { ifMissing: 'start', waitMs: 60_000 })
    await first.close()
    await (await waiting).close()
    await expect(engineOn(store).open('nobody')).rejects.toMatchObject({ reason: 'missing' })
    await expect(engineOn(store).start({ id: 'chat' })).rejects.toMatchObject({ reason: 'exists' })
    expect((await store.list({ user: 'ann' })).map(({ id }) => id)).toEqual(['chat'])
    await store.close()
  })

  test('names the reason of each failure, and does not report one twice', async () => {
    const store = createStore()
    const session = await engineOn(store).start({ id: 'chat' })
    session.add({ role: 'user', content: 'Go.' })
    await session.stored()
    await store.erase({ sessions: ['chat'] })
    session.add({ role: 'user', content: 'This cannot be stored.' })
    await expect(session.stored()).rejects.toMatchObject({ name: 'StoreError', reason: 'lost' })
    await expect(session.send()).rejects.toMatchObject({ reason: 'lost' })
    // As in a `finally` after send(): the error of send() must not be replaced.
    await session.close()
    expect(() => session.add({ role: 'user', content: 'After the end.' })).toThrow(
      expect.objectContaining({ reason: 'lost' }),
    )

    const other = await engineOn(store).start({ id: 'other' })
    await other.close()
    expect(() => other.add({ role: 'user', content: 'After the end.' })).toThrow(
      expect.objectContaining({ reason: 'closed' }),
    )
    await store.close()
  })

  test('rejects in close() for a record that no call has reported, and is released all the same', async () => {
    const store = createStore()
    const session = await engineOn(failing(store)).start({ id: 'chat' })
    session.add({ role: 'user', content: 'This cannot be stored.' })
    await expect(session.close()).rejects.toMatchObject({ reason: 'denied' })
    expect((await store.list()).map(({ isHeld }) => isHeld)).toEqual([false])
    await store.close()
  })

  test('finds messages that are queued while a request is out, once each and newest first', async () => {
    const store = createStore()
    const session = await engineOn(store).start({ id: 'chat' })
    await findsQueued(session)
    await session.close()
    await store.close()
  })

  test('is compacted, undone and rewound like one on disk', async () => {
    const store = createStore()
    const session = await engineOn(store).start({ id: 'long' })
    const first = session.add({ role: 'user', content: 'The first thing.' })[0] ?? ''
    for (let turn = 0; turn < 8; turn++) {
      await session.send()
      session.add({ role: 'user', content: `Go on with step ${turn}. ${'word '.repeat(200)}` })
    }
    await session.stored()
    const before = JSON.stringify(session.messages())
    expect((await session.compact()).type).toBe('compacted')
    const compacted = JSON.stringify(session.messages())
    await session.close()

    const again = await engineOn(store).open('long')
    expect(JSON.stringify(again.messages())).toBe(compacted)
    expect((await again.undo()).type).toBe('undone')
    expect(JSON.stringify(again.messages())).toBe(before)
    expect((await again.rewind(first)).type).toBe('done')
    expect(again.messages().length).toBe(1)
    await again.close()
    await store.close()
  })

  test('keeps an old message that is pinned after another worker opened the session', async () => {
    const store = createStore()
    const session = await engineOn(store).start({ id: 'chat' })
    const log = Array.from({ length: 60 }, (_, at) => `zeppelin ${at} landed`).join('\n')
    const [uuid = ''] = session.add({ role: 'user', content: `Look at the log:\n\`\`\`\n${log}\n\`\`\`` })
    await session.send()
    for (let at = 0; at < 6; at++) {
      session.add({ role: 'user', content: `Question ${at}: ${'why '.repeat(400)}` })
      await session.send()
    }
    expect((await session.compact()).type).toBe('compacted')
    session.add({ role: 'user', content: `And then? ${'why '.repeat(2_000)}` })
    await session.send()
    expect((await session.compact()).type).toBe('compacted')
    await session.close()

    const again = await engineOn(store).open('chat')
    expect(JSON.stringify(again.messages())).not.toContain('zeppelin 30 landed')
    await again.pin(uuid)
    again.add({ role: 'user', content: `And now? ${'why '.repeat(2_000)}` })
    await again.send()
    expect((await again.compact()).type).toBe('compacted')
    expect(JSON.stringify(again.messages())).toContain('zeppelin 30 landed')
    await again.close()
    await store.close()
  })

  test('has sub-agents with sessions of their own, which are erased with it', async () => {
    const store = createStore()
    const session = await engineOn(store).start({ id: 'chief' })
    const agent = await session.subagent()
    agent.add({ role: 'user', content: 'Look around.' })
    await agent.close()
    await session.close()
    const agentId = agent.agentId ?? ''
    expect((await store.list()).map(({ id, parent }) => [id, parent])).toEqual([
      ['chief', undefined],
      [`chief/subagents/agent-${agentId}`, 'chief'],
    ])
    const [first] = await recordsIn(store, `chief/subagents/agent-${agentId}`)
    expect(first).toMatchObject({ sessionId: 'chief', agentId, isSidechain: true })
    expect(await store.erase({ sessions: ['chief'] })).toBe(2)
    await store.close()
  })
})

test('on Node, sessions of a folder have notes and stored results next to them; those elsewhere do without', async () => {
  const store = jsonlSessions({ folder: join(folder, 'noted') })
  const session = await createNodeEngine({ model: offline(), store }).start({ id: 'chat' })
  expect(session.path).toBe(join(folder, 'noted', 'chat.jsonl'))
  expect(session.explain().sessionMemory?.path).toContain(join(folder, 'noted', 'chat'))
  await session.close()
  const elsewhere = await createNodeEngine({ model: offline(), store: memorySessions() }).start()
  expect([elsewhere.path, elsewhere.explain().sessionMemory?.path]).toEqual([undefined, undefined])
  await elsewhere.close()
})

async function findsQueued(session: Session): Promise<void> {
  const idsOf = async (words: string, limit?: number) => {
    const { matches, more } = await session.recall(words, limit === undefined ? {} : { limit })
    return { ids: matches.map(({ id }) => id), more }
  }
  const [first = ''] = session.add({ role: 'user', content: 'The first zeppelin.' })
  await session.prepare()
  const [second = ''] = session.add({ role: 'user', content: 'The second zeppelin.' })
  const [third = ''] = session.add({ role: 'user', content: [{ type: 'text', text: 'The third zeppelin.' }] })
  const all = { ids: [third, second, first], more: false }
  expect(await idsOf('zeppelin')).toEqual(all)
  expect(await idsOf('zeppelin', 3)).toEqual(all)
  expect(await idsOf('zeppelin', 2)).toEqual({ ids: [third, second], more: true })
  expect(await session.read(second)).toBe('The second zeppelin.')
  // The queue is written while the search runs.
  const searching = idsOf('zeppelin')
  session.record({ content: 'Up in the air.' })
  expect(await searching).toEqual(all)
  expect(await idsOf('zeppelin')).toEqual(all)
  expect(await session.read(second)).toBe('The second zeppelin.')
}

test('a session in memory or in a file finds queued messages too', async () => {
  await findsQueued(await createEngine({ model: offline() }).start())
  const session = await createNodeEngine({ model: offline() }).start({ path: join(folder, 'queue', 'chat.jsonl') })
  await findsQueued(session)
  await session.close()
})

/** Stores nothing. */
function failing(store: SessionStore): SessionStore {
  return {
    ...store,
    open: async (id, options) => {
      const result = await store.open(id, options)
      if (result.type !== 'opened') return result
      const append = async () => ({ type: 'refused', why: 'No.', reason: 'denied' }) as const
      return { type: 'opened', session: { ...result.session, append } }
    },
  }
}

test.each([undefined, null, 'opened', { type: 'opened' }, { type: 'opened', session: {} }, { type: 'held' }])(
  'a store whose open() returns %j is named as the cause',
  async (returned) => {
    const store = { ...memorySessions(), open: async () => returned as never }
    await expect(createEngine({ model: offline(), store }).start()).rejects.toMatchObject({
      name: 'StoreError',
      reason: 'invalid',
      message: expect.stringMatching(/^open\(\) of the session store returned /),
    })
  },
)

test.each(['append', 'all', 'recall', 'read', 'release', 'version', 'entries', 'isWhole'])(
  'a store that opens a session without %s is named as the cause',
  async (missing) => {
    const store = memorySessions()
    const open: SessionStore['open'] = async (id, options) => {
      const result = await store.open(id, options)
      if (result.type !== 'opened') return result
      return { type: 'opened', session: { ...result.session, [missing]: undefined } }
    }
    await expect(createEngine({ model: offline(), store: { ...store, open } }).start()).rejects.toMatchObject({
      name: 'StoreError',
      reason: 'invalid',
    })
  },
)

test('a session with half a compaction is repaired when it is opened, and released if that cannot be stored', async () => {
  const store = memorySessions()
  const engineOn = (on: SessionStore) => createEngine({ model: offline(), store: on })
  const opened = await store.open('copied', { as: 'new', isCopy: true })
  if (opened.type !== 'opened') throw new Error(opened.type)
  const { records } = transcript()
    .user('Read the report.')
    .assistant('It is read.')
    .boundary({ fields: { everlong: { compaction: { last: 'never-written' } } } })
    .summary('They read.')
  const stored = records.map((record) => ({ id: String(record.uuid), record }))
  expect((await opened.session.append(stored, opened.session.version)).type).toBe('stored')
  await opened.session.release()

  await expect(engineOn(failing(store)).open('copied')).rejects.toMatchObject({ reason: 'denied' })
  expect((await store.list()).map(({ isHeld }) => isHeld)).toEqual([false])
  const mended = await engineOn(store).open('copied')
  expect(mended.messages().map(({ uuid }) => uuid)).toEqual(['u1', 'a1'])
  await mended.close()
  await store.close()
})

test('a session whose queued messages cannot be written is released all the same', async () => {
  const path = join(folder, 'queued', 'chat.jsonl')
  const engine = createNodeEngine({ model: offline() })
  const session = await engine.start({ path })
  session.add({ role: 'user', content: 'Go.' })
  await session.prepare()
  session.add({ role: 'user', content: 'This waits.' })
  rmSync(path)
  await expect(session.close()).rejects.toMatchObject({ reason: 'lost' })
  await (await engine.start({ path })).close()
})

test('a session on disk names the reason too', async () => {
  const path = join(folder, 'reasons', 'chat.jsonl')
  const engine = createNodeEngine({ model: offline() })
  await expect(engine.open(path)).rejects.toMatchObject({ name: 'StoreError', reason: 'missing' })
  const session = await engine.start({ path })
  await expect(engine.start({ path })).rejects.toMatchObject({ reason: 'exists' })
  await expect(engine.open(path)).rejects.toMatchObject({ reason: 'held' })
  await session.close()
  await expect(engine.open(folder)).rejects.toMatchObject({ reason: 'invalid' })
})

async function recordsIn(store: SessionStore, id: string): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  for await (const { record } of store.records(id)) found.push(record)
  return found
}

test('without a store, a session has the id it is given, is in memory only and cannot be opened again', async () => {
  const engine = createEngine({ model: offline() })
  const session = await engine.start({ id: 'chat', owner: 'me', user: 'ann' })
  expect(session.id).toBe('chat')
  await expect(engine.open('chat')).rejects.toMatchObject({
    reason: 'missing',
    message: expect.stringContaining('has no store'),
  })
  await expect(engine.start({ id: '../chat' })).rejects.toMatchObject({ reason: 'invalid' })
  await expect(createNodeEngine({ model: offline() }).start({ path: '' })).rejects.toThrow('start() needs the path')
})

test('a sub-agent of a session in a file is in the folder of that session, also of a fork', async () => {
  const path = join(folder, 'chief', 'chat.jsonl')
  const engine = createNodeEngine({ model: offline() })
  const session = await engine.start({ path })
  session.add({ role: 'user', content: 'Go.' })
  const fork = await engine.open(path, { ifHeld: 'fork' })
  for (const chief of [session, fork]) {
    const agent = await chief.subagent()
    agent.add({ role: 'user', content: 'Look around.' })
    const place = chief.path?.replace(/\.jsonl$/, '') ?? ''
    expect([agent.id, agent.path]).toEqual([chief.id, join(place, 'subagents', `agent-${agent.agentId}.jsonl`)])
    await agent.close()
    await chief.close()
  }
  expect(fork.path).not.toBe(path)
  expect(() => session.add({ role: 'user', content: 'After the end.' })).toThrow(
    expect.objectContaining({ reason: 'closed' }),
  )
})

test('a file that another writer has is waited for, and the error names the holder', async () => {
  const path = join(folder, 'waiting', 'chat.jsonl')
  const engine = createNodeEngine({ model: offline() })
  const first = await engine.start({ path, owner: 'worker 1' })
  await expect(engine.open(path)).rejects.toMatchObject({ reason: 'held', cause: { owner: 'worker 1' } })
  const waiting = engine.open(path, { waitMs: 60_000 })
  await first.close()
  await (await waiting).close()
})
