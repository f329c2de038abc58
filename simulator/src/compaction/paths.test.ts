import { noOutcome, objectAt, textOf } from 'everlong'
import { describe, expect, test } from 'vitest'
import { createSimulator } from '../simulator.ts'
import { summariser } from '../summary/summariser.ts'
import { type ClientOptions, simulatedClient } from '../testing/client.ts'
import { bare, brokenBy, conversation, done, ownRequest } from '../testing/compaction.ts'

function world(options: ClientOptions = {}) {
  const simulator = createSimulator({ script: summariser(), acceptForeignSignatures: true })
  return { simulator, model: simulatedClient(simulator, options) }
}

const expectWhole = (...seen: Parameters<typeof brokenBy>) => expect(brokenBy(...seen)).toEqual([])

describe('each path alone', () => {
  test('sharing the cache: the conversation’s own request and one message more, all of it read from the cache', async () => {
    const { model, simulator } = world()
    const table = conversation()
    const own = ownRequest(table.view())
    await model.send(own)
    const first = simulator.log.entries[0]
    const result = done(await table.compact(model, { conversation: own }))
    expect(result.mechanism).toBe('cache-sharing')
    expectWhole(table, result)
    const asked = model.requests[1]
    expect(model.requests).toHaveLength(2)
    expect({ ...asked, messages: [], options: {} }).toEqual({ ...own, source: 'compact', messages: [], options: {} })
    expect(bare(asked?.messages ?? []).slice(0, -2)).toEqual(bare(own.messages).slice(0, -1))
    const written = first?.samplings[0]?.write5m ?? 0
    expect(written).toBeGreaterThan(10_000)
    expect(result.usage.cacheRead).toBe(written)
    expect(result.usage.cacheWrite).toBe(0)
    expect(result.hitRate).toBeGreaterThan(0.9)
  })

  test('directly, where the summariser is another model: a system prompt of its own, no tools, a limit', async () => {
    const { model } = world()
    const table = conversation()
    const settings = { model: 'claude-haiku-4-5' }
    const result = done(await table.compact(model, { conversation: ownRequest(table.view()), settings }))
    expectWhole(table, result)
    const { messages: _, ...asked } = model.requests[0] ?? { messages: [] }
    expect(asked).toEqual({
      source: 'compact',
      model: 'claude-haiku-4-5',
      system: expect.stringContaining('You write summaries'),
      maxTokens: 20_000,
    })
    expect(result.tried.map(({ mechanism, outcome }) => [mechanism, outcome])).toEqual([['direct', 'done']])
  })

  test('offline, where the client is no model', async () => {
    const { model } = world({ provider: 'offline' })
    const table = conversation()
    const result = done(await table.compact(model))
    expectWhole(table, result)
    expect([result.mechanism, model.requests.length]).toEqual(['offline', 0])
  })

  test('from a hook, which replaces the summary', async () => {
    const { model } = world()
    const table = conversation()
    const hooks = { run: async () => ({ ...noOutcome, summary: 'The invoice is sorted, and the tests pass.' }) }
    const result = done(await table.compact(model, { hooks }))
    expectWhole(table, result)
    expect([result.mechanism, model.requests.length]).toEqual(['hook', 0])
    expect(textOf(table.view().messages[0]?.content)).toContain('The invoice is sorted, and the tests pass.')
  })
})

test('the boundary says what was done, and ours is in a field of its own', async () => {
  const { model } = world()
  const table = conversation()
  const entries = table.view().sources.flatMap(({ pieces }) => pieces).length
  const result = done(await table.compact(model, { instructions: 'keep the schema', turnId: 'turn-1' }))
  const { compactMetadata, everlong, ...boundary } = result.records[0] ?? {}
  expect(boundary).toEqual({
    parentUuid: null,
    logicalParentUuid: expect.any(String),
    isSidechain: false,
    sessionId: 'bench',
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    isMeta: false,
    level: 'info',
    timestamp: expect.stringMatching(/^2026-11-02T/),
    uuid: result.boundaryUuid,
  })
  expect(compactMetadata).toEqual({
    trigger: 'manual',
    preTokens: result.size.before,
    postTokens: result.size.after,
    durationMs: result.durationMs,
    messagesSummarized: entries,
    cumulativeDroppedTokens: result.size.before - result.size.after,
    userContext: 'keep the schema',
  })
  expect(Object.keys(objectAt(everlong, 'compaction') ?? {}).toSorted()).toEqual(
    ['chain', 'cost', 'fidelity', 'ledger', 'mechanism', 'model', 'reason', 'tokens', 'tried', 'usage'].toSorted(),
  )
})
