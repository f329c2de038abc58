import { describe, expect, test } from 'vitest'
import type { RunningMechanism } from '../mechanisms/mechanism.ts'
import type { Extraction, MemoryProgress, SessionMemory } from '../memory/extract.ts'
import { type Notes, parseNotes } from '../memory/notes.ts'
import type { ViewMessage } from '../message/message.ts'
import { noTokens } from '../message/usage.ts'
import { defaultSettings } from '../settings/resolve.ts'
import type { View } from '../transcript/view/fold.ts'
import { afterCompaction, afterExtraction, afterFailure, isDue as isNotesDue, MemoryKeeper } from './memory-keeper.ts'
import { summarizeFromNotes } from './summarize.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { createTestWorld, type WorldOptions } from './testing/world.ts'

const fromNotes = (keeper: MemoryKeeper): RunningMechanism => ({
  name: 'session-memory',
  run: (context) => summarizeFromNotes(context, keeper),
})

const someNotes: Notes = parseNotes('# Current state\n_now_\nAt work.\n')

/** Notes in memory. Each extraction ends when the test decides. */
function storeOf(settled: 'settled' | 'still-running' = 'settled') {
  const asked: {
    readonly seen: string | undefined
    readonly redact: unknown
    readonly end: (extraction: Extraction) => void
  }[] = []
  const store: SessionMemory = {
    path: 'summary.md',
    notes: () => someNotes,
    template: () => [],
    progress: () => ({ failures: 0 }),
    saveProgress: () => undefined,
    settled: async () => settled,
    extract: ({ messages, redact }) =>
      new Promise((end) => {
        asked.push({ seen: messages.at(-1)?.uuid, redact, end })
      }),
  }
  return { store, asked }
}

function viewWith(messages: readonly ViewMessage[]): View {
  const sources = messages.map((one) => ({ uuids: [one.uuid ?? ''], edits: [], pieces: [one], isPinned: false }))
  return { messages, sources, edits: [], pins: [], changed: new Set() }
}

/** A view whose newest message is an answer with this uuid. */
function viewOf(uuid: string): View {
  return viewWith([{ role: 'assistant', content: uuid, uuid, origin: 'assistant' }])
}

/** `calls` tool results, and no answer to them yet. */
function inTheMiddle(calls: number): View {
  const ids = Array.from({ length: calls }, (_, at) => `t${at}`)
  const uses = ids.map((id) => ({ type: 'tool_use', id, name: 'Read', input: {} }))
  const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: '' }))
  return viewWith([
    { role: 'assistant', content: uses, uuid: 'calls', origin: 'assistant' },
    { role: 'user', content: results, uuid: 'results', origin: 'tool-result' },
  ])
}

/** The session of a keeper. The test sets the size of its context. */
function bench(tokens: () => number, options: WorldOptions = {}) {
  const world = createTestWorld(options)
  const { conversation, gauge, closing } = world.runtime
  let newest = conversation.view()
  gauge.size = () => ({ tokens: tokens(), reported: 0, estimated: tokens(), source: 'estimate' })
  const redact = (text: string) => text
  const ports = { ...world.runtime.ports, redact }
  const runtime = { ...world.runtime, ports, conversation: { ...conversation, view: () => newest } }
  const look = (keeper: MemoryKeeper, view: View) => {
    newest = view
    keeper.afterAnswer(runtime)
  }
  return { look, events: world.events, stop: closing.stop, redact }
}

const extracted: Extraction = { type: 'extracted', notes: someNotes, usage: noTokens }
const settle = () => new Promise((resolve) => setTimeout(resolve))

