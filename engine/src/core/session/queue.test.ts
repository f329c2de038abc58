import { expect, test } from 'vitest'
import { growth } from '../../testing/growth.ts'
import type { JsonObject } from '../message/json.ts'
import { textOf } from '../message/message.ts'
import { noPosition, StoreError } from '../ports/session-store.ts'
import type { ConversationInput } from './conversation.ts'
import { createMutex, enqueueRecord, leftInQueue } from './queue.ts'
import { createTestWorld, memoryStore, scripted } from './testing/world.ts'

test('tasks run one after another in the order in which they came, also after one that throws', async () => {
  const order: string[] = []
  const mutex = createMutex(() => order.push(`settled, ${mutex.isBusy() ? 'more to do' : 'idle'}`))
  const task = (name: string) => async () => {
    order.push(`${name}+`)
    await Promise.resolve()
    if (name === 'b') throw new Error('It broke.')
    order.push(`${name}-`)
    return name
  }
  const all = ['a', 'b', 'c'].map((name) => mutex.run(task(name)))
  expect(mutex.isBusy()).toBe(true)
  expect(await Promise.allSettled(all)).toEqual([
    { status: 'fulfilled', value: 'a' },
    { status: 'rejected', reason: new Error('It broke.') },
    { status: 'fulfilled', value: 'c' },
  ])
  expect(order).toEqual(['a+', 'a-', 'settled, more to do', 'b+', 'settled, more to do', 'c+', 'c-', 'settled, idle'])
})

test('messages and answers that had to wait are written after a failure of the store, once and in order', async () => {
  const memory = memoryStore()
  let isFull = false
  const append: ConversationInput['store']['append'] = (records) =>
    isFull && records.some(({ type }) => type === 'user' || type === 'assistant')
      ? { type: 'store-failed', why: 'The disk is full.' }
      : memory.append(records)
  const { session } = createTestWorld({ store: { ...memory, append } })
  session.add({ role: 'user', content: 'one' })
  await session.prepare()
  session.add([
    { role: 'user', content: 'two' },
    { role: 'user', content: 'three' },
  ])
  isFull = true
  await expect(session.prepare()).rejects.toThrow(StoreError)
  isFull = false
  expect((await session.prepare()).type).toBe('ready')
  expect(session.messages().map(({ content }) => textOf(content))).toEqual(['one\ntwo\nthree'])
})

test('an answer that came during a compaction is not lost if it cannot be written at once', async () => {
  const memory = memoryStore()
  let isFull = false
  const append: ConversationInput['store']['append'] = (records) =>
    isFull ? { type: 'store-failed', why: 'The disk is full.' } : memory.append(records)
  const { session } = createTestWorld({ store: { ...memory, append }, model: scripted(() => 'Done.') })
  session.add({ role: 'user', content: 'one' })
  const prepared = session.prepare()
  session.record({ content: 'first answer' })
  session.record({ content: 'second answer' })
  isFull = true
  await expect(prepared).rejects.toThrow(StoreError)
  isFull = false
  await session.prepare()
  expect(JSON.stringify(session.messages())).toMatch(/first answer.*second answer/)
})

test('a queued message of which a part was written is not written again', () => {
  const message = {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 't1', content: 'ok' },
      { type: 'text', text: 'and go on' },
    ],
  } as const
  const stamp = { timestamp: '2026-03-02T09:00:00.000Z', sessionId: 's' }
  const entry = (record: JsonObject) => ({ record, position: noPosition })
  const queued = { message, uuids: ['a', 'b'] }
  const left = (...uuids: readonly string[]) =>
    leftInQueue([entry(enqueueRecord(queued, stamp)), ...uuids.map((uuid) => entry({ type: 'user', uuid }))])
  expect([left(), left('c'), left('a'), left('b'), left('a', 'b')]).toEqual([[queued], [queued], [], [], []])
})

test('queued messages take linear time', async () => {
  const ratio = await growth(2_000, async (count) => {
    const { session } = createTestWorld()
    session.add({ role: 'user', content: 'Go.' })
    await session.prepare()
    for (let at = 0; at < count; at++) session.add({ role: 'user', content: `queued ${at}` })
  })
  expect(ratio).toBeLessThan(25)
})
