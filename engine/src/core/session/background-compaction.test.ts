import { expect, test } from 'vitest'
import type { RunningMechanism } from '../mechanisms/mechanism.ts'
import type { JsonObject } from '../message/json.ts'
import { textOf } from '../message/message.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld } from './testing/world.ts'

const settings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  reductions: { microCompact: false },
  background: { from: 0.5 },
} as const
const usage = { input: 15_000, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }

test('what a compaction keeps stays kept if something is said while it is prepared', async () => {
  const plain = plainMechanism('In short.')
  const keeping: RunningMechanism = {
    name: 'keeping',
    run: async (context) => {
      const found = await plain.run(context)
      if (found.type !== 'compacted') return found
      const [boundary, summary] = found.records
      const uuid = context.view.messages.at(-1)?.uuid
      const anchorUuid = summary?.uuid
      const kept = { anchorUuid, uuids: [uuid], allUuids: [uuid] }
      const segment = { headUuid: uuid, anchorUuid, tailUuid: uuid }
      const data = { ...(boundary?.compactMetadata as object), preservedSegment: segment, preservedMessages: kept }
      return { ...found, records: [{ ...boundary, compactMetadata: data }, summary as JsonObject] }
    },
  }
  const { session } = createTestWorld({ settings, compaction: [keeping] })
  session.add({ role: 'user', content: 'Go on.' })
  session.record(answerOf('lorem ipsum '.repeat(1_200), { id: 'msg_1', usage }))
  session.add({ role: 'user', content: 'Keep this.' })
  await session.prepare()
  await new Promise((resolve) => setTimeout(resolve))
  session.record(answerOf('Meanwhile.', { id: 'msg_2', usage }))
  session.add({ role: 'user', content: 'And now?' })
  expect(await session.prepare()).toMatchObject({ type: 'ready', compaction: { mechanism: 'plain' } })
  expect(session.messages().map(({ content }) => textOf(content))).toEqual([
    'In short.\nKeep this.',
    'Meanwhile.',
    'And now?',
  ])
})

test('what is said while a compaction is prepared stays behind its summary, and is still there after an undo', async () => {
  const { session } = createTestWorld({ settings, compaction: [plainMechanism('In short.')] })
  session.add({ role: 'user', content: 'Go on.' })
  session.record(answerOf('lorem ipsum '.repeat(1_200), { id: 'msg_1', usage }))
  session.add({ role: 'user', content: 'And on.' })
  await session.prepare()
  await new Promise((resolve) => setTimeout(resolve))
  session.record(answerOf('Meanwhile.', { id: 'msg_2', usage }))
  session.add({ role: 'user', content: 'And now?' })
  const before = session.messages()

  expect(await session.prepare()).toMatchObject({ type: 'ready', compaction: { mechanism: 'plain' } })
  const compacted = session.messages()
  expect(compacted[0]?.origin).toBe('summary')
  expect(compacted.slice(1)).toEqual(before.slice(-2))
  await session.undo()
  expect(session.messages()).toEqual(before)
})
