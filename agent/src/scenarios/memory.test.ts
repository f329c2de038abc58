import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { noteTaker, text } from '@everlong/simulator'
import { offline } from 'everlong'
import { checkRequest, isObject, type JsonObject } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fill, prose } from '../testing/history.ts'
import { type Stage, type StageOptions, setSmallStage } from '../testing/stage.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-memory-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Notes that are thick enough to take the place of a conversation. */
const learnings = Array.from({ length: 20 }, (_, at) => `- ${prose(80, at)}`)

const stageWith = (options: StageOptions = {}) =>
  setSmallStage({
    notes: noteTaker({ learnings }),
    ...options,
    engine: {
      files: { read: async () => ({ type: 'missing' }) },
      ...options.engine,
      settings: { sessionMemory: true, ...options.engine?.settings },
    },
  })

const path = () => join(folder, 'session.jsonl')
const notesPath = () => join(folder, 'session', 'session-memory', 'summary.md')
const said = ({ events }: Stage, type: string) => events.filter((event) => event.type === type)
const sources = ({ sent }: Stage) => sent.map(({ request }) => request.source)

/** A session with some history and one turn behind it, whose notes have been taken. */
async function noted(stage: Stage, size = { rounds: 9, tokens: 3_000 }): Promise<Session> {
  const session = await stage.engine.start({ path: path(), system: 'You work.', maxTokens: 4_000 })
  fill(session, size)
  session.add({ role: 'user', content: 'Go on. Never touch the lock file.' })
  await session.send()
  await session.idle()
  return session
}

function boundaryOf(session: Session): JsonObject {
  const lines = readFileSync(session.path ?? '', 'utf8')
    .trim()
    .split('\n')
  const records = lines.map((line) => JSON.parse(line) as JsonObject)
  return records.findLast(({ subtype }) => subtype === 'compact_boundary') ?? {}
}

/** Grows the conversation in two steps: nearly to the threshold, with notes of it, and then over it. */
async function overfill(session: Session): Promise<void> {
  fill(session, { rounds: 5, tokens: 3_000, from: 20 })
  session.add({ role: 'user', content: 'Go on.' })
  await session.send()
  await session.idle()
  fill(session, { rounds: 4, tokens: 3_600, from: 30 })
  session.add({ role: 'user', content: 'And what comes next?' })
}

