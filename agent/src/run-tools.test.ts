import { type Answer, combine, summarizer, text, toolUse } from '@everlong/simulator'
import { checkRequest, shapeOf } from 'everlong/internal'
import type { Session } from 'everlong/node'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { interrupted, type LoopEvent } from './index.ts'
import { runTools } from './run-tools.ts'
import { fill } from './testing/history.ts'
import { eventsOf, gate, runLoop, stagesOverHttp } from './testing/over-http.ts'
import { type AnyTool, defineTool, type Tool, type ToolOutput } from './tool.ts'

const setStage = stagesOverHttp()
const nothing = z.object({})

/** A session whose model makes these calls first, and is done with the next answer. */
async function calling(...calls: readonly Answer[]) {
  const stage = await setStage({ script: (_, { turn }) => (turn === 0 ? combine(...calls) : text('Done.')) })
  const session = await stage.engine.start()
  session.add({ role: 'user', content: 'Go.' })
  return { stage, session }
}

const tool = (name: string, run: Tool['run'], more: Partial<Tool> = {}): AnyTool =>
  defineTool({ name, description: name, input: nothing, ...more, run })

const finished = (events: readonly LoopEvent[]) =>
  eventsOf(events, 'tool-finished').map(({ toolUseId, content, isError }) => [toolUseId, content, isError])

const resultsIn = (session: Session) =>
  session.messages().flatMap(({ content }) => (typeof content === 'string' ? [] : content.filter(isResult)))
const isResult = ({ type }: { readonly type: string }) => type === 'tool_result'

/** The session, and every message that is added to it. */
function watchAdded(session: Session) {
  const added: unknown[] = []
  const watched: Session = {
    ...session,
    add: (messages) => {
      added.push(messages)
      return session.add(messages)
    },
  }
  return { watched, added }
}

