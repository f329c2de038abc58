import { text, toolUse } from '@everlong/simulator'
import type { EngineEvent } from 'everlong'
import { checkRequest, shapeOf, textOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type LoopEvent, query } from './index.ts'
import { fill } from './testing/history.ts'
import { eventsOf, inTurn, runLoop, saying, stagesOverHttp } from './testing/over-http.ts'
import type { Stage } from './testing/stage.ts'
import { defineTool } from './tool.ts'

const setStage = stagesOverHttp()

const typesOf = (events: readonly LoopEvent[]) =>
  events.map(({ type }) => type).filter((type) => type !== 'stream' && type !== 'engine')

/** What the requests of turns ended with. */
const lastMessages = ({ sent }: Stage) =>
  sent.filter(({ request }) => request.source === 'turn').map(({ request }) => request.messages.at(-1))

async function asked(stage: Stage, content = 'Go.'): Promise<Session> {
  const session = await stage.engine.start()
  session.add({ role: 'user', content })
  return session
}

describe('the loop', () => {
  test.each(['process', 'http'] as const)('works through a task to its end (%s)', async (over) => {
    const stage = await setStage({ over })
    const session = await stage.engine.start({ system: 'You mend bugs.' })
    session.add({ role: 'user', content: 'Find the bug and mend it.' })
    const events = await runLoop({ session, tools: stage.tools })
    const answers = eventsOf(events, 'answer')
    expect(answers).toHaveLength(12)
    const { turnId } = session.tracking()
    const state = { turnId, turn: 12, isCompacted: false, failures: 0 }
    expect(events.at(-1)).toEqual({ type: 'stopped', why: 'finished', state })
    expect(checkRequest(session.messages())).toEqual([])
    expect(stage.simulator.log.entries.map(({ status }) => status)).toEqual(answers.map(() => 200))
    // Every call was run, once, and its result is what the model got to see.
    const calls = answers.flatMap(({ answer }) => answer.content.filter(({ type }) => type === 'tool_use'))
    const ids = calls.map(({ id }) => id)
    expect(ids.length).toBeGreaterThan(5)
    expect(eventsOf(events, 'tool-started').map(({ toolUseId }) => toolUseId)).toEqual(ids)
    expect(eventsOf(events, 'tool-finished').map(({ toolUseId }) => toolUseId)).toEqual(ids)
    // Each answer streams before it is there as a whole.
    const order = inTurn(events.filter(({ type }) => type === 'stream' || type === 'answer'))
    expect(order).toEqual(answers.flatMap(() => ['stream', 'answer']))
  })

  test('a small window: each compaction is yielded before the answer it was made for streams, and the count begins again', async () => {
    const stage = await setStage({
      window: 19_000,
      turnsPerTask: 80,
      engine: { settings: { maxOutputTokens: 4_000 } },
    })
    const session = await stage.engine.start({ maxTokens: 4_000 })
    session.add({ role: 'user', content: 'Find all bugs and mend them. Never touch logs/build.log.' })
    const events = await runLoop({ session, tools: stage.tools, maxTurns: 100 })
    const compactions = stage.events.filter(({ type }) => type === 'compaction-finished')
    expect(compactions.length).toBeGreaterThan(1)
    const boundaries = eventsOf(events, 'record').filter(({ record }) => record.subtype === 'compact_boundary')
    expect(boundaries.map(({ record }) => record)).toMatchObject(
      compactions.map(() => ({ type: 'system', compactMetadata: { trigger: 'auto' } })),
    )
    const shown = events.filter(({ type }) => type !== 'engine' && type !== 'tool-started' && type !== 'tool-finished')
    for (const boundary of boundaries) {
      const from = shown.indexOf(boundary)
      const until = shown.findIndex(({ type }, at) => at > from && type !== 'record')
      expect([shown[from - 1]?.type, shown[from + 1], shown[until]?.type]).toMatchObject([
        'answer',
        { record: { type: 'user', isCompactSummary: true } },
        'stream',
      ])
    }
    const last = events.findLastIndex(({ type }) => type === 'record')
    const turn = events.slice(last).filter(({ type }) => type === 'answer').length
    const state = { turnId: session.tracking().turnId, turn, isCompacted: true, failures: 0 }
    expect(events.at(-1)).toEqual({ type: 'stopped', why: 'finished', state })
    expect(turn).toBeLessThan(eventsOf(events, 'answer').length)
    const refused = stage.sent.filter(({ request, result }) => request.source === 'turn' && result.type === 'failed')
    expect(refused).toEqual([])
    expect(JSON.stringify(session.messages())).toContain('Never touch logs/build.log.')
  })

  test('continues from the state of an earlier loop, and returns its own', async () => {
    const stage = await setStage({ script: () => text('Done.') })
    const session = await asked(stage)
    const state = { turnId: 'an older turn', turn: 7, isCompacted: true, failures: 2 }
    const loop = query({ session, state })
    let step = await loop.next()
    while (!step.done) step = await loop.next()
    expect(step.value).toEqual({ turnId: session.tracking().turnId, turn: 8, isCompacted: true, failures: 0 })
  })

  test('what hooks have to say to the person is yielded before the answer streams', async () => {
    const stage = await setStage({
      window: 40_000,
      script: () => text('Done.'),
      engine: {
        hooks: saying('The tree was saved first.'),
        settings: { economy: 'claude-code', maxOutputTokens: 4_000 },
      },
    })
    const session = await stage.engine.start({ maxTokens: 1_000 })
    fill(session, { rounds: 8, tokens: 2_600 })
    session.add({ role: 'user', content: 'Go.' })
    const events = await runLoop({ session })
    expect(inTurn(events)).toEqual(['notice', 'record', 'stream', 'answer', 'stopped'])
    expect(eventsOf(events, 'notice')).toEqual([{ type: 'notice', text: 'The tree was saved first.' }])
  })

  test('at the blocking limit it says so and stops, and no request goes out', async () => {
    const stage = await setStage({
      window: 40_000,
      script: () => text('Done.'),
      engine: { settings: { maxOutputTokens: 4_000, compaction: 'manual' } },
    })
    const session = await asked(stage, 'word '.repeat(40_000))
    const events = await runLoop({ session })
    expect(typesOf(events)).toEqual(['blocked', 'stopped'])
    expect(events.at(-1)).toMatchObject({ why: 'blocked' })
    expect(eventsOf(events, 'blocked')).toMatchObject([{ why: expect.stringContaining('Compact by hand') }])
    expect(stage.sent).toEqual([])
  })

  test('a failure that is no overflow is yielded as the provider told it, and ends the loop', async () => {
    const faults = { rules: [{ fault: { type: 'server-error' } as const }] }
    const stage = await setStage({ script: () => text('Done.'), faults })
    const session = await asked(stage)
    const events = await runLoop({ session })
    expect(typesOf(events)).toEqual(['failed', 'stopped'])
    expect(events.at(-1)).toMatchObject({ why: 'failed', state: { turn: 0 } })
    expect(eventsOf(events, 'failed')).toMatchObject([{ failure: { status: 500 }, steps: [] }])
    expect(shapeOf(session.messages())).toBe('u')
  })

  test('an abort while the model answers leaves the conversation as it was', async () => {
    const controller = new AbortController()
    const stage = await setStage({
      script: () => {
        controller.abort()
        return text('Too late.')
      },
    })
    const session = await asked(stage)
    const events = await runLoop({ session, signal: controller.signal })
    expect(typesOf(events)).toEqual(['stopped'])
    expect(events.at(-1)).toMatchObject({ why: 'aborted' })
    expect(shapeOf(session.messages())).toBe('u')
  })

  test('what a person types while the model works is answered too', async () => {
    let typed = false
    const stage = await setStage({ script: (request) => text(`Answer ${request.messages.length}`) })
    const session = await asked(stage)
    const seen: string[] = []
    for await (const event of query({ session, maxTurns: 5 })) {
      if (event.type === 'stream' && !typed) {
        typed = true
        session.add({ role: 'user', content: 'One more thing.' })
      }
      if (event.type === 'answer') seen.push(textOf(event.answer.content))
    }
    expect(seen).toEqual(['Answer 1', 'Answer 3'])
    expect(session.messages().map(({ content }) => textOf(content))).toEqual([
      'Go.',
      'Answer 1',
      'One more thing.',
      'Answer 3',
    ])
  })

  test.each([
    ['nothing', [], ['Go.']],
    ['something', ['One more thing.'], ['Go.', 'One more thing.']],
  ])('an answer without content ends it unless a person typed meanwhile (%s)', async (_, typed, known) => {
    const stage = await setStage({
      script: (_request, { turn }) => {
        if (turn === 0) session.add(typed.map((content) => ({ role: 'user', content })))
        return { content: [], stopReason: 'end_turn' }
      },
    })
    const session = await asked(stage)
    const events = await runLoop({ session })
    expect(events.at(-1)).toMatchObject({ why: 'finished', state: { turn: known.length } })
    expect(textOf(stage.sent.at(-1)?.request.messages.at(-1)?.content).split('\n')).toEqual(known)
  })

  test('a turn that the server paused is continued with what it has so far', async () => {
    const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'labels' } }
    const paused = { content: [{ type: 'text', text: 'I search.' }, search], stopReason: 'pause_turn' }
    const stage = await setStage({ script: (_, { turn }) => (turn === 0 ? paused : text('Found it.')) })
    const session = await asked(stage)
    const events = await runLoop({ session })
    expect(eventsOf(events, 'answer').map(({ answer }) => answer.stopReason)).toEqual(['pause_turn', 'end_turn'])
    expect(events.at(-1)).toMatchObject({ why: 'finished' })
    expect(lastMessages(stage)[1]).toMatchObject({ role: 'assistant', content: [{ text: 'I search.' }, search] })
  })

  test('an answer that the window cut off is asked to continue from where it ends', async () => {
    const cut = { ...text('The first half'), stopReason: 'model_context_window_exceeded' }
    const stage = await setStage({ script: (_, { turn }) => (turn === 0 ? cut : text('and the second.')) })
    const session = await asked(stage)
    const events = await runLoop({ session })
    expect(eventsOf(events, 'answer')).toHaveLength(2)
    expect(lastMessages(stage).map((message) => [message?.role, textOf(message?.content)])).toEqual([
      ['user', 'Go.'],
      ['user', 'Your answer was cut off by the end of the context window. Continue where it ends.'],
    ])
    // The loop's own words are not a person's.
    expect(session.messages().map(({ origin }) => origin)).toEqual(['human', 'assistant', 'meta', 'assistant'])
  })

  test('the turn limit ends it where the conversation can continue', async () => {
    const stage = await setStage()
    const session = await asked(stage, 'Find the bug.')
    const events = await runLoop({ session, tools: stage.tools, maxTurns: 3 })
    expect(events.at(-1)).toMatchObject({ type: 'stopped', why: 'turn-limit', state: { turn: 3 } })
    expect(eventsOf(events, 'answer')).toHaveLength(3)
    expect(shapeOf(session.messages())).toBe('u a[t tu] u[tr] a[tu] u[tr] a[tu2] u[tr2]')
    expect(checkRequest(session.messages())).toEqual([])
  })

  test('it no longer listens to the session once it is over, however it ends', async () => {
    const stage = await setStage({ script: () => text('Done.') })
    const session = await asked(stage)
    let listeners = 0
    const watched: Session = {
      ...session,
      on: (listener: (event: EngineEvent) => void) => {
        const stop = session.on(listener)
        listeners++
        return () => {
          listeners--
          stop()
        }
      },
    }
    for await (const event of query({ session: watched })) if (event.type !== 'stopped') expect(listeners).toBe(1)
    expect(listeners).toBe(0)
    session.add({ role: 'user', content: 'Once more.' })
    for await (const event of query({ session: watched })) if (event.type === 'stream') break
    expect(listeners).toBe(0)
  })

  test('its tools go with every request, and only results that can be had again are declared so', async () => {
    const tool = (name: string, isReproducible?: boolean) =>
      defineTool({
        name,
        description: `It is ${name}.`,
        input: z.object({ path: z.string() }),
        ...(isReproducible === undefined ? {} : { isReproducible }),
        run: () => 'ok',
      })
    const stage = await setStage({
      script: (_, { turn }) => (turn === 0 ? toolUse('Look', { path: 'a' }, 't1') : text('Done.')),
    })
    const session = await asked(stage)
    const configured: unknown[] = []
    const watched: Session = {
      ...session,
      configure: (base) => {
        configured.push(base.reproducible)
        session.configure(base)
      },
    }
    await runLoop({ session: watched, tools: [tool('Look', true), tool('Ask'), tool('Write', false)] })
    expect(configured).toEqual([['Look']])
    const definitions = ['Look', 'Ask', 'Write'].map((name) => ({
      name,
      description: `It is ${name}.`,
      input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    }))
    expect(stage.sent.map(({ request }) => request.tools)).toMatchObject([definitions, definitions])
  })
})
