// A session opened from its end in the database shows the same as after reading all of it, however far before the newest
// compaction its window reaches.
import { afterAll, expect, test } from 'vitest'
import type { JsonObject } from '../../core/message/json.ts'
import type { SessionStore } from '../../core/ports/session-store.ts'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { memorySessions } from '../memory.ts'
import { postgresForTests } from '../testing/postgres-server.ts'

const server = await postgresForTests()
afterAll(() => server?.stop())

const uuidOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

/** The first message, `before` more, an answer in two parts `apart` from each other, and a compaction that keeps it. */
function recordsOf({ before, apart, after }: { before: number; apart: number; after: number }): readonly JsonObject[] {
  const records: JsonObject[] = []
  const add = (record: JsonObject, parentUuid: string | null = (records.at(-1)?.uuid as string) ?? null) => {
    const uuid = uuidOf(records.length + 1)
    const frame = { isSidechain: false, sessionId: 's', timestamp: new Date(records.length * 1_000).toISOString() }
    records.push({ ...frame, parentUuid, uuid, ...record })
    return uuid
  }
  const said = (content: string) => add({ type: 'user', message: { role: 'user', content } })
  const answered = (content: readonly object[], id: string) =>
    add({ type: 'assistant', message: { id, role: 'assistant', content } as never })
  for (let at = 0; at < before; at++) said(`Before ${at}.`)
  const kept = [answered([{ type: 'text', text: 'The first piece.' }], 'msg_kept')]
  for (let at = 1; at < apart; at++) add({ type: 'progress', data: { at } } as never)
  kept.push(answered([{ type: 'text', text: 'The second piece.' }], 'msg_kept'))
  for (let at = 0; at < after; at++) said(`After ${at}.`)
  const last = kept.slice(-1)
  const anchorUuid = uuidOf(records.length + 2)
  const segment = { headUuid: last[0], anchorUuid, tailUuid: last.at(-1) }
  const compactMetadata = {
    ...{ trigger: 'manual', preTokens: 1_000, preservedSegment: segment },
    preservedMessages: { anchorUuid, uuids: last, allUuids: last },
  }
  add(
    { type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', compactMetadata } as never,
    null,
  )
  add({ type: 'user', isCompactSummary: true, message: { role: 'user', content: 'In short.' } } as never)
  said('Go on.')
  return records
}

async function shownIn(store: SessionStore, id: string, records: readonly JsonObject[]) {
  const opened = await store.open(id, { as: 'new' })
  if (opened.type !== 'opened') throw new Error(opened.type)
  const { session } = opened
  await session.append(
    records.map((record) => ({ id: String(record.uuid), record })),
    session.version,
  )
  await session.release()
  const again = await createEngine({ model: offline(), store }).open(id)
  const shown = again.messages().map(({ role, content, uuid }) => ({ role, content, uuid }))
  await again.close()
  return shown
}

test.runIf(server)('the window is complete at any distance from what it refers to', async () => {
  const store = server?.store()
  if (!store) return
  let count = 0
  for (const apart of [1, 99])
    for (const after of [0, 1, 99, 250])
      for (const before of [0, 100, 101, 300]) {
        const records = recordsOf({ before, apart, after })
        const expected = await shownIn(memorySessions(), 's', records)
        const id = `s-${++count}`
        expect([apart, after, before, await shownIn(store, id, records)]).toEqual([apart, after, before, expected])
      }
})
