import { describe, expect, test } from 'vitest'
import { memoryMechanism } from '../ladder/memory-mechanism.ts'
import { createWeigher } from '../mechanisms/weigher.ts'
import type { Extraction, SessionMemory } from '../memory/extract.ts'
import { type Notes, parseNotes } from '../memory/notes.ts'
import { noProgress } from '../memory/trigger.ts'
import { noTokens } from '../message/usage.ts'
import type { EngineEvent } from '../ports/events.ts'
import { createStop } from '../ports/stop.ts'
import type { View } from '../transcript/view/fold.ts'
import { MemoryKeeper } from './memory-keeper.ts'
import type { BackgroundContext } from './runtime.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { createTestWorld, scripted } from './testing/world.ts'

const someNotes: Notes = parseNotes('# Current state\n_now_\nAt work.\n')

/** Notes in memory; each extraction ends when the test says so. */
function storeOf(settled: 'settled' | 'still-running' = 'settled') {
  const asked: { readonly seen: string | undefined; readonly end: (extraction: Extraction) => void }[] = []
  const store: SessionMemory = {
    path: 'summary.md',
    notes: () => someNotes,
    template: () => [],
    progress: () => noProgress,
    saveProgress: () => undefined,
    settled: async () => settled,
    extract: ({ messages }) =>
      new Promise((end) => {
        asked.push({ seen: messages.at(-1)?.uuid, end })
      }),
  }
  return { store, asked }
}

/** A view whose newest message is this one. */
function viewOf(uuid: string): View {
  const message = { role: 'user', content: uuid, uuid, origin: 'human' } as const
  const source = { uuids: [uuid], edits: [], pieces: [message], isPinned: false }
  return { messages: [message], sources: [source], edits: [], pins: [], changed: new Set() }
}

function bench(tokens: () => number) {
  const events: EngineEvent[] = []
  const { signal, stop } = createStop()
  const client = scripted(() => '')
  const context: BackgroundContext = {
    view: () => viewOf('newest'),
    tokens,
    effectiveWindow: () => 100_000,
    ledger: () => createTestWorld().runtime.conversation.ledger(),
    weigher: () => createWeigher(),
    client: () => client,
    model: () => client.model,
    countTokens: (text) => text.length,
    emit: (event) => events.push(event),
    addUsage: () => undefined,
    isCompactionOff: () => false,
    requestFor: () => ({ source: 'turn', model: 'm', messages: [] }),
    signal,
  }
  return { context, events, stop }
}

const look = (keeper: MemoryKeeper, context: BackgroundContext, uuid: string) =>
  keeper.afterAnswer({ ...context, view: () => viewOf(uuid) }, 0)
const extracted: Extraction = { type: 'extracted', notes: someNotes, usage: noTokens }
const settle = () => new Promise((resolve) => setTimeout(resolve))

describe('the keeper of the notes', () => {
  test('one at a time: a newer trigger waits, and goes on from what it had seen itself', async () => {
    const { store, asked } = storeOf()
    const keeper = new MemoryKeeper({ store, isResumed: false })
    let tokens = 12_000
    const { context } = bench(() => tokens)
    look(keeper, context, 'one')
    tokens = 20_000
    look(keeper, context, 'two')
    expect(asked.map(({ seen }) => seen)).toEqual(['one'])
    asked[0]?.end(extracted)
    await settle()
    expect(asked.map(({ seen }) => seen)).toEqual(['one', 'two'])
    expect(keeper.progress()).toMatchObject({ tokens: 12_000, lastSeen: 'one' })
    asked[1]?.end(extracted)
    await keeper.idle()
    expect(keeper.progress()).toEqual({ tokens: 20_000, lastSeen: 'two', toolCallsSince: 0, failures: 0 })
  })

  test('a compaction while it runs: what it saw last is out of the conversation, and is not remembered', async () => {
    const { store, asked } = storeOf()
    const keeper = new MemoryKeeper({ store, isResumed: false })
    const { context, events } = bench(() => 12_000)
    look(keeper, context, 'one')
    keeper.afterCompaction(3_000)
    asked[0]?.end(extracted)
    await keeper.idle()
    expect(keeper.progress()).toEqual({ tokens: 3_000, toolCallsSince: 0, failures: 0 })
    expect(events.map(({ type }) => type)).toEqual(['memory-extracted'])
  })

  test('calls that come while it runs count for the next', async () => {
    const { store, asked } = storeOf()
    const keeper = new MemoryKeeper({ store, isResumed: false })
    const { context } = bench(() => 12_000)
    keeper.afterAnswer(context, 4)
    look(keeper, context, 'one')
    keeper.afterAnswer(context, 2)
    asked[0]?.end(extracted)
    await keeper.idle()
    expect(keeper.progress().toolCallsSince).toBe(2)
  })

  test('a store that breaks is a failure, and a session that ends is none', async () => {
    const { store } = storeOf()
    const broken = { ...store, extract: async () => Promise.reject(new Error('the disk is full')) }
    const keeper = new MemoryKeeper({ store: broken, isResumed: false })
    const { context, events, stop } = bench(() => 12_000)
    look(keeper, context, 'one')
    await keeper.idle()
    expect(events).toEqual([{ type: 'memory-failed', reason: 'the disk is full', failures: 1, usage: noTokens }])
    look(keeper, context, 'two')
    stop()
    await keeper.idle()
    expect(events).toHaveLength(1)
  })
})

test('an extraction that still runs after the wait: the next mechanism does it, and the reason is told', async () => {
  const keeper = new MemoryKeeper({ store: storeOf('still-running').store, isResumed: false })
  const world = createTestWorld({ compaction: [memoryMechanism(keeper), plainMechanism('A short summary.')] })
  world.session.add({ role: 'user', content: 'words '.repeat(500) })
  world.session.record({ content: 'Done.' })
  const done = await world.session.compact()
  expect(done.tried.map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)).toEqual([
    'session-memory declined',
    'plain done',
  ])
  expect(world.events.filter(({ type }) => type === 'memory-declined')).toEqual([
    { type: 'memory-declined', reason: 'extraction-running', sessionId: 'session-1' },
  ])
  expect(keeper.state().declined?.why).toBe('extraction-running')
})
