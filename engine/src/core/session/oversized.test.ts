import { expect, test } from 'vitest'
import { blocksOf, textOf } from '../message/message.ts'
import { shapeOf } from '../message/shape.ts'
import type { ModelFailure } from '../ports/model.ts'
import { checkRequest } from '../request/check-request.ts'
import type { EngineSettings } from '../settings/table.ts'
import { readEdit } from '../transcript/format/edits.ts'
import { nothingLearned } from './context-note.ts'
import { shortenUnseen } from './oversized.ts'
import { summarizing } from './testing/mechanisms.ts'
import { answerOf, createTestWorld, scripted, type World, type WorldOptions } from './testing/world.ts'

/** Window 40,000, 4,000 for output: effective 36,000, threshold 23,000, target 13,800, blocking 33,000. */
const small: EngineSettings = {
  contextWindow: 40_000,
  maxOutputTokens: 4_000,
  autoCompactAt: 23_000,
  blockingLimit: 33_000,
}
const words = (tokens: number) => 'lorem ipsum '.repeat(Math.round(tokens / 2.5))
const usage = (all: number) => ({ input: all - 100, output: 100, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 })
const offline = summarizing({ offline: 'always' })

/** A session with a call at a size of `tokens`, and its result. */
function called(tokens: number, result: string, options: WorldOptions = {}): World {
  const world = createTestWorld({ settings: small, compaction: [offline], ...options })
  world.session.add({ role: 'user', content: 'Find the error code at the end of the log.' })
  world.session.record(answerOf(words(tokens / 2), { id: 'msg_1' }))
  world.session.add({ role: 'user', content: 'Go on.', origin: 'meta' })
  const call = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'cat log' } }
  world.session.record(answerOf([call], { id: 'msg_2', usage: usage(tokens) }))
  world.session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: result }] })
  return world
}

async function readyIn({ session }: World) {
  const prepared = await session.prepare()
  if (prepared.type === 'blocked') throw new Error(prepared.why)
  expect(checkRequest(prepared.messages)).toEqual([])
  return { prepared, sent: prepared.messages.map(({ content }) => textOf(content)).join('\n') }
}

test('a result larger than the window is sent with its head, its tail and how to read the rest', async () => {
  const world = called(3_000, `BEGIN ${words(100_000)} ERROR-77`, {
    settings: { ...small, recall: true },
  })
  const { prepared, sent } = await readyIn(world)
  expect(prepared.compaction).toBeUndefined()
  expect(sent).toContain('BEGIN lorem')
  expect(sent).toContain('ERROR-77')
  expect(sent).toMatch(/This result has \d{6} characters/)
  expect(sent).toContain('recall({"read":"toolu_1"})')
  expect(world.session.explain().state).not.toBe('blocking')
})

test('without the recall tool the model is told to ask for a part', async () => {
  const { sent } = await readyIn(called(3_000, words(100_000)))
  expect(sent).toContain('ask for a part of it')
})

test('a compaction keeps the result that is yet to be seen, and the call it answers', async () => {
  const calibrations = { 'claude-opus-4-5': { factor: 1.15 } }
  const learned = { ...nothingLearned(), calibrations }
  const world = called(20_500, `${words(2_000)} ERROR-77`, { learned })
  const { prepared, sent } = await readyIn(world)
  expect(prepared.compaction).toMatchObject({ mechanism: 'offline' })
  expect(shapeOf(world.session.messages())).toBe('u a[tu] u[tr]')
  expect(sent).toContain('ERROR-77')
})

test('so does one by hand, and one after a refused prompt', async () => {
  const byHand = called(20_500, 'ERROR-77')
  expect(await byHand.session.compact()).toMatchObject({ type: 'compacted' })
  expect(JSON.stringify(byHand.session.messages())).toContain('ERROR-77')
  const refused: ModelFailure = { type: 'failed', reason: 'overflow', message: 'prompt is too long', tries: 1 }
  const world = called(20_500, `${words(30_000)} ERROR-77`, { settings: { ...small, compaction: 'reactive' } })
  const recovery = await world.session.recover(refused)
  expect(recovery).toMatchObject({ type: 'recovered' })
  expect(recovery.steps.map(({ mechanism, outcome }) => `${mechanism} ${outcome}`)).toContain('shorten-results done')
  expect(JSON.stringify(world.session.messages())).toContain('ERROR-77')
})

test('a compaction mechanism of the host’s own keeps them too', async () => {
  const world = called(20_500, 'ERROR-77', { compaction: [offline] })
  const [first] = world.session.messages()
  expect(await world.session.compact({ from: String(first?.uuid) })).toMatchObject({ type: 'failed' })
  expect(await world.session.compact()).toMatchObject({ type: 'compacted' })
  expect(shapeOf(world.session.messages())).toBe('u a[tu] u[tr]')
})

test('a compaction from some message on is declined while the newest results are unseen', async () => {
  const world = called(20_500, 'ERROR-77')
  const [first] = world.session.messages()
  const before = world.session.messages()
  const result = await world.session.compact({ from: String(first?.uuid) })
  expect(result).toMatchObject({ type: 'failed', why: expect.stringContaining('has not seen') })
  expect(world.session.messages()).toEqual(before)
})

