// A session on a store that is written asynchronously, such as a database.
import { expect, test } from 'vitest'
import { noPosition, StoreError, type StoreResult } from '../ports/session-store.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { createConversation } from './conversation.ts'
import { createTestWorld, type MemoryStore, scripted } from './testing/world.ts'

type SlowStore = MemoryStore & {
  readonly entries: () => readonly Entry[]
  readonly stored: string[]
  readonly log: string[]
  fail: (why: string | undefined) => void
}

/** Accepts records at once and stores them with the next flush. */
function slowStore(log: string[] = []): SlowStore {
  const stored: string[] = []
  let waiting: string[] = []
  let why: string | undefined
  return {
    stored,
    log,
    fail: (reason) => {
      why = reason
    },
    append: (records) => {
      waiting.push(...records.map(({ type, uuid }) => `${String(type)} ${String(uuid)}`))
      return { type: 'stored' }
    },
    flush: async (): Promise<StoreResult> => {
      await Promise.resolve()
      if (why !== undefined) return { type: 'store-failed', why: `${why}: ${waiting.join(', ')}` }
      if (waiting.length > 0) log.push(`stored ${waiting.join(', ')}`)
      stored.push(...waiting)
      waiting = []
      return { type: 'stored' }
    },
    entries: () => [],
    close: () => undefined,
  }
}

test('what a model sees is stored first, and its answer before the turn is over', async () => {
  const store = slowStore()
  const model = scripted(() => {
    store.log.push('sent')
    return 'Done.'
  })
  const { session } = createTestWorld({ store, model })
  const [asked] = session.add({ role: 'user', content: 'Go.' })
  const turn = await session.send()
  store.log.push('over')
  const uuid = turn.type === 'answered' ? turn.uuid : ''
  const before = [`stored user ${asked}`, 'stored everlong-context undefined']
  expect(store.log).toEqual([...before, 'sent', `stored assistant ${uuid}`, 'over'])
})

test('a message that cannot be stored is not sent, and the next attempt stores the same record', async () => {
  const store = slowStore()
  const model = scripted(() => 'Done.')
  const { session } = createTestWorld({ store, model })
  const [asked] = session.add({ role: 'user', content: 'Go.' })
  store.fail('The database is away')
  await expect(session.send()).rejects.toThrow(new StoreError(`The database is away: user ${asked}`))
  expect(model.requests).toEqual([])
  store.fail(undefined)
  expect((await session.send()).type).toBe('answered')
  expect(store.stored.filter((line) => line === `user ${asked}`)).toEqual([`user ${asked}`])
})

test('stored() waits for what a host has recorded itself', async () => {
  const store = slowStore()
  const { session } = createTestWorld({ store })
  session.add({ role: 'user', content: 'Go.' })
  session.add({ role: 'assistant', content: 'Gone.' })
  expect(store.stored).toEqual([])
  await session.stored()
  expect(store.stored.map((line) => line.split(' ')[0])).toEqual(['user', 'assistant'])
})

test('an edit by hand of an entry that is not in memory waits until older entries are read', async () => {
  const old: Entry = {
    record: { type: 'user', uuid: 'old', parentUuid: null, message: { role: 'user', content: 'Long ago.' } },
    position: noPosition,
  }
  const { runtime } = createTestWorld()
  const conversation = createConversation({
    store: { ...slowStore(), entries: async () => [old] },
    sessionId: 'session-1',
    envelope: {},
    entries: [],
    isWhole: false,
    now: runtime.ports.now,
    newId: runtime.ports.newId,
  })
  expect(conversation.record('old')).toBeUndefined()
  await conversation.loadOlderEntries()
  expect(conversation.record('old')).toEqual(old.record)
})