describe('the calls of an answer', () => {
  test('that are parallel run side by side, others one after another', async () => {
    const order: string[] = []
    const slow = (name: string, isParallel?: boolean) =>
      tool(
        name,
        async () => {
          order.push(`${name}+`)
          await new Promise((resolve) => setTimeout(resolve, 5))
          order.push(`${name}-`)
          return name
        },
        isParallel === undefined ? {} : { isParallel },
      )
    const names = ['Look', 'See', 'Write', 'Write', 'Look', 'Ask', 'See']
    const { session } = await calling(...names.map((name, at) => toolUse(name, {}, `toolu_${at}`)))
    const tools = [slow('Look', true), slow('See', true), slow('Write', false), slow('Ask')]
    const events = await runLoop({ session, tools })
    const alone = ['Write', 'Write', 'Look', 'Ask', 'See'].flatMap((name) => [`${name}+`, `${name}-`])
    expect(order).toEqual(['Look+', 'See+', 'Look-', 'See-', ...alone])
    expect(finished(events)).toEqual(names.map((name, at) => [`toolu_${at}`, name, false]))
  })

  test('have their results in the order of the calls, whichever was ready first', async () => {
    const { promise: isSecondDone, resolve } = Promise.withResolvers<void>()
    const first = tool('First', () => isSecondDone.then(() => 'one'), { isParallel: true })
    const second = tool(
      'Second',
      () => {
        resolve()
        return 'two'
      },
      { isParallel: true },
    )
    const { session } = await calling(toolUse('First', {}, 't1'), toolUse('Second', {}, 't2'))
    await runLoop({ session, tools: [first, second] })
    expect(resultsIn(session)).toEqual([
      { type: 'tool_result', tool_use_id: 't1', content: 'one' },
      { type: 'tool_result', tool_use_id: 't2', content: 'two' },
    ])
  })

  test('get their input as the schema reads it', async () => {
    const inputs: unknown[] = []
    const input = z.object({ path: z.string().transform((path) => path.trim()), lines: z.number().default(20) })
    const look = defineTool({
      name: 'Look',
      description: '',
      input,
      run: (read) => {
        inputs.push(read)
        return 'ok'
      },
    })
    const { session } = await calling(toolUse('Look', { path: ' src/a.ts ', color: 'red' }, 't1'))
    await runLoop({ session, tools: [look] })
    expect(inputs).toEqual([{ path: 'src/a.ts', lines: 20 }])
  })

  test('bring their results into the next request even while a compaction runs', async () => {
    const { opened, open } = gate()
    const good = summarizer()
    const stage = await setStage({
      script: (_, { turn }) => (turn === 0 ? toolUse('Compact', {}, 't1') : text('Done.')),
      summaries: async (request, context) => {
        await opened
        return good(request, context)
      },
    })
    const session = await stage.engine.start()
    fill(session, { rounds: 6, tokens: 1_000 })
    session.add({ role: 'user', content: 'Go.' })
    const compacting: Promise<unknown>[] = []
    const compact = tool('Compact', () => {
      compacting.push(session.compact())
      setTimeout(open, 50)
      return 'The compaction has begun.'
    })
    const events = await runLoop({ session, tools: [compact] })
    expect(await Promise.all(compacting)).toMatchObject([{ type: 'compacted' }])
    expect(eventsOf(events, 'answer')).toHaveLength(2)
    const { messages = [] } = stage.sent.at(-1)?.request ?? {}
    expect(JSON.stringify(messages)).toContain('The compaction has begun.')
    expect(checkRequest(messages)).toEqual([])
  })

  test('with a wrong input, an unknown name or a fault have results that the model can read', async () => {
    const tools = [
      defineTool({ name: 'Add', description: '', input: z.object({ n: z.number() }), run: ({ n }) => String(n + 1) }),
      tool('Break', () => {
        throw new Error('It broke.')
      }),
      tool('Reject', () => Promise.reject('It was refused.')),
      tool('Fail', () => ({ content: 'No such file.', isError: true })),
    ]
    const { session } = await calling(
      toolUse('Add', { n: 'x' }, 't1'),
      toolUse('Nope', {}, 't2'),
      toolUse('Break', {}, 't3'),
      toolUse('Reject', {}, 't4'),
      toolUse('Fail', {}, 't5'),
      toolUse('Add', { n: 1 }, 't6'),
    )
    const events = await runLoop({ session, tools })
    const expected = [
      ['t1', expect.stringContaining('Invalid input'), true],
      ['t2', 'Unknown tool Nope. Available tools: Add, Break, Reject, Fail.', true],
      ['t3', 'It broke.', true],
      ['t4', 'It was refused.', true],
      ['t5', 'No such file.', true],
      ['t6', '2', false],
    ]
    expect(finished(events)).toEqual(expected)
    expect(resultsIn(session)).toEqual(
      expected.map(([tool_use_id, content, isError]) => ({
        type: 'tool_result',
        tool_use_id,
        content,
        ...(isError ? { is_error: true } : {}),
      })),
    )
    expect(events.at(-1)).toMatchObject({ why: 'finished' })
  })

  test('leave what a single tool knows besides beside its result; of several it could not be told apart', async () => {
    const knowing = tool('Run', (): ToolOutput => ({ content: 'ok', details: { exitCode: 0 } }))
    const one = await calling(toolUse('Run', {}, 't1'))
    const single = watchAdded(one.session)
    await runLoop({ session: single.watched, tools: [knowing] })
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })
    expect(single.added).toEqual([{ role: 'user', content: [result('t1')], toolUseResult: { exitCode: 0 } }])
    const two = await calling(toolUse('Run', {}, 't1'), toolUse('Run', {}, 't2'))
    const several = watchAdded(two.session)
    await runLoop({ session: several.watched, tools: [knowing] })
    expect(several.added).toEqual([{ role: 'user', content: [result('t1'), result('t2')] }])
  })
})