test('undo brings the whole result back', async () => {
  const world = called(3_000, words(100_000))
  const before = world.session.messages()
  await readyIn(world)
  expect(await world.session.undo()).toMatchObject({ type: 'undone' })
  expect(world.session.messages()).toEqual(before)
})

test('compactions that follow one another after hardly an answer open the breaker, and it is said', async () => {
  const model = scripted(() => '<summary>\n1. Primary request and intent:\n- Read the log.\n</summary>')
  const world = createTestWorld({ settings: small, compaction: [summarizing()], model })
  world.session.add({ role: 'user', content: 'Read the log.' })
  const notices: string[] = []
  for (let at = 0; at < 8; at++) {
    world.turn(1_000)
    world.session.record(answerOf(words(6_000), { id: `msg_${at}`, usage: usage(24_000) }))
    world.session.add({ role: 'user', content: 'Go on.', origin: 'meta' })
    notices.push(...(await world.session.prepare()).notices)
  }
  expect(world.events.filter(({ type }) => type === 'compaction-finished')).toHaveLength(4)
  expect(world.events.filter(({ type }) => type === 'breaker-tripped')).toEqual([
    { type: 'breaker-tripped', failures: 3, sessionId: 'session-1' },
  ])
  expect(notices).toEqual([expect.stringContaining('Automatic compaction has stopped')])
  world.session.record(answerOf('Done.', { id: 'last' }))
  world.session.add({ role: 'user', content: 'I am here now.' })
  expect(world.session.tracking().breaker.isOpen).toBe(false)
})

test('a pinned result stays whole, though no answer has seen it', async () => {
  const result = 'lorem ipsum '.repeat(6_000)
  const sizes: number[] = []
  for (const isPinned of [false, true]) {
    const world = createTestWorld({ settings: { contextWindow: 40_000, maxOutputTokens: 4_000 } })
    world.session.add({ role: 'user', content: 'Find the error code.' })
    world.session.record(answerOf([{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'cat log' } }]))
    world.session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: result }] })
    const uuid = world.runtime.conversation.view().sources.at(-1)?.uuids.at(-1) ?? ''
    if (isPinned) expect(await world.session.pin(uuid)).not.toMatchObject({ type: 'declined' })
    const tried = shortenUnseen(world.runtime)
    // Reports an action only if it did something.
    expect(tried).toHaveLength(isPinned ? 0 : 1)
    const [block] = blocksOf(world.runtime.conversation.view().messages.at(-1)?.content)
    sizes.push(textOf(block?.content).length)
  }
  expect(sizes[0]).toBeLessThan(result.length)
  expect(sizes[1]).toBe(result.length)
})

/** Entries with these numbers of images, some of them pinned. Returns how many images each has in the next request. */
async function imagesLeft(counts: readonly number[], pinned: readonly number[] = []): Promise<readonly number[]> {
  // The limit of 100 images is the model’s, whatever the window.
  const { session, runtime } = createTestWorld({ settings: { contextWindow: 1_000_000 } })
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
  for (const [at, count] of counts.entries()) {
    session.add({ role: 'user', content: [{ type: 'text', text: `${at}` }, ...Array(count).fill(image)] })
    const uuid = runtime.conversation.view().sources.at(-1)?.uuids.at(-1) ?? ''
    if (pinned.includes(at)) expect(await session.pin(uuid)).not.toMatchObject({ type: 'declined' })
    session.record(answerOf('Seen.', { id: `msg_${at}` }))
  }
  session.add({ role: 'user', content: 'Go on.' })
  const prepared = await session.prepare()
  if (prepared.type === 'blocked') throw new Error(prepared.why)
  const sent = prepared.messages.filter(({ role }) => role === 'user').slice(0, counts.length)
  return sent.map(({ content }) => blocksOf(content).filter(({ type }) => type === 'image').length)
}

test('images leave oldest first, well below the limit, and never while they keep to it', async () => {
  expect(await imagesLeft([30, 30, 40])).toEqual([30, 30, 40])
  expect(await imagesLeft([10, 20, 30, 41])).toEqual([0, 0, 30, 41])
})

test('what images free is all that left, also where the newest entry keeps some', async () => {
  const freedBy = async (counts: readonly number[]) => {
    const { session, records } = createTestWorld({ settings: { contextWindow: 1_000_000 } })
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
    for (const [at, count] of counts.entries()) {
      session.add({ role: 'user', content: [{ type: 'text', text: `${at}` }, ...Array(count).fill(image)] })
      session.record(answerOf('Seen.', { id: `msg_${at}` }))
    }
    session.add({ role: 'user', content: 'Go on.' })
    await session.prepare()
    return records().flatMap((record) => {
      const edit = readEdit(record)
      return edit?.type === 'clear-media' ? [edit.freed ?? 0] : []
    })
  }
  const [alone = 0] = await freedBy([110])
  const [both = 0] = await freedBy([60, 110])
  // 10 and 70 images. Each leaves a word or two.
  expect(alone).toBeGreaterThan(0)
  expect(both / alone).toBeGreaterThan(6)
  expect(both / alone).toBeLessThan(8)
})

test('pinned images count, stay, and leave the newest entry only the rest', async () => {
  expect(await imagesLeft([30, 30, 41], [0])).toEqual([30, 0, 41])
  expect(await imagesLeft([30, 10, 90], [0])).toEqual([30, 0, 70])
  expect(await imagesLeft([110, 5], [0])).toEqual([110, 0])
})
