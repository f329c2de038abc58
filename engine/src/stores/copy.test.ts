// Sessions copied through all stores stay unchanged.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { JsonObject } from '../core/message/json.ts'
import { type SessionStore, StoreError } from '../core/ports/session-store.ts'
import { generateSession } from '../testing/sessions/session.ts'
import { oddRecords } from '../testing/stores/records.ts'
import { copySessions } from './copy.ts'
import { jsonlSessions } from './disk/jsonl.ts'
import { memorySessions } from './memory.ts'
import { postgresForTests } from './testing/postgres-server.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-copy-'))
const server = await postgresForTests()
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await server?.stop()
})

async function fill(store: SessionStore, id: string, records: readonly JsonObject[], of: object = {}): Promise<void> {
  const opened = await store.open(id, { as: 'new', isCopy: true, ...of })
  if (opened.type !== 'opened') throw new Error(opened.type)
  await opened.session.append(
    records.map((record, at) => ({ id: `${id}-${at}`, record })),
    opened.session.version,
  )
  await opened.session.release()
}

async function everythingIn(store: SessionStore): Promise<readonly unknown[]> {
  const found: unknown[] = []
  for (const { id, user, parent } of await store.list()) {
    const records: JsonObject[] = []
    for await (const { record } of store.records(id)) records.push(record)
    found.push({ id, user, parent, records })
  }
  return found
}

/** Real transcripts have some: a line that was written twice, a parent that does not exist. */
const repeated = (records: readonly JsonObject[]) => [
  ...records,
  ...records.slice(0, 3),
  { type: 'user', uuid: 'orphan', parentUuid: 'nowhere' },
]

test('nothing is lost or changed on the way from memory to disk, to a database and back', async () => {
  const first = memorySessions()
  await fill(first, 'odd', oddRecords(), { user: 'ann' })
  for (const seed of [1, 2]) {
    const records = [...generateSession({ seed, turns: 12, boundaries: 2, subagents: 'inline', images: true })]
    await fill(first, `generated-${seed}`, repeated(records), { user: 'bob' })
  }
  await fill(first, 'odd/subagents/agent-1', oddRecords().slice(0, 2), { parent: 'odd' })
  await fill(first, 'empty', [])
  const stops = [
    jsonlSessions({ folder: join(folder, 'a') }),
    ...(server ? [server.store()] : []),
    jsonlSessions({ folder: join(folder, 'b') }),
    memorySessions(),
  ]
  let from: SessionStore = first
  for (const to of stops) {
    expect(await copySessions({ from, to })).toMatchObject({ sessions: 5, skipped: [] })
    from = to
  }
  expect(await everythingIn(from)).toEqual(await everythingIn(first))
})

test('some are copied with their sub-agents, and one that is there already is left as it is', async () => {
  const from = memorySessions()
  for (const id of ['a', 'a/subagents/agent-1', 'b', 'c']) {
    await fill(from, id, oddRecords(), id.includes('/') ? { parent: 'a' } : {})
  }
  const to = memorySessions()
  await fill(to, 'b', [])
  const count = oddRecords().length
  expect(await copySessions({ from, to, sessions: ['a', 'b'] })).toEqual({
    sessions: 2,
    records: 2 * count,
    skipped: ['b'],
  })
  expect((await to.list()).map(({ id }) => id)).toEqual(['a', 'a/subagents/agent-1', 'b'])
})

test('a session that cannot be copied whole leaves nothing behind', async () => {
  const from = memorySessions()
  await fill(from, 'a', oddRecords())
  const to = memorySessions()
  const failing: SessionStore = {
    ...to,
    open: async (id, options) => {
      const opened = await to.open(id, options)
      if (opened.type !== 'opened') return opened
      return { type: 'opened', session: { ...opened.session, append: async () => ({ type: 'refused', why: 'Full.' }) } }
    },
  }
  await expect(copySessions({ from, to: failing })).rejects.toThrow(
    new StoreError('The session a was not copied: Full.'),
  )
  expect(await to.list()).toEqual([])
})
