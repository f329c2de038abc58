import { text } from '@everlong/simulator'
import { checkRequest, textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { describe, expect, test } from 'vitest'
import { prose } from '../testing/history.ts'
import { type Stage, type StageOptions, setSmallStage } from '../testing/stage.ts'

/** Staged from 36,000 on, committed at 64,800. */
const stageWith = (options: StageOptions = {}) =>
  setSmallStage({
    script: ({ messages }) =>
      text(JSON.stringify(messages.at(-1)).includes(asking) ? 'It was looked into.' : 'Here you are.'),
    ...options,
    engine: { ...options.engine, settings: { collapse: true, ...options.engine?.settings } },
  })

const asking = 'one finished part of a longer session'
const sources = ({ sent }: Stage) => sent.map(({ request }) => request.source)
const texts = (session: Session) => session.messages().map(({ content }) => textOf(content).slice(0, 60))

/** A turn with a paste of so many words, and what is done in the background after it. */
async function turn(session: Session, nth: number, words = 4_000) {
  session.add({ role: 'user', content: `Task ${nth}: look into this.\n${prose(words, nth)}` })
  const done = await session.send()
  await session.idle()
  return done
}

async function until(session: Session, wanted: (tokens: number) => boolean) {
  for (let nth = 1; nth < 40; nth++) {
    const done = await turn(session, nth)
    if (done.type !== 'answered') throw new Error(done.type)
    if (wanted(session.explain().size.tokens)) return nth
  }
  throw new Error('It never came to that.')
}

describe('in collapse mode', () => {
  test('spans are staged one by one from half of the window on, and nothing changes before they are needed', async () => {
    const stage = await stageWith()
    const session = await stage.engine.start({ maxTokens: 1_000 })
    const turns = await until(session, (tokens) => tokens > 54_000)
    const staged = stage.events.filter(({ type }) => type === 'collapse-staged')
    // All but the newest, which is not finished.
    expect(staged).toHaveLength(turns - 1)
    expect(sources(stage).filter((source) => source === 'compact')).toEqual([])
    expect(stage.sent.flatMap(({ request }) => checkRequest(request.messages))).toEqual([])
    expect(texts(session).filter((each) => each.startsWith('Task'))).toHaveLength(turns)
    expect(session.spent().collapse).toMatchObject({ requests: turns - 1 })
    expect(session.spent().collapse.cost).toBeGreaterThan(0)
    await session.close()
  })

  test('at 90 % they take their places in one go, instead of a compaction; an undo brings all of them back', async () => {
    const stage = await stageWith()
    const session = await stage.engine.start({ maxTokens: 1_000 })
    await until(session, (tokens) => tokens > 54_000)
    const before = session.messages()
    session.add({ role: 'user', content: `One more.\n${prose(8_000, 99)}` })
    const request = await session.prepare()
    expect(request).toMatchObject({ type: 'ready' })
    expect(request.tried.filter(({ outcome }) => outcome === 'done')).toMatchObject([{ mechanism: 'collapse' }])
    expect(request.tried.at(-1)).toMatchObject({ mechanism: 'collapse', outcome: 'done' })
    expect(stage.events.filter(({ type }) => type === 'compaction-started')).toEqual([])
    expect(session.explain().size.tokens).toBeLessThan(40_000)
    if (request.type === 'ready') expect(checkRequest(request.messages)).toEqual([])
    expect(JSON.stringify(session.messages())).toContain('Task 1: look into this.')
    expect(JSON.stringify(session.messages())).not.toContain(prose(4_000, 2))
    expect(await session.undo()).toMatchObject({ type: 'undone', change: { type: 'replace-range' } })
    expect(await session.undo()).toEqual({ type: 'nothing-to-undo' })
    expect(session.messages().slice(0, before.length)).toEqual(before)
    // An expanded span is not collapsed again without the person's knowledge.
    const again = await session.prepare()
    expect(again.tried.filter(({ mechanism }) => mechanism === 'collapse')).toMatchObject([{ outcome: 'declined' }])
    await session.close()
  })

  test('the next request waits for a staging that runs when there is no more room', async () => {
    let release = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      release = resolve
    })
    const stage = await stageWith({
      script: async ({ messages }) => {
        if (!JSON.stringify(messages.at(-1)).includes(asking)) return text('Here you are.')
        await gate
        return text('It was looked into.')
      },
    })
    const session = await stage.engine.start({ maxTokens: 1_000 })
    for (let nth = 1; session.explain().size.tokens < 54_000; nth++) {
      session.add({ role: 'user', content: `Task ${nth}.\n${prose(4_000, nth)}` })
      // Below 95 % nobody waits for the background.
      expect((await session.send()).type).toBe('answered')
    }
    session.add({ role: 'user', content: `More.\n${prose(11_000, 77)}` })
    expect(session.explain().size.tokens).toBeGreaterThan(68_400)
    let isReady = false
    const request = session.prepare().then((prepared) => {
      isReady = true
      return prepared
    })
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(isReady).toBe(false)
    release()
    expect(await request).toMatchObject({ type: 'ready' })
    expect((await request).tried.at(-1)).toMatchObject({
      mechanism: 'guard',
      reason: 'collapse-on',
    })
    expect((await request).tried.filter(({ outcome }) => outcome === 'done')).toMatchObject([{ mechanism: 'collapse' }])
    expect(sources(stage)).not.toContain('compact')
    await session.close()
  })

  test('a staging that fails is told, the third ends it; at the blocking limit it is said, and by hand it works', async () => {
    const stage = await stageWith({
      script: ({ messages }) => text(JSON.stringify(messages.at(-1)).includes(asking) ? '' : 'Here you are.'),
    })
    const session = await stage.engine.start({ maxTokens: 1_000 })
    let last = await turn(session, 1)
    for (let nth = 2; nth < 40 && last.type === 'answered'; nth++) last = await turn(session, nth)
    expect(stage.events.filter(({ type }) => type === 'collapse-failed')).toHaveLength(3)
    expect(last).toMatchObject({
      type: 'blocked',
      reason: 'blocking-limit',
      why: expect.stringContaining('Collapse is on'),
    })
    expect(await session.compact()).toMatchObject({ type: 'compacted' })
    expect(await session.send()).toMatchObject({ type: 'answered' })
    await session.close()
  })
})