describe('notes in the background', () => {
  test('are taken after a turn, with the conversation as the prefix, and do not make it larger', async () => {
    const stage = await stageWith()
    const session = await noted(stage)
    expect(sources(stage)).toEqual(['turn', 'session-memory'])
    const [turn, notes] = stage.sent.map(({ request }) => request)
    expect(notes?.system).toEqual(turn?.system)
    expect(JSON.stringify(notes?.messages.slice(0, turn?.messages.length))).toBe(JSON.stringify(turn?.messages))
    expect(notes?.messages.slice(turn?.messages.length).map(({ role }) => role)).toEqual(['assistant', 'user'])
    expect(checkRequest(notes?.messages ?? [])).toEqual([])
    expect(readFileSync(notesPath(), 'utf8')).toContain('Never touch the lock file.')
    expect(session.messages().at(-1)).toMatchObject({ role: 'assistant', content: [{ text: 'Here you are.' }] })
    const answer = stage.sent[1]?.result
    const spent = session.spent()
    expect(said(stage, 'memory-extracted')).toMatchObject([{ usage: spent['session-memory'].usage }])
    expect(answer?.type === 'answer' && spent['session-memory'].usage).toMatchObject({
      output: answer?.type === 'answer' && answer.usage.output,
    })
    expect(spent['session-memory'].requests).toBe(1)
    expect(spent['session-memory'].usage.cacheRead).toBeGreaterThan(10_000)
    expect(spent['session-memory'].cost).toBeGreaterThan(0)
    expect(spent.turn.requests).toBe(1)
    expect(session.explain().sessionMemory).toMatchObject({ isOn: true, isExtracting: false, hasStopped: false })
    // Nothing has happened since: nothing is due.
    session.add({ role: 'user', content: 'Thanks.' })
    await session.send()
    await session.idle()
    expect(sources(stage)).toEqual(['turn', 'session-memory', 'turn'])
    await session.close()
  })

  test('between two rounds of tools, from the third call on, and the request is a valid one', async () => {
    let calls = 0
    const stage = await stageWith({
      script: () =>
        calls++ < 4
          ? { content: [{ type: 'tool_use', id: `toolu_${calls}`, name: 'Read', input: { file_path: `f${calls}` } }] }
          : text('Done.'),
    })
    const session = await stage.engine.start({ path: path(), maxTokens: 1_000 })
    fill(session, { rounds: 1, tokens: 12_000 })
    session.add({ role: 'user', content: 'Read them.' })
    for (let turn = await session.send(); turn.type === 'answered'; turn = await session.send()) {
      await session.idle()
      const call = turn.answer.content.find(({ type }) => type === 'tool_use')
      if (!call) break
      const result = { type: 'tool_result', tool_use_id: String(call.id), content: prose(2_500, calls) }
      session.add({ role: 'user', content: [result] })
    }
    const asked = stage.sent.filter(({ request }) => request.source === 'session-memory')
    expect(sources(stage).toSorted()).toEqual(['turn', 'turn', 'turn', 'session-memory', 'turn', 'turn'].toSorted())
    expect(asked.map(({ result }) => result.type)).toEqual(['answer'])
    expect(asked.flatMap(({ request }) => checkRequest(request.messages))).toEqual([])
    await session.close()
  })

  test('fail three times and are not tried again; the conversation notices nothing', async () => {
    const stage = await stageWith({ notes: () => text('I would rather not.') })
    const session = await stage.engine.start({ path: path(), maxTokens: 1_000 })
    fill(session, { rounds: 5, tokens: 2_400 })
    for (let at = 0; at < 5; at++) {
      session.add({ role: 'user', content: `Go on (${at}).` })
      expect(await session.send()).toMatchObject({ type: 'answered' })
      await session.idle()
    }
    const reason = 'The answer holds no section of the notes.'
    expect(said(stage, 'memory-failed')).toMatchObject([1, 2, 3].map((failures) => ({ reason, failures })))
    expect(session.explain().sessionMemory).toMatchObject({ hasStopped: true })
    expect(existsSync(notesPath())).toBe(false)
    await session.close()
  })

  test('a session that is closed abandons its extraction, and nothing is written', async () => {
    const stage = await stageWith({ notes: async () => new Promise(() => undefined) })
    const session = await stage.engine.start({ path: path(), maxTokens: 1_000 })
    fill(session, { rounds: 6, tokens: 2_400 })
    session.add({ role: 'user', content: 'Go on.' })
    await session.send()
    expect(session.explain().sessionMemory).toMatchObject({ isExtracting: true })
    await session.close()
    expect(existsSync(notesPath())).toBe(false)
    expect(said(stage, 'memory-failed')).toEqual([])
  })

  test('without a model they are the same each time', async () => {
    const texts = []
    for (const name of ['a', 'b']) {
      let ids = 0
      const stage = await stageWith({ engine: { model: offline(), ports: { newId: () => `id-${++ids}` } } })
      const session = await stage.engine.start({ path: join(folder, `${name}.jsonl`) })
      fill(session, { rounds: 6, tokens: 2_400 })
      session.add({ role: 'user', content: 'Go on.' })
      session.record({ content: 'I did.' })
      await session.idle()
      texts.push(readFileSync(join(folder, name, 'session-memory', 'summary.md'), 'utf8'))
      await session.close()
    }
    expect(texts[0]).toContain('# Task specification')
    expect(texts[0]).toBe(texts[1])
  })

  test('turned off, or without a file: nothing is asked, and compaction says why', async () => {
    const off = await stageWith({ engine: { settings: { sessionMemory: false } } })
    const silent = await noted(off)
    expect(sources(off)).toEqual(['turn'])
    expect((await silent.compact()).tried[0]).toMatchObject({ mechanism: 'session-memory', outcome: 'declined' })
    expect(silent.explain().sessionMemory?.declined).toEqual({
      type: 'declined',
      reason: 'turned-off',
      why: 'Session memory is turned off.',
    })
    await silent.close()
    const stage = await stageWith()
    const session = await stage.engine.start({ maxTokens: 1_000 })
    fill(session, { rounds: 6, tokens: 2_400 })
    await session.compact()
    expect(session.explain().sessionMemory).toMatchObject({ isOn: false, declined: { reason: 'in-memory' } })
    expect(said(stage, 'memory-declined')).toEqual([
      { type: 'memory-declined', reason: 'in-memory', sessionId: session.id },
    ])
  })
})

