// A session that pauses between slices of its work writes the same as one that does not, and changes during a pause are safe.
import { expect, test } from 'vitest'
import { createStop } from '../ports/safely.ts'
import { sliceLength } from '../text/slices.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type World, type WorldOptions } from './testing/world.ts'

const summary = '<summary>\n1. Primary request and intent:\n- Look at every file.\n9. Next step:\n- Go on.\n</summary>'
const turns = 12

/** About three slices of text. */
function filled(options: WorldOptions = {}): World & { readonly requests: () => number } {
  const model = scripted(() => summary)
  const world = createTestWorld({
    settings: { autoCompactAt: 40_000, reductions: { microCompact: false } },
    compaction: [summarizing({ offline: 'always' })],
    model,
    ...options,
  })
  for (let turn = 0; turn < turns; turn++) {
    const line = `export const value${turn} = parse(order, '${turn}')\n`
    const content = line.repeat(Math.ceil((3 * sliceLength) / turns / line.length))
    world.session.add({ role: 'user', content: `Never restart db-${turn}. Look at file ${turn}.` })
    const use = { type: 'tool_use', id: `t${turn}`, name: 'Read', input: { file_path: `/r/${turn}.ts` } }
    world.session.record(answerOf([use], { id: `m${turn}` }))
    world.session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${turn}`, content }] })
    world.session.record(answerOf(`Done with file ${turn}.`, { id: `n${turn}` }))
  }
  world.session.add({ role: 'user', content: 'And now?' })
  return { ...world, requests: () => model.requests.length }
}

/** Calls `then` in each pause with its number. */
function pausing(then: (pause: number) => void = () => undefined) {
  let pauses = 0
  return {
    count: () => pauses,
    pause: () =>
      new Promise<void>((resolve) => {
        setImmediate(() => {
          then(++pauses)
          resolve()
        })
      }),
  }
}

test.each([
  ['with a model', {}],
  ['without a model', { model: { ...scripted(() => ''), provider: 'offline' } }],
])('%s, requests and records are the same to the byte with and without pauses', async (_, options) => {
  const lives = []
  let pauses = 0
  for (const pacing of [undefined, pausing()]) {
    const world = filled({ ...options, ...(pacing ? { pause: pacing.pause } : {}) })
    const prepared = await world.session.prepare()
    expect(prepared.compaction?.type).toBe('compacted')
    world.session.record(answerOf('Done.', { id: 'last' }))
    await world.session.compact()
    lives.push(JSON.stringify([prepared, world.records(), world.events]))
    pauses = pacing?.count() ?? 0
  }
  expect(lives[1]).toBe(lives[0])
  // The messages are weighed in three slices, and the ledger is read in three.
  expect(pauses).toBeGreaterThan(10)
})

test('a prepare whose messages are weighed pauses as often as a short one: nothing is read twice', async () => {
  const pacing = pausing()
  const { session } = filled({ pause: pacing.pause, settings: { autoCompactAt: 150_000 } })
  const counted = async () => {
    const before = pacing.count()
    expect((await session.prepare()).compaction).toBeUndefined()
    return pacing.count() - before
  }
  const first = await counted()
  const second = await counted()
  // At the start, before a compaction is considered, and before the request is built.
  expect(second).toBe(3)
  expect(first).toBe(second + 3)
  expect(await counted()).toBe(second)
})

async function pausesOfPrepare(): Promise<number> {
  const pacing = pausing()
  await filled({ pause: pacing.pause }).session.prepare()
  return pacing.count()
}

test('a message that is added in any pause comes after the summary, once and whole', async () => {
  const all = await pausesOfPrepare()
  expect(all).toBeGreaterThan(5)
  // In the first pause nothing has been done yet, so that message belongs to this request and its summary quotes it.
  for (let nth = 2; nth <= all; nth++) {
    const pacing = pausing((pause) => {
      if (pause === nth) world.session.add({ role: 'user', content: 'Stop at file 7.' })
    })
    const world: World = filled({ pause: pacing.pause })
    await world.session.prepare()
    world.session.record(answerOf('Done.', { id: 'last' }))
    // The summary may quote waiting messages.
    const messages = world.session.messages().filter(({ origin }) => origin !== 'summary')
    const texts = messages.map(({ content }) => JSON.stringify(content))
    expect(texts.filter((text) => text.includes('Stop at file 7.'))).toHaveLength(1)
    expect(texts.at(-1)).toContain('Stop at file 7.')
    expect(world.session.messages()[0]?.origin).toBe('summary')
  }
})

test('an abort in any pause leaves the conversation as it was, or compacted; nothing is half done', async () => {
  const all = await pausesOfPrepare()
  for (let nth = 1; nth <= all; nth++) {
    const { stop, signal } = createStop()
    const pacing = pausing((pause) => void (pause === nth && stop()))
    const world = filled({ pause: pacing.pause })
    const before = world.session.messages()
    const prepared = await world.session.prepare({ signal })
    expect(prepared).toMatchObject({ type: 'blocked', reason: 'aborted' })
    const after = world.session.messages()
    if (prepared.compaction) expect(after[0]?.origin).toBe('summary')
    else expect(after).toEqual(before)
    expect((await world.session.prepare()).type).toBe('ready')
  }
})

test('a close in any pause waits for the work, and writes nothing after it', async () => {
  const all = await pausesOfPrepare()
  for (let nth = 1; nth <= all; nth++) {
    let closing: Promise<void> | undefined
    const pacing = pausing((pause) => {
      if (pause === nth) closing = world.session.close()
    })
    const world: World = filled({ pause: pacing.pause })
    await world.session.prepare()
    await closing
    const written = world.records().length
    await new Promise((resolve) => setTimeout(resolve))
    expect(world.records()).toHaveLength(written)
  }
})
