import type { Message } from 'everlong'
import { anthropic } from 'everlong/anthropic'
import { blocksOf, editRecord, objectAt, shapeOf, stringAt, textOf } from 'everlong/internal'
import { type Hooks, noOutcome } from 'everlong/internal/compaction'
import { session } from 'everlong/internal/testing'
import { describe, expect, test } from 'vitest'
import { startServer } from '../server.ts'
import { createSimulator } from '../simulator.ts'
import { summarizer } from '../summary/summarizer.ts'
import { type ClientOptions, simulatedClient } from '../testing/client.ts'
import { bench, brokenBy, conversation, done, ownRequest } from '../testing/compaction.ts'

function world(options: ClientOptions = {}) {
  const simulator = createSimulator({ script: summarizer(), acceptForeignSignatures: true })
  return { simulator, model: simulatedClient(simulator, options) }
}

const name = 'claude-sonnet-4-5'

/** As a client without automatic caching has it. */
function withMark(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1)
  const content = blocksOf(last?.content)
  const marked = content.map((block, at) =>
    at === content.length - 1 ? { ...block, cache_control: { type: 'ephemeral' } } : block,
  )
  return last ? [...messages.slice(0, -1), { ...last, content: marked }] : messages
}

const expectWhole = (...seen: Parameters<typeof brokenBy>) => expect(brokenBy(...seen)).toEqual([])

describe('each path alone', () => {
  test.each([
    ['marks of its own', {}, { isWritten: false }],
    ['automatic caching', { cache_control: { type: 'ephemeral' } }, { isWritten: true }],
    ['automatic caching for an hour', { cache_control: { type: 'ephemeral', ttl: '1h' } }, { isWritten: true }],
  ] as const)(
    'sharing the cache of a request with %s, over HTTP: byte for byte, and one message more',
    async (_, options, { isWritten }) => {
      const served = await startServer({ script: summarizer(), acceptForeignSignatures: true })
      try {
        const bodies: string[] = []
        const fetching: typeof fetch = (input, init) => {
          bodies.push(String(init?.body))
          return fetch(input, init)
        }
        const model = anthropic({ model: name, apiKey: 'none', baseURL: served.url, fetch: fetching })
        const table = conversation()
        const plain = ownRequest(table.view(), { options, ...(isWritten ? { system: 'You are careful.' } : {}) })
        const own = isWritten ? plain : { ...plain, messages: withMark(plain.messages) }
        await model.send(own)
        const result = done(await table.compact(model, { conversation: own }))
        expect(result.mechanism).toBe('cache-sharing')
        expectWhole(table, result)
        const [first = '', second = ''] = bodies
        expect(bodies).toHaveLength(2)
        const asked = JSON.parse(second) as { readonly messages: readonly unknown[] }
        expect(JSON.stringify({ ...asked, messages: asked.messages.slice(0, -1) })).toBe(first)
        const [sent, shared] = served.simulator.log.entries.map(({ samplings }) => samplings[0])
        const written = (sent?.write5m ?? 0) + (sent?.write1h ?? 0)
        expect(written).toBeGreaterThan(10_000)
        expect(shared?.read).toBe(written)
        expect(result.usage).toMatchObject({ cacheRead: written })
        // The option marks whatever is last, and that is our question.
        expect(result.usage.cacheWrite > 0).toBe(isWritten)
        expect(result.usage.cacheWrite).toBeLessThan(2_500)
        expect(result.hitRate).toBeGreaterThan(0.9)
      } finally {
        await served.close()
      }
    },
  )

  test('in the middle of a turn: results wait for an answer, and the question comes behind them', async () => {
    const { model, simulator } = world()
    const talk = session().user('read them all')
    for (const at of [1, 2, 3, 4]) {
      talk.toolUse(`t${at}`, 'Read', { file_path: `src/part-${at}.ts` })
      talk.toolResult(
        `t${at}`,
        Array.from({ length: 400 }, (_, line) => `export const v${at}_${line} = ${line}`).join('\n'),
      )
    }
    const table = bench(talk.records)
    const own = ownRequest(table.view())
    await model.send(own)
    const result = done(await table.compact(model, { conversation: own, trigger: 'auto' }))
    expect(result.mechanism).toBe('cache-sharing')
    expectWhole(table, result)
    expect(shapeOf(model.requests[1]?.messages ?? [])).toBe(`${shapeOf(own.messages)} u`)
    expect(result.usage.cacheRead).toBe(simulator.log.entries[0]?.samplings[0]?.write5m)
  })

  test('directly, where the summarizer is another model: a system prompt of its own, no tools, a limit', async () => {
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
    preTokens: result.before,
    postTokens: result.after,
    durationMs: result.durationMs,
    messagesSummarized: entries,
    cumulativeDroppedTokens: result.before - result.after,
    userContext: 'keep the schema',
  })
  expect(Object.keys(objectAt(everlong, 'compaction') ?? {}).toSorted()).toEqual(
    [
      'attempts',
      'chain',
      'composition',
      'cost',
      'fidelity',
      'freed',
      'last',
      'ledger',
      'mechanism',
      'model',
      'reason',
      'size',
      'tokens',
      'tried',
      'turns',
      'usage',
    ].toSorted(),
  )
})

test('restored context and what hooks say stand after the summary, the latest request comes last, and all can be undone', async () => {
  const { model } = world()
  const table = conversation()
  const before = JSON.stringify(table.view().messages)
  const pieces = [
    { kind: 'files', title: 'File a.ts', text: 'export const a = 1', tokens: 12, path: 'a.ts' },
    { kind: 'todos', title: 'To-do list', text: '- [ ] sort', tokens: 8 },
  ]
  const notRestored = [{ kind: 'files', what: 'b.ts', why: 'it has 90,000 tokens' }]
  const hooks: Hooks = {
    run: async ({ event }) => (event === 'SessionStart' ? { ...noOutcome, context: ['branch: main'] } : noOutcome),
  }
  const result = done(await table.compact(model, { hooks, restore: async () => ({ pieces, notRestored, tokens: 20 }) }))
  expectWhole(table, result)
  expect(result.records.map(({ type, attachment }) => stringAt(attachment, 'type') ?? type)).toEqual([
    'system',
    'user',
    'files',
    'todos',
    'not_restored',
    'hook_additional_context',
    'user',
  ])
  const [only] = table.view().messages
  const words = textOf(only?.content)
  const human = table.records.findLast((record) => record.type === 'user' && record.promptSource !== undefined)
  expect(words.indexOf('export const a = 1')).toBeGreaterThan(words.indexOf('Summary:'))
  expect(words).toContain('- b.ts: it has 90,000 tokens')
  const latest = words.slice(words.lastIndexOf('The user’s latest request, verbatim ('))
  expect(latest).not.toContain('</system-reminder>')
  if (human) expect(latest).toContain(textOf(objectAt(human, 'message')?.content).trim())
  expect(table.events.filter(({ type }) => type.startsWith('file-'))).toEqual([
    { type: 'file-restored', path: 'a.ts', tokens: 12 },
    { type: 'file-not-restored', path: 'b.ts', reason: 'it has 90,000 tokens' },
  ])
  const place = { uuid: 'undo', parentUuid: String(result.records.at(-1)?.uuid), timestamp: '2026-11-03T00:00:00.000Z' }
  table.add([editRecord({ type: 'undo', uuid: result.boundaryUuid }, { ...place, sessionId: 'bench' })])
  expect(JSON.stringify(table.view().messages)).toBe(before)
})
