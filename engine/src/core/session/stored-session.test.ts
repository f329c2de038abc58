import { expect, test } from 'vitest'
import { growth } from '../../testing/growth.ts'
import type { AbortSignalPort } from '../ports/model.ts'
import type { Appended, HeldSession, StoredRecord } from '../ports/session-store.ts'
import { openSession, StoredSession } from './stored-session.ts'

type Call = { readonly ids: readonly string[]; readonly expected: number }

/** Answers with the given outcomes, then stores everything. */
function heldSession(outcomes: Appended[]): HeldSession & { readonly calls: Call[] } {
  const calls: Call[] = []
  let version = 0
  return {
    id: 's',
    version: 0,
    entries: [],
    isWhole: true,
    calls,
    append: async (records: readonly StoredRecord[], expected) => {
      calls.push({ ids: records.map(({ id }) => id), expected })
      await Promise.resolve()
      const outcome = outcomes.shift()
      if (outcome) return outcome
      version = expected + records.length
      return { type: 'stored', version }
    },
    all: async () => [],
    recall: async () => ({ matches: [], more: false }),
    read: async () => undefined,
    release: async () => undefined,
  }
}

function ports() {
  let ids = 0
  const waits: number[] = []
  let clock = 0
  return {
    waits,
    newId: () => `made-${++ids}`,
    now: () => clock,
    /** Pauses end at once. No wait lasts until a timeout. */
    wait: async (milliseconds: number, signal?: AbortSignalPort) => {
      if (signal) return new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      waits.push(milliseconds)
      clock += milliseconds
    },
  }
}

const away: Appended = { type: 'unavailable', why: 'The database is away.' }
const user = (uuid: string) => ({ type: 'user', uuid })

test('records that come while others are being sent go out together, behind them', async () => {
  const session = heldSession([])
  const store = new StoredSession(session, ports())
  for (const uuid of ['a', 'b', 'c']) store.append([user(uuid)])
  expect(await store.flush()).toEqual({ type: 'stored' })
  expect(session.calls).toEqual([
    { ids: ['a'], expected: 0 },
    { ids: ['b', 'c'], expected: 1 },
  ])
})

test('a retry sends the same records with the same ids, even if more were added since', async () => {
  const session = heldSession([away])
  const used = ports()
  const store = new StoredSession(session, {
    ...used,
    wait: (milliseconds, signal) => {
      if (!signal) store.append([user('later')])
      return used.wait(milliseconds, signal)
    },
  })
  store.append([{ type: 'note' }, user('a')])
  expect(await store.flush()).toEqual({ type: 'stored' })
  expect(session.calls).toEqual([
    { ids: ['made-1', 'a'], expected: 0 },
    { ids: ['made-1', 'a'], expected: 0 },
    { ids: ['later'], expected: 2 },
  ])
})

test('a database that stays away is reported with what was not stored, and the next flush tries again', async () => {
  const used = ports()
  const session = heldSession(Array.from({ length: 11 }, () => away))
  const store = new StoredSession(session, used)
  store.append(Array.from({ length: 7 }, (_, at) => user(`u${at}`)))
  expect(await store.flush()).toEqual({
    type: 'store-failed',
    why: 'The database is away. Not stored: user u0, user u1, user u2, user u3, user u4 and 2 more.',
    reason: 'unavailable',
  })
  expect(used.waits.length).toBe(10)
  expect(await store.flush()).toEqual({ type: 'stored' })
  expect(session.calls.at(-1)).toEqual({ ids: ['u0', 'u1', 'u2', 'u3', 'u4', 'u5', 'u6'], expected: 0 })
})

test('a session that was taken by another writer is not tried again, and takes nothing more', async () => {
  const session = heldSession([{ type: 'refused', why: 'Worker 2 has taken over.', reason: 'lost' }])
  const store = new StoredSession(session, ports())
  store.append([user('a')])
  const failed = { type: 'store-failed', why: 'Worker 2 has taken over. Not stored: user a.', reason: 'lost' }
  expect(await store.flush()).toEqual(failed)
  expect(store.append([user('b')])).toEqual(failed)
  expect(await store.flush()).toEqual(failed)
  expect(session.calls.length).toBe(1)
})

