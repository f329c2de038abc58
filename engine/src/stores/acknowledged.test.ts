// Acknowledged records are stored: after a kill, and before a model sees them.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { SessionStore } from '../core/ports/session-store.ts'
import { scripted } from '../core/session/testing/world.ts'
import { createEngine } from '../engine.ts'
import { jsonlSessions } from './disk/jsonl.ts'
import { memorySessions } from './memory.ts'
import { everyStore, storeAt } from './testing/every-store.ts'
import type { KilledWriterInput } from './testing/killed-writer.ts'

const { places, folder, stop } = await everyStore()
afterAll(stop)

const transcripts = join(folder, 'transcripts')

const cases: readonly (readonly [string, KilledWriterInput['place']])[] = [
  ['a transcript', { type: 'transcript', path: join(transcripts, 'killed.jsonl') }],
  ...places.map(([name, newPlace]) => [name, newPlace()] as const),
]

test.each(cases)('everything acknowledged is in %s after a kill', async (_, place) => {
  const store = place.type === 'transcript' ? jsonlSessions({ folder: transcripts }) : storeAt(place)
  const input: KilledWriterInput = { place, messages: 300 }
  const script = join(import.meta.dirname, 'testing', 'killed-writer.ts')
  const { stdout, stderr, signal } = spawnSync(process.execPath, [script, JSON.stringify(input)], { encoding: 'utf8' })
  expect([signal, stderr]).toEqual(['SIGKILL', expect.not.stringContaining('Error')])
  const acknowledged = stdout.split('\n').filter((line) => line !== '')
  const stored = new Set(await textsOf(store, 'killed', ({ uuid }) => uuid))
  await store.close()
  expect(acknowledged.filter((uuid) => !stored.has(uuid))).toEqual([])
  expect(acknowledged.length).toBeGreaterThanOrEqual(300)
})

describe('before a model sees it', () => {
  /** Another task adds a message at any moment of the turn. */
  async function unstoredIn(ticks: number): Promise<readonly string[]> {
    const store = memorySessions()
    const unstored: string[] = []
    const check = async (when: string, texts: readonly string[]) => {
      const stored = JSON.stringify(await textsOf(store, 'chat', (record) => record))
      unstored.push(...texts.filter((text) => !stored.includes(text)).map((text) => `${when}: ${text}`))
    }
    const asked = scripted((_, count) =>
      count === 1 ? `This is the answer. ${'More words. '.repeat(800)}` : '<summary>Short.</summary>',
    )
    const model: typeof asked = {
      ...asked,
      send: async (request, options) => {
        const sent = JSON.stringify(request.messages)
        await check(
          'sent',
          ['first', 'second'].filter((text) => sent.includes(text)),
        )
        return asked.send(request, options)
      },
    }
    const session = await createEngine({ model, store }).start({ id: 'chat' })
    const later = async () => {
      for (let left = ticks; left > 0; left--) await Promise.resolve()
      session.add({ role: 'user', content: 'second' })
    }
    const [first = ''] = session.add({ role: 'user', content: 'first' })
    const added = later()
    await session.send()
    await check('send', ['first', 'answer'])
    await added
    await session.pin(first)
    await check('pin', ['first', 'second', 'answer', '"pin"'])
    // Once is enough, because a compaction waits in the same call and takes long.
    if (ticks === 0) {
      const compacted = await session.compact()
      await check('compact', compacted.type === 'compacted' ? ['compact_boundary'] : ['was compacted'])
    }
    await session.close()
    return unstored
  }

  test('it is stored, and so is the result of each call when the call returns', async () => {
    const unstored: string[] = []
    for (let ticks = 0; ticks < 80; ticks++) unstored.push(...(await unstoredIn(ticks)))
    expect(unstored).toEqual([])
  })
})

async function textsOf<T>(
  store: SessionStore,
  id: string,
  read: (record: Readonly<Record<string, unknown>>) => T,
): Promise<readonly T[]> {
  const found: T[] = []
  for await (const { record } of store.records(id)) found.push(read(record))
  return found
}