describe('a compaction from the notes', () => {
  test('asks no model: the log of the server proves it', async () => {
    const stage = await stageWith()
    const session = await noted(stage)
    await overfill(session)
    const logged = stage.simulator.log.entries.length
    const request = await session.prepare()
    expect(stage.simulator.log.entries.length).toBe(logged)
    expect(request).toMatchObject({ type: 'ready', compaction: { mechanism: 'session-memory' } })
    expect(request.tried.at(-1)).toEqual({
      mechanism: 'session-memory',
      outcome: 'done',
      why: 'summarized by session-memory',
    })
    const { everlong, compactMetadata } = boundaryOf(session)
    const summary = session.messages()[0]
    expect(compactMetadata).toMatchObject({
      trigger: 'auto',
      preservedSegment: { anchorUuid: summary?.uuid, tailUuid: expect.any(String) },
    })
    expect(isObject(everlong) && everlong.compaction).toMatchObject({
      mechanism: 'session-memory',
      reason: 'threshold',
    })
    expect(JSON.stringify(summary)).toContain('# Current state')
    expect(JSON.stringify(summary)).toContain('Never touch the lock file.')
    expect(JSON.stringify(session.messages().at(-1))).toContain('And what comes next?')
    expect(session.explain().size.tokens).toBeLessThan(35_400)
    expect(session.tracking()).toMatchObject({ turns: 0, breaker: { failures: 0 } })
    expect(session.tracking().watch).toMatchObject({ deletedTokens: 0, isChanged: true })
    expect(said(stage, 'compaction-finished')).toMatchObject([
      { mechanism: 'session-memory', usage: { input: 0, output: 0 } },
    ])
    // The last message that the notes know of is void now.
    expect(session.explain().sessionMemory?.lastSeen).toBeUndefined()
    expect((await session.undo()).type).toBe('undone')
    await session.close()
  })

  test('by hand as well, unless something was asked for', async () => {
    const stage = await stageWith()
    const session = await noted(stage, { rounds: 12, tokens: 2_400 })
    const before = stage.sent.length
    expect(await session.compact()).toMatchObject({ type: 'compacted', mechanism: 'session-memory' })
    expect(stage.sent.length).toBe(before)
    await session.undo()
    const asked = await session.compact({ instructions: 'Keep the names of the files.' })
    expect(asked.tried[0]).toMatchObject({
      mechanism: 'session-memory',
      outcome: 'declined',
      reason: 'instructions-given',
    })
    expect(asked).toMatchObject({ type: 'compacted', mechanism: 'cache-sharing' })
    await session.close()
  })

  const declines: Readonly<Record<string, (session: Session) => void>> = {
    'no-notes': () => rmSync(notesPath()),
    'empty-notes': () => writeFileSync(notesPath(), '# Session title\n_what_\n'),
    'last-message-gone': () => undefined,
    'nothing-to-summarize': () => undefined,
    'over-target': () => writeFileSync(notesPath(), longNotes(10)),
    'over-threshold': () => writeFileSync(notesPath(), longNotes(30)),
  }

  test.each(Object.keys(declines))('%s: the next mechanism does it', async (why) => {
    const stage = await stageWith()
    const session = await noted(stage)
    if (why === 'last-message-gone') await session.compact()
    if (why === 'nothing-to-summarize') {
      await session.compact({ instructions: 'Be brief.' })
      fill(session, { rounds: 1, tokens: 7_400, from: 40 })
      session.add({ role: 'user', content: 'Go on.' })
      await session.send()
      await session.idle()
    } else if (why !== 'last-message-gone') await overfill(session)
    if (why === 'last-message-gone') fill(session, { rounds: 6, tokens: 6_500, from: 50 })
    declines[why]?.(session)
    const outcome = why === 'nothing-to-summarize' ? await session.compact() : await session.prepare()
    const [first] = outcome.tried.filter(({ mechanism }) => mechanism === 'session-memory')
    expect(first).toMatchObject({ outcome: 'declined', reason: why })
    expect(said(stage, 'memory-declined').at(-1)).toEqual({
      type: 'memory-declined',
      reason: why,
      sessionId: session.id,
    })
    expect(session.explain().sessionMemory?.declined).toMatchObject({ reason: why })
    const compaction = 'compaction' in outcome ? outcome.compaction : outcome
    expect(compaction).toMatchObject({ type: 'compacted', mechanism: expect.not.stringMatching('session-memory') })
    await session.close()
  })

  test('opened again, the budget alone decides what stays', async () => {
    const stage = await stageWith()
    const first = await noted(stage, { rounds: 12, tokens: 2_400 })
    await first.close()
    writeFileSync(join(folder, 'session', 'session-memory', 'progress.json'), '{}\n')
    const session = await stage.engine.open(path(), { maxTokens: 1_000 })
    const before = stage.sent.length
    expect(await session.compact()).toMatchObject({ type: 'compacted', mechanism: 'session-memory' })
    expect(stage.sent.length).toBe(before)
    await session.close()
  })

  test('a person who edited the notes meanwhile is heard', async () => {
    const stage = await stageWith()
    const session = await noted(stage, { rounds: 12, tokens: 2_400 })
    const notes = readFileSync(notesPath(), 'utf8')
    writeFileSync(notesPath(), notes.replace('# Learnings', '# Learnings\nThe queue is drained twice.'))
    await session.compact()
    expect(JSON.stringify(session.messages()[0])).toContain('The queue is drained twice.')
    await session.close()
  })
})

/** `sections` sections of about two thousand tokens each. */
function longNotes(sections: number): string {
  mkdirSync(join(folder, 'session', 'session-memory'), { recursive: true })
  return Array.from({ length: sections }, (_, at) => {
    const lines = Array.from({ length: 60 }, (_line, nth) => prose(25, at * 100 + nth))
    return `# Section ${at}\n_what_\n${lines.join('\n')}\n`
  }).join('\n')
}
