import { expect, test } from 'vitest'
import type { RunningMechanism } from '../mechanisms/mechanism.ts'
import type { Delegated } from '../ports/outcome.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, type WorldOptions } from './testing/world.ts'

const usage = { input: 15_000, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 }
const settings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  reductions: { microCompact: false },
} as const
const plain = plainMechanism('In short.')

function worldWith(compaction: readonly RunningMechanism[], more: WorldOptions['settings'] = {}) {
  const world = createTestWorld({ settings: { ...settings, ...more }, compaction })
  world.session.add({ role: 'user', content: 'Go on.' })
  world.session.record(answerOf('lorem ipsum '.repeat(1_200), { id: 'msg_1', usage }))
  world.session.add({ role: 'user', content: 'And on.' })
  const boundaries = () => world.records().filter(({ subtype }) => subtype === 'compact_boundary')
  return { ...world, boundaries }
}

test('a compaction that is aborted after its summary was written, and before the records are, changes nothing', async () => {
  const stop = new AbortController()
  const late: RunningMechanism = {
    name: 'late',
    run: async (context) => {
      const found = await plain.run(context)
      stop.abort()
      return found
    },
  }
  const { session, boundaries } = worldWith([late])
  const before = session.messages()
  expect(await session.compact({ signal: stop.signal })).toMatchObject({ type: 'failed', reason: 'aborted' })
  expect([session.messages(), boundaries()]).toEqual([before, []])
})

test('a compaction by hand does not wait for the one in the background, which then writes nothing', async () => {
  const started: string[] = []
  /** Ends only when it is stopped, and then still returns its summary. */
  const deaf: RunningMechanism = {
    name: 'deaf',
    run: async (context) => {
      started.push(context.reason)
      const found = await plain.run(context)
      if (context.reason === 'background')
        await new Promise<void>((resolve) => context.signal?.addEventListener('abort', () => resolve(), { once: true }))
      return found
    },
  }
  const { session, boundaries } = worldWith([deaf], { background: { from: 0.5 } })
  await session.prepare()
  session.abandonRequest()
  expect(await session.compact()).toMatchObject({ type: 'compacted' })
  expect(started).toEqual(['background', 'person'])
  expect(boundaries()).toHaveLength(1)
})

test('closing a session ends a compaction that is ready in the background without writing it', async () => {
  const { session, boundaries } = worldWith([plain], { background: { from: 0.5 } })
  await session.prepare()
  await new Promise((resolve) => setTimeout(resolve))
  await session.close()
  expect(boundaries()).toEqual([])
})

test('a request that was prepared when the session is closed does not write the compaction that was ready', async () => {
  const { session, boundaries } = worldWith([plain], { background: { from: 0.5 } })
  await session.prepare()
  await new Promise((resolve) => setTimeout(resolve))
  session.abandonRequest()
  await Promise.allSettled([session.prepare(), session.close()])
  expect(boundaries()).toEqual([])
})

const delegating = (freed: number): RunningMechanism => ({
  name: 'server',
  run: async () => {
    const found: Delegated = {
      ...{ type: 'delegated', mechanism: 'server', why: 'asked', items: [], freed, thinking: 'untouched' },
      request: { contextManagement: { edits: [{ type: 'clear_tool_uses_20250919' }] } },
    } as never
    return found
  },
})

test('what the server is asked to leave out must be a tenth of the context, counted from its size', async () => {
  const { session } = worldWith([delegating(0)])
  const { tokens } = session.explain().size
  const tenth = Math.ceil(tokens / 10)
  const ended = async (freed: number) => worldWith([delegating(freed)]).session.compact()
  expect(await ended(tenth)).toMatchObject({ type: 'compacted', mechanism: 'server', before: tokens })
  const after = (tokens - tenth + 1).toLocaleString('en')
  expect(await ended(tenth - 1)).toMatchObject({
    ...{ type: 'failed', reason: 'no-progress' },
    why: expect.stringContaining(`${tokens.toLocaleString('en')} → ${after} tokens`),
  })
})

test('exactly a tenth is enough, and a token less is not', async () => {
  const rest = worldWith([delegating(0)]).session.explain().size.tokens % 10
  const sized = (freed: number) => {
    const world = createTestWorld({ settings, compaction: [delegating(freed)] })
    world.session.add({ role: 'user', content: 'Go on.' })
    const round = { ...usage, input: usage.input - rest }
    world.session.record(answerOf('lorem ipsum '.repeat(1_200), { id: 'msg_1', usage: round }))
    world.session.add({ role: 'user', content: 'And on.' })
    return world.session
  }
  const { tokens } = sized(0).explain().size
  expect(tokens % 10).toBe(0)
  expect((await sized(tokens / 10).compact()).type).toBe('compacted')
  expect((await sized(tokens / 10 - 1).compact()).type).toBe('failed')
})