test('a record that JSON cannot carry is refused at once, with its place', () => {
  const store = new StoredSession(heldSession([]), ports())
  expect(store.append([{ type: 'user', message: { count: 1n } }])).toEqual({
    type: 'store-failed',
    why: 'A record cannot be stored: message.count is of type bigint.',
    reason: 'invalid',
  })
})

test('a compaction is never split between two writes', async () => {
  const session = heldSession([])
  const store = new StoredSession(session, ports())
  store.append([user('first')])
  for (const name of ['a', 'b', 'c']) store.append(Array.from({ length: 300 }, (_, at) => user(`${name}${at}`)))
  await store.flush()
  expect(session.calls.map(({ ids }) => ids.length)).toEqual([1, 300, 300, 300])
})

test('a batch is stored whole, however large it is', async () => {
  const session = heldSession([])
  const store = new StoredSession(session, ports())
  store.append([user('first')])
  store.append([user('small')])
  store.append(Array.from({ length: 1_200 }, (_, at) => user(`large${at}`)))
  await store.flush()
  expect(session.calls.map(({ ids }) => ids.length)).toEqual([1, 1, 1_200])
})

test('a call gives up after about 15 seconds, also if every attempt takes long', async () => {
  const used = ports()
  const began = used.now()
  const session = heldSession(Array.from({ length: 11 }, () => away))
  const slow = {
    ...session,
    append: async (...given: Parameters<HeldSession['append']>) => {
      await used.wait(5_000)
      return session.append(...given)
    },
  }
  const store = new StoredSession(slow, used)
  store.append([user('a')])
  expect((await store.flush()).type).toBe('store-failed')
  const seconds = (used.now() - began) / 1_000
  expect(seconds).toBeGreaterThanOrEqual(15)
  expect(seconds).toBeLessThan(21)
})

test('records that nobody waits for take linear time', async () => {
  const ratio = await growth(3_000, async (count) => {
    const store = new StoredSession(heldSession([]), ports())
    for (let at = 0; at < count; at++) store.append([user(`u${at}`)])
    await store.flush()
  })
  expect(ratio).toBeLessThan(25)
})

test.each([
  [undefined, 'undefined'],
  [null, 'null'],
  [5, '5'],
  [{ ok: true }, 'an object with ok'],
  [{ type: 'stored' }, 'an object with type'],
  [{ type: 'refused' }, 'an object with type'],
])('a store whose append() returns %j is named as the cause', async (returned, words) => {
  const session = { ...heldSession([]), append: async () => returned as never }
  const store = new StoredSession(session, ports())
  store.append([user('a')])
  expect(await store.flush()).toEqual({
    type: 'store-failed',
    why:
      `append() of the session store returned ${words}. It must return { type } with "stored" and a version, ` +
      'or "refused" or "unavailable" and why. Not stored: user a.',
    reason: 'invalid',
  })
})

test('a session whose half compaction cannot be undone is released, and the error says why', async () => {
  let released = 0
  const boundary = { type: 'system', subtype: 'compact_boundary', uuid: 'b', parentUuid: null, logicalParentUuid: 'u' }
  const own = { ...boundary, everlong: { compaction: { last: 'never-written' } } }
  const torn = [{ ...user('u'), parentUuid: null, message: { role: 'user', content: 'Hi.' } }, own]
  const held: HeldSession = {
    ...heldSession([{ type: 'refused', why: 'It is read-only.' }]),
    entries: torn.map((record) => ({ record, position: { line: 0, offset: 0, length: 0, nth: 0 } })),
    release: async () => {
      released++
    },
  }
  const store = { open: async () => ({ type: 'opened', session: held }) as const }
  await expect(openSession(store, 's', { as: 'existing', ...ports() })).rejects.toThrow('It is read-only.')
  expect(released).toBe(1)
})
