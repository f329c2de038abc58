import fc from 'fast-check'
import { expect, test } from 'vitest'
import { StoreError } from '../ports/session-store.ts'
import { foldEntries } from '../transcript/view/fold.ts'
import { plainMechanism } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, memoryStore, scripted, type World } from './testing/world.ts'

const step = fc.constantFrom(
  'turn',
  'turn',
  'turn',
  'tool',
  'compact',
  'compact-typing',
  'undo',
  'snip',
  'pin',
  'unpin',
  'rewind',
)

async function take(world: World, what: string, at: number): Promise<void> {
  const { session } = world
  if (what === 'turn') {
    session.add({ role: 'user', content: `Question ${at} ${'word '.repeat(50)}` })
    session.record(answerOf(`Answer ${at} ${'word '.repeat(50)}`, { id: `m${at}` }))
  } else if (what === 'tool') {
    session.add({ role: 'user', content: `Look ${at}` })
    session.record(
      answerOf([{ type: 'tool_use', id: `t${at}`, name: 'Read', input: { file_path: 'a' } }], { id: `m${at}` }),
    )
    session.add({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: 'text '.repeat(200) }],
    })
  } else if (what === 'compact') await session.compact()
  else if (what === 'compact-typing') {
    const running = session.compact()
    session.add({ role: 'user', content: `Typed ${at}` })
    await running
  } else if (what === 'undo') await session.undo()
  else if (what === 'unpin') {
    const [uuid] = world.runtime.conversation.view().pins
    if (uuid !== undefined) await session.unpin(uuid)
  } else if (what === 'rewind') {
    const uuid = session.messages().at(-3)?.uuid
    if (uuid !== undefined) await session.rewind(uuid)
  } else {
    const uuid = session.messages().at(Math.floor(session.messages().length / 2))?.uuid
    if (uuid !== undefined) await (what === 'pin' ? session.pin(uuid) : session.snip({ from: uuid, to: uuid }))
  }
}

test('whatever is done, the view held in memory is the one that the whole transcript folds to', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const world = createTestWorld({ compaction: [plainMechanism('A short summary.')] })
      for (const [at, what] of steps.entries()) {
        await take(world, what, at)
        const whole = foldEntries(
          world.records().map((record) => ({ record, position: { line: 0, offset: 0, length: 0, nth: 0 } })),
        )
        expect(world.session.messages()).toEqual(whole.messages)
        expect(world.runtime.conversation.view().pins).toEqual(whole.pins)
      }
    }),
    { numRuns: 60 },
  )
})

test.each(['unpin', 'rewind'])(
  'a pin that is gone after %s stays gone, however many compactions follow',
  async (how) => {
    const world = createTestWorld({ compaction: [plainMechanism('A short summary.')] })
    await take(world, 'turn', 0)
    await take(world, 'pin', 0)
    expect(world.runtime.conversation.view().pins).toHaveLength(1)
    if (how === 'rewind') await take(world, 'turn', 1)
    await take(world, how, 2)
    for (let round = 1; round < 5; round++) {
      for (let at = 0; at < 4; at++) await take(world, 'turn', round * 10 + at)
      await take(world, 'compact', 0)
      expect(world.runtime.conversation.view().pins).toEqual([])
    }
  },
)

test('a failure of the store is reported until something is stored, or something else was appended', async () => {
  const memory = memoryStore()
  let isAway = false
  const flush = async () => (isAway ? { type: 'store-failed' as const, why: 'Away.' } : { type: 'stored' as const })
  const { conversation } = createTestWorld({ store: { ...memory, flush } }).runtime
  const append = () => conversation.append([{ type: 'user', message: { role: 'user', content: 'Hi.' } }])
  append()
  isAway = true
  await expect(conversation.stored()).rejects.toThrow(StoreError)
  expect(conversation.isFailureReported()).toBe(true)
  append()
  expect(conversation.isFailureReported()).toBe(false)
  await expect(conversation.stored()).rejects.toThrow(StoreError)
  isAway = false
  await conversation.stored()
  expect(conversation.isFailureReported()).toBe(false)
})

test('what is held in memory is bounded by the window, however long the conversation', async () => {
  const world = createTestWorld({ compaction: [plainMechanism('A short summary.')] })
  const held: number[] = []
  for (let round = 0; round < 50; round++) {
    for (let at = 0; at < 10; at++) await take(world, 'turn', round * 10 + at)
    await take(world, 'compact', 0)
    held.push(world.runtime.conversation.entryCount())
  }
  expect(Math.max(...held.slice(2))).toBe(held[2])
  expect(world.records().length).toBeGreaterThan(1_000)
})

test('a request after a compaction brings nothing old back into memory', async () => {
  const model = scripted(() => '', { capabilities: { promptCache: true } })
  const world = createTestWorld({ model, compaction: [plainMechanism('A short summary.')] })
  for (let round = 0; round < 4; round++) {
    for (let at = 0; at < 10; at++) await take(world, 'turn', round * 10 + at)
    await take(world, 'compact', 0)
  }
  const held = world.runtime.conversation.entryCount()
  world.session.add({ role: 'user', content: 'And now?' })
  expect((await world.session.prepare()).type).toBe('ready')
  expect(world.runtime.conversation.entryCount()).toBeLessThan(held + 5)
})
