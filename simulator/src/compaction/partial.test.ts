import { type JsonObject, objectAt, textOf } from 'everlong/internal'
import { session } from 'everlong/internal/testing'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createSimulator } from '../simulator.ts'
import { summarizer } from '../summary/summarizer.ts'
import { ask } from '../testing/ask.ts'
import { bodyOf, simulatedClient } from '../testing/client.ts'
import { bare, bench, brokenBy, conversation, done, ownRequest } from '../testing/compaction.ts'

const world = () => simulatedClient(createSimulator({ script: summarizer(), acceptForeignSignatures: true }))
const offline = () => simulatedClient(createSimulator({ script: summarizer() }), { provider: 'offline' })
const long = (words: string) => Array.from({ length: 300 }, (_, at) => `${words} ${at}`).join(' ')

function talk() {
  return session()
    .user(long('first task'))
    .toolUse('t1', 'Read', { file_path: 'a.ts' })
    .toolResult('t1', long('contents of a'))
    .assistant(long('a is read'))
    .user(long('second task'))
    .toolUse('t2', 'Bash', { command: 'npm test' })
    .toolResult('t2', long('two failed'))
    .assistant('It was the comma.')
}

const segment = (record: JsonObject | undefined) => objectAt(objectAt(record, 'compactMetadata'), 'preservedSegment')

describe('up to a message', () => {
  test('what comes before is summarized, what follows stays behind the summary, and nothing is copied', async () => {
    const table = bench(talk().records)
    const client = world()
    const before = table.view()
    const own = ownRequest(before)
    const result = done(await table.compact(client, { partial: { type: 'up-to', uuid: 'u2' }, conversation: own }))
    expect(brokenBy(table, result)).toEqual([])
    const after = table.view()
    expect(bare(after.messages.slice(1, 4))).toEqual(bare(before.messages.slice(-3)))
    expect(textOf(after.messages[0]?.content)).toContain(long('second task').trim())
    expect(result.records.map(({ type }) => type)).toEqual(['system', 'user'])
    expect(segment(result.records[0])).toEqual({ headUuid: 'u2', anchorUuid: result.summaryUuid, tailUuid: 'a4' })
    const words = textOf(client.requests[0]?.messages.at(-1)?.content)
    expect([words.includes('8. Work completed'), words.includes('9. Context for continuing work')]).toEqual([
      true,
      true,
    ])
    expect(client.requests).toHaveLength(1)
    expect(result.mechanism).toBe('cache-sharing')
  })

  test('never between a call and its result: the point moves to the nearest place that may be cut', async () => {
    const table = bench(talk().records)
    const result = done(await table.compact(offline(), { partial: { type: 'up-to', uuid: 'r2' } }))
    expect(brokenBy(table, result)).toEqual([])
    expect(result.keptUuids).toEqual(['a3', 'r2', 'a4'])
  })
})

describe('from a message', () => {
  test('what comes before stays in front, byte for byte, and the summary stands behind it', async () => {
    const table = bench(talk().records)
    const before = table.view()
    const client = world()
    const result = done(await table.compact(client, { partial: { type: 'from', uuid: 'u2' } }))
    expect(brokenBy(table, result)).toEqual([])
    const after = table.view()
    expect(bare(after.messages.slice(0, 4))).toEqual(bare(before.messages.slice(0, 4)))
    expect(segment(result.records[0])).toEqual({ headUuid: 'u1', anchorUuid: result.boundaryUuid, tailUuid: 'a2' })
    expect(textOf(client.requests[0]?.messages.at(-1)?.content)).toContain('must not be summarized again')
    expect(JSON.stringify(client.requests[0]?.messages)).toContain('The part to be summarized begins here')
  })

  test('what stays is shown to the summarizer only where there is room for it', async () => {
    const table = bench(talk().records)
    const capabilities = { window: 8_000, maxOutput: 1_000 }
    const client = simulatedClient(createSimulator({ script: summarizer() }), { capabilities })
    const result = done(await table.compact(client, { partial: { type: 'from', uuid: 'u2' } }))
    expect(brokenBy(table, result)).toEqual([])
    const asked = JSON.stringify(client.requests.map(({ messages }) => messages.slice(0, -1)))
    expect([asked.includes('first task 7'), asked.includes('npm test')]).toEqual([false, true])
  })

  test('a point outside the context is refused', async () => {
    const table = bench(talk().records)
    expect(await table.compact(offline(), { partial: { type: 'from', uuid: 'nowhere' } })).toMatchObject({
      reason: 'nothing-to-compact',
    })
  })
})