describe('the keeper of the notes', () => {
  test('one at a time: a newer trigger waits, and continues from what it had seen itself', async () => {
    const { store, asked } = storeOf()
    const keeper = new MemoryKeeper({ store, isResumed: false })
    let tokens = 12_000
    const { look, redact } = bench(() => tokens)
    look(keeper, viewOf('one'))
    expect(asked[0]?.redact).toBe(redact)
    tokens = 20_000
    look(keeper, viewOf('two'))
    expect(asked.map(({ seen }) => seen)).toEqual(['one'])
    asked[0]?.end(extracted)
    await settle()
    expect(asked.map(({ seen }) => seen)).toEqual(['one', 'two'])
    expect(keeper.progress()).toMatchObject({ tokens: 12_000, lastSeen: 'one' })
    asked[1]?.end(extracted)
    await keeper.idle()
    expect(keeper.progress()).toEqual({ tokens: 20_000, lastSeen: 'two', failures: 0 })
  })

  test('nothing is noted where nothing may compact, because nothing would use it', () => {
    for (const options of [{ environment: { DISABLE_COMPACT: '1' } }, { settings: { compaction: 'off' } } as const]) {
      const { store, asked } = storeOf()
      bench(() => 12_000, options).look(new MemoryKeeper({ store, isResumed: false }), viewOf('one'))
      expect(asked).toEqual([])
    }
  })

  test('failures of an earlier process do not stop this one', () => {
    const { store, asked } = storeOf()
    const keeper = new MemoryKeeper({ store: { ...store, progress: () => ({ failures: 3 }) }, isResumed: true })
    expect(keeper.state().hasStopped).toBe(false)
    bench(() => 12_000).look(keeper, viewOf('one'))
    expect(asked.map(({ seen }) => seen)).toEqual(['one'])
  })

  test('a compaction while it runs: what it saw last is out of the conversation, and is not remembered', async () => {
    const { store, asked } = storeOf()
    const keeper = new MemoryKeeper({ store, isResumed: false })
    let tokens = 12_000
    const { look, events } = bench(() => tokens)
    look(keeper, viewOf('one'))
    tokens = 3_000
    keeper.afterCompaction(tokens)
    asked[0]?.end(extracted)
    await keeper.idle()
    expect(keeper.progress()).toEqual({ tokens: 3_000, failures: 0 })
    expect(events.map(({ type }) => type)).toEqual(['memory-extracted'])
  })

  test('in the middle of the work it waits for three calls that it does not know of', () => {
    const { store, asked } = storeOf()
    const keeper = new MemoryKeeper({ store, isResumed: false })
    const { look } = bench(() => 12_000)
    look(keeper, inTheMiddle(2))
    expect(asked).toEqual([])
    look(keeper, inTheMiddle(3))
    expect(asked).toHaveLength(1)
  })

  test('a store that breaks is a failure, and a session that ends is none', async () => {
    const { store } = storeOf()
    const broken = { ...store, extract: async () => Promise.reject(new Error('the disk is full')) }
    const keeper = new MemoryKeeper({ store: broken, isResumed: false })
    const { look, events, stop } = bench(() => 12_000)
    look(keeper, viewOf('one'))
    await keeper.idle()
    expect(events).toEqual([
      { type: 'memory-failed', reason: 'the disk is full', failures: 1, usage: noTokens, sessionId: 'session-1' },
    ])
    look(keeper, viewOf('two'))
    stop()
    await keeper.idle()
    expect(events).toHaveLength(1)
  })
})

test('an extraction that still runs after the wait: the next mechanism does it, and the reason is told', async () => {
  const keeper = new MemoryKeeper({ store: storeOf('still-running').store, isResumed: false })
  const world = createTestWorld({ compaction: [fromNotes(keeper), plainMechanism('A short summary.')] })
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
  expect(keeper.state().declined?.reason).toBe('extraction-running')
})

const noProgress = { failures: 0 }

describe('the trigger', () => {
  const quiet = { tokens: 9_999, toolCalls: 0, hadToolCalls: false }
  const settings = { ...defaultSettings.sessionMemory, isOn: true }
  const isDue = (progress: MemoryProgress, turn: typeof quiet) => isNotesDue(progress, turn, settings)

  test('notes are off by default', () => {
    expect(isNotesDue(noProgress, { ...quiet, tokens: 90_000 }, defaultSettings.sessionMemory)).toBe(false)
  })

  test('the first extraction comes at 10,000 tokens, the next after 5,000 more', () => {
    expect(isDue(noProgress, quiet)).toBe(false)
    expect(isDue(noProgress, { ...quiet, tokens: 10_000 })).toBe(true)
    const after = afterExtraction({ tokens: 10_000, lastSeen: 'u' })
    expect(isDue(after, { ...quiet, tokens: 14_999 })).toBe(false)
    expect(isDue(after, { ...quiet, tokens: 15_000 })).toBe(true)
  })

  test('in the middle of the work it waits for three tool calls', () => {
    const turn = { tokens: 20_000, hadToolCalls: true }
    expect(isDue(noProgress, { ...turn, toolCalls: 2 })).toBe(false)
    expect(isDue(noProgress, { ...turn, toolCalls: 3 })).toBe(true)
  })

  test('three failures in a row end it, and a compaction starts the count of tokens anew', () => {
    const turn = { tokens: 90_000, toolCalls: 0, hadToolCalls: false }
    expect(isDue(afterFailure(afterFailure(noProgress)), turn)).toBe(true)
    expect(isDue(afterFailure(afterFailure(afterFailure(noProgress))), turn)).toBe(false)
    const compacted = afterCompaction(afterExtraction({ tokens: 90_000, lastSeen: 'u' }), 20_000)
    expect(compacted).toEqual({ tokens: 20_000, failures: 0 })
    expect(isDue(compacted, { tokens: 24_000, toolCalls: 0, hadToolCalls: false })).toBe(false)
    expect(isDue(compacted, { tokens: 25_000, toolCalls: 0, hadToolCalls: false })).toBe(true)
  })
})