describe('an abort while tools run', () => {
  test('interrupts the one that runs, starts no other, and leaves a conversation that continues', async () => {
    const controller = new AbortController()
    const started: string[] = []
    const slow = defineTool({
      name: 'Slow',
      description: '',
      input: z.object({ name: z.string() }),
      run: ({ name }) => {
        started.push(name)
        controller.abort()
        return new Promise<string>(() => undefined)
      },
    })
    const { session, stage } = await calling(
      toolUse('Slow', { name: 'first' }, 't1'),
      toolUse('Slow', { name: 'second' }, 't2'),
    )
    const events = await runLoop({ session, tools: [slow], signal: controller.signal })
    expect(started).toEqual(['first'])
    expect(events.at(-1)).toMatchObject({ type: 'stopped', why: 'aborted', state: { turn: 1 } })
    expect(finished(events)).toEqual([
      ['t1', interrupted, true],
      ['t2', interrupted, true],
    ])
    expect(shapeOf(session.messages())).toBe('u a[tu2] u[tr2]')
    expect(checkRequest(session.messages())).toEqual([])
    expect(stage.sent).toHaveLength(1)
    session.add({ role: 'user', content: 'Never mind.' })
    const after = await runLoop({ session, tools: [slow] })
    expect(eventsOf(after, 'answer')).toHaveLength(1)
    expect(after.at(-1)).toMatchObject({ why: 'finished' })
  })

  test('keeps what a tool returns that ends by itself, and waits for no other', async () => {
    const controller = new AbortController()
    const partial = (name: string, run: () => Promise<string>) =>
      defineTool({ name, description: '', input: z.object({}), run, isParallel: true, endsOnAbort: true })
    const ending = partial('Ending', async () => {
      controller.abort()
      await new Promise((resolve) => setImmediate(resolve))
      return 'half of it'
    })
    const throwing = partial('Throwing', async () => {
      await new Promise((resolve) => controller.signal.addEventListener('abort', resolve))
      throw new Error('This operation was aborted')
    })
    const { session } = await calling(toolUse('Throwing', {}, 't1'), toolUse('Ending', {}, 't2'))
    const events = await runLoop({ session, tools: [ending, throwing], signal: controller.signal })
    expect(finished(events)).toEqual([
      ['t1', interrupted, true],
      ['t2', 'half of it', false],
    ])
  })

  test('ends the wait for a tool that promised to end and does not', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const controller = new AbortController()
      const stuck = defineTool({
        ...{ name: 'Stuck', description: '', input: z.object({}), endsOnAbort: true },
        run: () => {
          setImmediate(() => {
            controller.abort()
            vi.runAllTimers()
          })
          return new Promise<string>(() => undefined)
        },
      })
      const { session } = await calling(toolUse('Stuck', {}, 't1'))
      const calls = [{ type: 'tool_use' as const, id: 't1', name: 'Stuck', input: {} }]
      const ran = await runTools({ session, tools: [stuck], calls, signal: controller.signal, emit: () => undefined })
      expect(ran).toMatchObject([{ block: { content: interrupted, is_error: true } }])
    } finally {
      vi.useRealTimers()
    }
  })

  test('that comes from outside ends the wait for a tool that does not look at the signal', async () => {
    const controller = new AbortController()
    const deaf = tool('Deaf', () => new Promise<string>(() => undefined))
    const { session } = await calling(toolUse('Deaf', {}, 't1'))
    const running = runLoop({
      session,
      tools: [deaf],
      signal: controller.signal,
    })
    setTimeout(() => controller.abort(), 50)
    const events = await running
    expect(finished(events)).toEqual([['t1', interrupted, true]])
    expect(events.at(-1)).toMatchObject({ why: 'aborted' })
  })
})

test('one signal for a whole session collects no listeners', async () => {
  const controller = new AbortController()
  let listeners = 0
  const { signal } = controller
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  const seen: number[] = []
  Object.assign(signal, {
    addEventListener: (...given: Parameters<typeof add>) => {
      if (given[0] === 'abort') listeners++
      add(...given)
    },
    removeEventListener: (...given: Parameters<typeof remove>) => {
      if (given[0] === 'abort') listeners--
      remove(...given)
    },
  })
  const look = tool('Look', () => {
    seen.push(listeners)
    return 'ok'
  })
  const { session } = await calling(...Array.from({ length: 5 }, (_, at) => toolUse('Look', {}, `t${at}`)))
  await runLoop({ session, tools: [look], signal })
  expect(new Set(seen).size).toBe(1)
})