describe('thinking that is bound to what goes', () => {
  const thinker = 'claude-opus-5-5'
  const thought = (words: string) => ({ type: 'thinking', thinking: words, signature: 'c2ln' })
  const records = () => {
    const text = (words: string) => ({ type: 'text', text: words })
    return session()
      .user(long('first task'))
      .assistant([thought('hm'), text(long('one'))], { model: thinker })
      .user(long('second task'))
      .assistant([thought('so'), text('two')], { model: thinker }).records
  }
  const seen = (table: ReturnType<typeof bench>) => JSON.stringify(table.view().messages)

  test('leaves the kept messages with it, as an edit of the same write', async () => {
    const table = bench(records())
    const result = done(await table.compact(offline(), { partial: { type: 'up-to', uuid: 'u2' } }))
    expect(brokenBy(table, result)).toEqual([])
    expect([seen(table).includes('"thinking"'), seen(table).includes('"two"')]).toEqual([false, true])
    expect(result.records.map(({ subtype }) => subtype)).toEqual(['compact_boundary', undefined, 'everlong_edit'])
  })

  test('or no partial compaction is made', async () => {
    const table = bench(records())
    const settings = { boundThinking: 'decline' } as const
    const partial = { type: 'up-to', uuid: 'u2' } as const
    expect(await table.compact(offline(), { partial, settings })).toMatchObject({ reason: 'nothing-to-compact' })
    expect(seen(table)).toContain('"thinking"')
  })
})

test('from and up to every message of a conversation, with a model and without: the API takes what is left', async () => {
  const service = createSimulator({ script: summarizer(), acceptForeignSignatures: true })
  const uuids = bench(talk().records)
    .view()
    .sources.flatMap((source) => source.uuids)
  for (const client of [offline(), simulatedClient(service)]) {
    for (const type of ['from', 'up-to'] as const) {
      for (const uuid of uuids) {
        const table = bench(talk().records)
        const before = JSON.stringify(table.view())
        const result = await table.compact(client, { partial: { type, uuid } })
        if (result.type === 'failed') expect(JSON.stringify(table.view())).toBe(before)
        else expect(brokenBy(table, result)).toEqual([])
        expect([uuid, (await ask(service, bodyOf(ownRequest(table.view())))).status]).toEqual([uuid, 200])
      }
    }
  }
})

test('from and up to any message of any conversation: valid, smaller, and the kept bytes as they were', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1_000),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      fc.constantFrom('from' as const, 'up-to' as const),
      async (seed, at, type) => {
        const table = conversation(seed, { targetBytes: 60_000, interrupted: 0.2 })
        const view = table.view()
        const uuids = view.sources.flatMap((source) => source.uuids)
        const uuid = uuids[Math.floor(at * uuids.length)] ?? ''
        const result = await table.compact(offline(), { partial: { type, uuid } })
        if (result.type === 'failed') {
          expect(['nothing-to-compact', 'no-progress']).toContain(result.reason)
          expect(JSON.stringify(table.view())).toBe(JSON.stringify(view))
          return
        }
        expect(brokenBy(table, result)).toEqual([])
        const pieces = (of: typeof view) => of.sources.flatMap((source) => source.pieces)
        const kept = new Set(result.keptUuids)
        const old = pieces(view).filter((piece) => kept.has(piece.uuid ?? ''))
        expect(pieces(table.view()).filter((piece) => kept.has(piece.uuid ?? ''))).toEqual(old)
      },
    ),
    { numRuns: 25 },
  )
})
