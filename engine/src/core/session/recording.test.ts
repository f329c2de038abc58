// How a session handles answers and messages as they arrive.
import { describe, expect, test } from 'vitest'
import { shapeOf } from '../message/shape.ts'
import { noTokens, type Usage } from '../message/usage.ts'
import type { Entry } from '../transcript/format/entry.ts'
import { enqueueRecord, leftInQueue, type QueuedMessage } from './queue.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type World } from './testing/world.ts'

const words = (count: number) => 'parse the record '.repeat(count / 3)
const usage = (input: number): Usage => ({ ...noTokens, input })

describe('an answer', () => {
  test('whose client gives all its answers the same id is still an answer of its own', () => {
    const { session } = createTestWorld()
    session.add({ role: 'user', content: 'Go.' })
    for (const id of ['t1', 't2', 't3']) {
      session.record(answerOf([{ type: 'tool_use', id, name: 'Read', input: {} }], { id: 'chatcmpl' }))
      session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'found' }] })
    }
    expect(shapeOf(session.messages())).toBe('u a[tu] u[tr] a[tu] u[tr] a[tu] u[tr]')
  })

  test('is written with its cache writes apart, by how long they last', () => {
    const world = createTestWorld()
    world.session.add({ role: 'user', content: 'Go.' })
    world.session.record(answerOf('ok', { usage: { ...noTokens, cacheWrite: 100, cacheWriteHour: 30 } }))
    expect(world.records().at(-1)).toMatchObject({
      message: {
        usage: {
          cache_creation_input_tokens: 100,
          cache_creation: { ephemeral_5m_input_tokens: 70, ephemeral_1h_input_tokens: 30 },
        },
      },
    })
  })

  test('teaches how far the estimate is off, unless its usage counts several requests or another view', async () => {
    const learned = async (how: 'plain' | 'iterations' | 'outdated') => {
      let world: World | undefined
      const answer = answerOf('ok', {
        usage: {
          ...usage(9_000),
          ...(how === 'iterations' ? { iterations: [{ ...usage(9_000), type: 'message' }] } : {}),
        },
      })
      const during = async () => void world?.session.record(answer)
      world = createTestWorld({ compaction: [plainMechanism('In short.', { during })] })
      world.session.add({ role: 'user', content: words(9_000) })
      await world.session.prepare()
      if (how === 'outdated') await world.session.compact()
      else world.session.record(answer)
      return Object.keys(world.learned.calibrations).length
    }
    expect(await learned('plain')).toBe(1)
    expect(await learned('iterations')).toBe(0)
    expect(await learned('outdated')).toBe(0)
  })

  test('that belongs to no request of the session teaches nothing', () => {
    const { session, learned } = createTestWorld()
    session.add({ role: 'user', content: words(9_000) })
    session.record(answerOf('ok', { usage: usage(9_000) }))
    expect(learned.calibrations).toEqual({})
  })

  test('that tells again what the server left out is written down once', () => {
    const world = createTestWorld()
    const tell = (tokens: number) => {
      world.session.add({ role: 'user', content: 'Go on.' })
      const applied_edits = [{ type: 'clear_tool_uses_20250919', cleared_tool_uses: 2, cleared_input_tokens: tokens }]
      world.session.record({ content: 'ok', context_management: { applied_edits } } as never)
    }
    for (const tokens of [900, 900, 1_200]) tell(tokens)
    const cleared = world.records().flatMap(({ everlong }) => JSON.stringify(everlong)?.match(/"tokens":\d+/g) ?? [])
    expect(cleared).toEqual(['"tokens":900', '"tokens":1200'])
  })
})

test('a history is imported without computing the view for each answer', async () => {
  const viewsFor = async (answers: number) => {
    const { session, runtime } = createTestWorld({ settings: { collapse: true } })
    const { view } = runtime.conversation
    const views = new Set<object>()
    const counted = () => {
      views.add(view())
      return view()
    }
    Object.assign(runtime.conversation, { view: counted })
    for (let at = 0; at < answers; at++) {
      session.add({ role: 'user', content: `Step ${at}.` })
      session.record(answerOf('ok', { id: `msg_${at}`, usage: usage(1_000 + at) }))
    }
    await session.prepare()
    return [session.messages().length, views.size]
  }
  // One view for the first answer, to check whether an earlier one is known. Records without visible content do not change the
  // view.
  expect([await viewsFor(2), await viewsFor(100)]).toEqual([
    [4, 2],
    [200, 2],
  ])
})

describe('a message', () => {
  test('is a person’s only where there is something that a person typed', () => {
    const { session } = createTestWorld()
    const result = { type: 'tool_result', tool_use_id: 't1', content: 'found' }
    const begins = (...[message]: Parameters<typeof session.add>) => {
      const { turnId } = session.tracking()
      session.add(message)
      return session.tracking().turnId !== turnId
    }
    expect(begins({ role: 'user', content: 'Go.' })).toBe(true)
    expect(begins({ role: 'assistant', content: 'ok' })).toBe(false)
    expect(begins({ role: 'user', content: [result] })).toBe(false)
    expect(begins({ role: 'user', content: 'Go on.', origin: 'meta' })).toBe(false)
    expect(begins({ role: 'user', content: [result, { type: 'text', text: 'And?' }] })).toBe(true)
  })

  test('that comes after a request failed is not held back', async () => {
    const failure = { type: 'failed', reason: 'transient', message: 'Overloaded', tries: 3 } as const
    const world = createTestWorld({ model: scripted(() => failure) })
    world.session.add({ role: 'user', content: 'Go.' })
    expect(await world.session.send()).toMatchObject({ type: 'failed', failure })
    world.session.add({ role: 'user', content: 'Never mind.' })
    expect(JSON.stringify(world.session.messages())).toContain('Never mind.')
  })

  test('that was queued and let in is not left in the queue', () => {
    const at = { timestamp: '2026-11-01T00:00:00.000Z', sessionId: 's' }
    const entry = (record: Entry['record']) => ({ record }) as Entry
    const message = (content: string): QueuedMessage => ({ message: { role: 'user', content }, uuids: [content] })
    const queued = (content: string) => entry(enqueueRecord(message(content), at))
    const said = (uuid: string) => entry({ type: 'user', uuid })
    // The person said it even if the process died between the entry and its dequeue record.
    const out = entry({ type: 'queue-operation', operation: 'dequeue', ...at })
    expect(leftInQueue([queued('a'), queued('b'), said('a')])).toEqual([message('b')])
    expect(leftInQueue([queued('a'), said('a'), out, queued('b'), said('b'), out])).toEqual([])
    // We do not repeat the queue of another client.
    const foreign = entry({ type: 'queue-operation', operation: 'enqueue', content: 'x' })
    expect(leftInQueue([foreign, queued('a'), out])).toEqual([message('a')])
  })
})
