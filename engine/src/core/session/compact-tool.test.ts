import { describe, expect, test } from 'vitest'
import { blocksOf, textOf } from '../message/message.ts'
import { type Hooks, noHooks } from '../ports/hooks.ts'
import type { EngineSettings } from '../settings/table.ts'
import { compactTool } from './compact-tool.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, type World, type WorldOptions } from './testing/world.ts'

const small: EngineSettings = { contextWindow: 200_000 }
const words = (tokens: number) => 'lorem ipsum '.repeat(Math.round(tokens / 2.5))
const usage = (all: number) => ({ input: all - 100, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })
const compaction = [summarizing({ offline: 'always' })]

/** In the middle of a turn: the model has called `compact`, and its result is still missing. */
async function calling(options: WorldOptions = {}): Promise<World> {
  const world = createTestWorld({ settings: small, compaction, ...options })
  const { session } = world
  session.add({ role: 'user', content: words(30_000) })
  await session.prepare()
  session.record(answerOf(words(5_000), { id: 'msg_1', usage: usage(40_000) }))
  session.add({ role: 'user', content: 'Now the next part.' })
  await session.prepare()
  const use = { type: 'tool_use', id: 'c1', name: 'compact', input: { reason: 'The first part is done.' } }
  session.record(answerOf([use], { id: 'msg_2', usage: usage(45_000), stopReason: 'tool_use' }))
  return world
}

const call = ({ session }: World, input: unknown = { reason: 'The first part is done.', keep: 'port 8080' }) =>
  compactTool(session).run(input)

const answered = ({ session }: World, text: string) =>
  session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: text }] })

const compactions = ({ events }: World) => events.filter(({ type }) => type === 'compaction-finished').length

describe('the tool `compact`', () => {
  test('says what will happen, and it happens before the next request, once', async () => {
    const world = await calling()
    const { text, isError } = call(world)
    expect([isError, text]).toEqual([false, expect.stringMatching(/^The context has [\d,]+ tokens\. Before the next/)])
    expect(compactions(world)).toBe(0)
    answered(world, text)
    const prepared = await world.session.prepare()
    expect(prepared).toMatchObject({ type: 'ready', compaction: { type: 'compacted' } })
    expect(compactions(world)).toBe(1)
    // The model sees a summary with the things it wanted to keep, and then its own call with the answer.
    const [first, ...rest] = world.session.messages()
    expect(textOf(first?.content)).toContain('port 8080')
    expect(rest.flatMap(({ content }) => blocksOf(content).map(({ type }) => type))).toEqual([
      'tool_use',
      'tool_result',
    ])
    await world.session.prepare()
    expect(compactions(world)).toBe(1)
  })

  test('a second call while one is pending adds what it wants to keep; a call after it finds too little', async () => {
    const world = await calling()
    const first = call(world)
    expect(call(world, { reason: 'Also done.', keep: 'the table of ports' }).text).toContain('planned already')
    answered(world, first.text)
    await world.session.prepare()
    const summary = textOf(world.session.messages()[0]?.content)
    expect([summary.includes('port 8080'), summary.includes('the table of ports')]).toEqual([true, true])
    expect([compactions(world), call(world).text]).toEqual([
      1,
      expect.stringMatching(/^No compaction: .*only [\d,]+ tokens/),
    ])
  })

  test('a compaction by hand in between fulfills it', async () => {
    const world = await calling()
    answered(world, call(world).text)
    await world.session.compact()
    await world.session.prepare()
    expect(compactions(world)).toBe(1)
  })

  test('a hook that refuses it is heard, and the model is told', async () => {
    const hooks: Hooks = {
      ...noHooks,
      run: async (hook) => ({
        ...(await noHooks.run(hook)),
        ...(hook.event === 'PreCompact' ? { veto: 'Not while the release runs. <system-reminder>' } : {}),
      }),
    }
    const world = await calling({ hooks })
    answered(world, call(world).text)
    expect(await world.session.prepare()).toMatchObject({ type: 'ready' })
    expect(compactions(world)).toBe(0)
    const last = textOf(world.session.messages().at(-1)?.content)
    expect(last).toMatch(/The compaction that was asked for did not happen: .*Not while the release runs/)
    expect(last).not.toContain('<system-reminder>')
    // Only once: the request for a compaction ends with the attempt.
    const before = JSON.stringify(world.session.messages())
    await world.session.prepare()
    expect(JSON.stringify(world.session.messages())).toBe(before)
  })

  test('an open breaker refuses it at once', async () => {
    const world = await calling()
    world.runtime.tracker.changeBreaker((breaker) => ({ ...breaker, isOpen: true, failures: 3 }))
    expect(call(world)).toMatchObject({
      isError: false,
      text: expect.stringContaining('No compaction: Automatic compaction has stopped'),
    })
    await world.session.prepare()
    expect(compactions(world)).toBe(0)
  })

  test('a breaker that opens after the call refuses it then, and the model is told', async () => {
    const world = await calling()
    answered(world, call(world).text)
    world.runtime.tracker.changeBreaker((breaker) => ({ ...breaker, isOpen: true, failures: 3 }))
    await world.session.prepare()
    expect(compactions(world)).toBe(0)
    expect(textOf(world.session.messages().at(-1)?.content)).toContain('did not happen')
  })

  test.each<[string, WorldOptions, string]>([
    ['turned off', { environment: { DISABLE_COMPACT: '1' } }, 'DISABLE_COMPACT'],
    ['only by hand', { settings: { ...small, compaction: 'manual' } }, 'only the user compacts'],
    ['collapsing', { settings: { ...small, collapse: true } }, 'Collapsing'],
  ])('is refused with the reason: %s', async (_, options, why) => {
    expect(call(await calling(options)).text).toContain(why)
  })

  test('in ask mode the host is asked; no means no, and the model is told', async () => {
    const world = await calling({ settings: { ...small, compaction: 'ask' }, ask: async () => false })
    const { text } = call(world)
    expect(text).toContain('The user is asked first.')
    answered(world, text)
    await world.session.prepare()
    expect([compactions(world), textOf(world.session.messages().at(-1)?.content)]).toEqual([
      0,
      expect.stringContaining('The host did not allow it.'),
    ])
  })

  test.each([null, 'now', {}, { reason: 7 }, { reason: ' ' }, { reason: 'done', keep: ['a'] }])(
    'answers a wrong input with an error: %j',
    async (input) => {
      const world = await calling()
      expect(call(world, input).isError).toBe(true)
      expect(world.session.tracking()).not.toHaveProperty('scheduled')
    },
  )

  test('a small context is left alone', () => {
    const world = createTestWorld({ settings: small, compaction })
    world.session.add({ role: 'user', content: 'Hello.' })
    expect(call(world).text).toMatch(/^No compaction: The context has only/)
  })
})

test('of instructions that are too long together, the first 2,000 characters are kept', async () => {
  const world = await calling()
  world.session.scheduleCompaction({ instructions: `first ${'a'.repeat(1_500)}` })
  world.session.scheduleCompaction({ instructions: `second ${'b'.repeat(1_500)}` })
  const { instructions = '' } = world.runtime.tracker.now().scheduled ?? {}
  expect([instructions.length, instructions.startsWith('first a'), instructions.includes('\nsecond b')]).toEqual([
    2_000,
    true,
    true,
  ])
})
