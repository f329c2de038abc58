import { text, toolUse } from '@everlong/simulator'
import { checkRequest, shapeOf } from 'everlong'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type LoopEvent, query, subagentTool } from './index.ts'
import { type Stage, type StageOptions, setStage } from './testing/stage.ts'
import { type AnyTool, defineTool } from './tool.ts'

const open: Stage[] = []
const stageWith = async (options: StageOptions = {}) => {
  const stage = await setStage(options)
  open.push(stage)
  return stage
}
afterEach(async () => {
  for (const stage of open.splice(0)) await stage.close()
})

async function collect(loop: AsyncGenerator<LoopEvent, unknown>): Promise<readonly LoopEvent[]> {
  const events: LoopEvent[] = []
  for await (const event of loop) events.push(event)
  return events
}
const typesOf = (events: readonly LoopEvent[]) =>
  events.map(({ type }) => type).filter((type) => type !== 'stream' && type !== 'engine')

describe('the loop', () => {
  test.each(['process', 'http'] as const)('works through a task to its end (%s)', async (over) => {
    const stage = await stageWith({ over })
    const session = await stage.engine.start({ system: 'You mend bugs.' })
    session.add({ role: 'user', content: 'Find the bug and mend it.' })
    const events = await collect(query({ session, tools: stage.tools }))
    expect(events.filter(({ type }) => type === 'answer')).toHaveLength(12)
    expect(events.at(-1)).toMatchObject({ type: 'stopped', why: 'finished', state: { turn: 12, isCompacted: false } })
    expect(checkRequest(session.messages())).toEqual([])
    expect(stage.simulator.log.entries.every(({ status }) => status === 200)).toBe(true)
  })

  test('a small window: it compacts on the way, yields what the compaction wrote, and begins to count again', async () => {
    const stage = await stageWith({
      window: 40_000,
      turnsPerTask: 40,
      engine: { settings: { maxOutputTokens: 4_000 } },
    })
    const session = await stage.engine.start({ maxTokens: 4_000 })
    session.add({ role: 'user', content: 'Find all bugs and mend them. Never touch logs/build.log.' })
    const events = await collect(query({ session, tools: stage.tools, mostTurns: 60 }))
    expect(events.at(-1)).toMatchObject({ type: 'stopped', why: 'finished', state: { isCompacted: true } })
    const records = events.flatMap((event) => (event.type === 'record' ? [event.record] : []))
    expect(records[0]).toMatchObject({
      type: 'system',
      subtype: 'compact_boundary',
      compactMetadata: { trigger: 'auto' },
    })
    expect(records[1]).toMatchObject({ type: 'user', isCompactSummary: true })
    const refused = stage.sent.filter(({ request, result }) => request.source === 'turn' && result.type === 'failed')
    expect(refused).toEqual([])
    expect(JSON.stringify(session.messages())).toContain('Never touch logs/build.log.')
  })

  test('tools that only read run side by side, others one after another', async () => {
    const order: string[] = []
    const tool = (name: string, isReadOnly: boolean) =>
      defineTool({
        name,
        description: name,
        input: z.object({}),
        isReadOnly,
        run: async () => {
          order.push(`${name}+`)
          await new Promise((resolve) => setTimeout(resolve, 5))
          order.push(`${name}-`)
          return name
        },
      })
    const calls = {
      content: ['Look', 'See', 'Write', 'Look'].flatMap((name, at) => toolUse(name, {}, `toolu_${at}`).content),
    }
    const stage = await stageWith({ script: (_, { turn }) => (turn === 0 ? calls : text('Done.')) })
    const session = await stage.engine.start()
    session.add({ role: 'user', content: 'Go.' })
    await collect(query({ session, tools: [tool('Look', true), tool('See', true), tool('Write', false)] }))
    expect(order).toEqual(['Look+', 'See+', 'Look-', 'See-', 'Write+', 'Write-', 'Look+', 'Look-'])
  })

  test('a wrong input, an unknown tool and a fault are results that the model can read', async () => {
    const tools: readonly AnyTool[] = [
      defineTool({ name: 'Add', description: '', input: z.object({ n: z.number() }), run: ({ n }) => String(n + 1) }),
      defineTool({
        name: 'Break',
        description: '',
        input: z.object({}),
        run: () => {
          throw new Error('It broke.')
        },
      }),
    ]
    const uses = [
      toolUse('Add', { n: 'x' }, 't1'),
      toolUse('Nope', {}, 't2'),
      toolUse('Break', {}, 't3'),
      toolUse('Add', { n: 1 }, 't4'),
    ]
    const stage = await stageWith({
      script: (_, { turn }) => (turn === 0 ? { content: uses.flatMap(({ content }) => content) } : text('Done.')),
    })
    const session = await stage.engine.start()
    session.add({ role: 'user', content: 'Go.' })
    const events = await collect(query({ session, tools }))
    const finished = events.flatMap((event) => (event.type === 'tool-finished' ? [event] : []))
    expect(finished.map(({ isError }) => isError)).toEqual([true, true, true, false])
    expect(finished.map(({ content }) => content)).toEqual([
      expect.stringContaining('The input is not right'),
      'There is no tool Nope. There are: Add, Break.',
      'It broke.',
      '2',
    ])
  })

  test('an abort while tools run leaves a valid transcript, and the conversation goes on from it', async () => {
    const controller = new AbortController()
    const slow = defineTool({
      name: 'Slow',
      description: '',
      input: z.object({}),
      run: () => {
        controller.abort()
        return new Promise<string>(() => undefined)
      },
    })
    const stage = await stageWith({
      script: (_, { turn }) =>
        turn === 0
          ? { content: [toolUse('Slow', {}, 't1'), toolUse('Slow', {}, 't2')].flatMap(({ content }) => content) }
          : text('I see.'),
    })
    const session = await stage.engine.start()
    session.add({ role: 'user', content: 'Go.' })
    const events = await collect(query({ session, tools: [slow], signal: controller.signal }))
    expect(events.at(-1)).toMatchObject({ type: 'stopped', why: 'aborted' })
    expect(shapeOf(session.messages())).toBe('u a[tu2] u[tr2]')
    expect(checkRequest(session.messages())).toEqual([])
    session.add({ role: 'user', content: 'Never mind.' })
    expect(typesOf(await collect(query({ session, tools: [slow] })))).toEqual(['answer', 'stopped'])
  })

  test('an abort while the model answers leaves the conversation as it was', async () => {
    const controller = new AbortController()
    const stage = await stageWith({
      script: () => {
        controller.abort()
        return text('Too late.')
      },
    })
    const session = await stage.engine.start()
    session.add({ role: 'user', content: 'Go.' })
    const events = await collect(query({ session, signal: controller.signal }))
    expect(typesOf(events)).toEqual(['stopped'])
    expect(events.at(-1)).toMatchObject({ why: 'aborted' })
    expect(shapeOf(session.messages())).toBe('u')
  })

  test('what a person types while the model works is answered too', async () => {
    let typed = false
    const stage = await stageWith({ script: (request) => text(`Answer ${request.messages.length}`) })
    const session = await stage.engine.start()
    session.add({ role: 'user', content: 'Go.' })
    const seen: string[] = []
    for await (const event of query({ session })) {
      if (event.type === 'stream' && !typed) {
        typed = true
        session.add({ role: 'user', content: 'One more thing.' })
      }
      if (event.type === 'answer') seen.push(JSON.stringify(event.answer.content))
    }
    expect(seen).toHaveLength(2)
    expect(shapeOf(session.messages())).toBe('u a u a')
  })

  test('a sub-agent has a conversation of its own, and its last words are the result', async () => {
    const stage = await stageWith({
      script: (request, { turn }) => {
        if (JSON.stringify(request.messages).includes('Count the files')) {
          return turn === 1 ? toolUse('Bash', { command: 'ls' }, 't_sub') : text('There are 24 files.')
        }
        return turn === 0
          ? toolUse('Agent', { description: 'count', prompt: 'Count the files of this.' }, 't_main')
          : text('Thanks.')
      },
    })
    const inner = subagentTool({ tools: stage.tools, system: 'You count.' })
    const session = await stage.engine.start({ system: 'You lead.' })
    session.add({ role: 'user', content: 'How many are there?' })
    const events = await collect(query({ session, tools: [inner] }))
    expect(events.filter(({ type }) => type === 'tool-finished')).toMatchObject([
      { toolUseId: 't_main', content: 'There are 24 files.', isError: false },
    ])
    expect(shapeOf(session.messages())).toBe('u a[tu] u[tr] a')
    expect(events.filter(({ type }) => type === 'subagent').length).toBeGreaterThan(3)
  })

  test('the turn limit ends it where the conversation can go on', async () => {
    const stage = await stageWith({})
    const session = await stage.engine.start()
    session.add({ role: 'user', content: 'Find the bug.' })
    const events = await collect(query({ session, tools: stage.tools, mostTurns: 3 }))
    expect(events.at(-1)).toMatchObject({ type: 'stopped', why: 'turn-limit', state: { turn: 3 } })
    expect(checkRequest(session.messages())).toEqual([])
  })
})
