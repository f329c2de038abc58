import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { combine, type Script, text, toolUse } from '@everlong/simulator'
import { shapeOf } from 'everlong/internal'
import { findSubagents } from 'everlong/internal/node'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { interrupted, type LoopEvent, query, subagentTool } from './index.ts'
import { eventsOf, runLoop, stagesOverHttp } from './testing/over-http.ts'
import type { StageOptions } from './testing/stage.ts'
import { defineTool } from './tool.ts'

const setStage = stagesOverHttp()
const prompt = 'Count the files of this.'

/** The one that leads hands the task on and thanks; the sub-agent has this script. */
async function leading(subagent: Script, options: StageOptions = {}) {
  const stage = await setStage({
    ...options,
    script: (request, context) => {
      if (request.system === 'You count.') return subagent(request, context)
      return request.messages.length === 1
        ? toolUse('Agent', { description: 'count', prompt }, 't_main')
        : text('Thanks.')
    },
  })
  const session = await stage.engine.start({ system: 'You lead.' })
  session.add({ role: 'user', content: 'How many are there?' })
  return { stage, session }
}

const look = defineTool({ name: 'Look', description: '', input: z.object({}), isParallel: true, run: () => 'a b c' })
const looking: Script = ({ messages }) =>
  messages.length === 1 ? toolUse('Look', {}, 't_sub') : text('There are 24 files.')
const reported = (events: readonly LoopEvent[]) =>
  eventsOf(events, 'tool-finished').map(({ toolUseId, content, isError }) => ({ toolUseId, content, isError }))

describe('a sub-agent', () => {
  test('has a conversation of its own, and its last words are the result', async () => {
    const { stage, session } = await leading(looking)
    const events = await runLoop({ session, tools: [subagentTool({ tools: [look], system: 'You count.' })] })
    expect(reported(events)).toEqual([{ toolUseId: 't_main', content: 'There are 24 files.', isError: false }])
    expect(shapeOf(session.messages())).toBe('u a[tu] u[tr] a')
    // It sees its task, its own system prompt and its own tools, and nothing else.
    const own = stage.sent.filter(({ request }) => JSON.stringify(request.system).includes('You count.'))
    expect(own.map(({ request }) => shapeOf(request.messages))).toEqual(['u', 'u a[tu] u[tr]'])
    expect(JSON.stringify(own[0]?.request.messages)).toContain(prompt)
    expect(JSON.stringify(own)).not.toContain('How many are there?')
    expect(own.map(({ request }) => request.tools?.map(({ name }) => name))).toEqual([['Look'], ['Look']])
    // Its events are reported under the call that started it.
    const inner = eventsOf(events, 'subagent')
    expect(new Set(inner.map(({ toolUseId }) => toolUseId))).toEqual(new Set(['t_main']))
    const types = inner.map(({ event }) => event.type).filter((type) => type !== 'engine' && type !== 'stream')
    expect(types).toEqual(['answer', 'spent', 'tool-started', 'tool-finished', 'answer', 'spent', 'stopped'])
  })

  test('works at the same time as others that the same answer starts', async () => {
    const { promise: areBothThere, resolve } = Promise.withResolvers<void>()
    let there = 0
    const meet = defineTool({
      name: 'Look',
      description: '',
      input: z.object({}),
      run: async () => {
        there++
        if (there === 2) resolve()
        await areBothThere
        return 'a b c'
      },
    })
    const task = (id: string) => toolUse('Agent', { description: id, prompt }, id)
    const stage = await setStage({
      script: (request, context) => {
        if (request.system === 'You count.') return looking(request, context)
        return request.messages.length === 1 ? combine(task('t_1'), task('t_2')) : text('Thanks.')
      },
    })
    const session = await stage.engine.start({ system: 'You lead.' })
    session.add({ role: 'user', content: 'How many are there?' })
    const events = await runLoop({ session, tools: [subagentTool({ tools: [meet], system: 'You count.' })] })
    const content = 'There are 24 files.'
    expect(reported(events).toSorted((a, b) => a.toolUseId.localeCompare(b.toolUseId))).toEqual([
      { toolUseId: 't_1', content, isError: false },
      { toolUseId: 't_2', content, isError: false },
    ])
  })

  test('that met its turn limit is reported as an error, with what it had to say', async () => {
    const { session } = await leading(() => ({
      content: [...text('I am still counting.').content, ...toolUse('Look').content],
    }))
    const tools = [subagentTool({ tools: [look], system: 'You count.', maxTurns: 2 })]
    expect(reported(await runLoop({ session, tools }))).toEqual([
      { toolUseId: 't_main', content: 'The sub-agent stopped (turn-limit). I am still counting.', isError: true },
    ])
  })

  test('whose requests fail is reported as an error, and the one that called it continues', async () => {
    let isDown = false
    const { session } = await leading(looking, {
      faults: { rules: [{ when: () => isDown, fault: { type: 'server-error' } }] },
    })
    const events: LoopEvent[] = []
    for await (const event of query({ session, tools: [subagentTool({ tools: [look], system: 'You count.' })] })) {
      events.push(event)
      if (event.type === 'tool-started') isDown = true
      if (event.type === 'tool-finished') isDown = false
    }
    expect(reported(events)).toEqual([
      { toolUseId: 't_main', content: 'The sub-agent stopped (failed).', isError: true },
    ])
    expect(events.at(-1)).toMatchObject({ why: 'finished' })
  })

  test('without a last word has finished, and that is reported', async () => {
    const { session } = await leading(() => ({ content: [], stopReason: 'end_turn' }))
    expect(
      reported(await runLoop({ session, tools: [subagentTool({ tools: [look], system: 'You count.' })] })),
    ).toEqual([{ toolUseId: 't_main', content: 'The sub-agent stopped (finished).', isError: false }])
  })

  test('that never stops by itself is stopped after 200 answers', async () => {
    let answers = 0
    const { session } = await leading(() => (++answers > 210 ? text('Too many.') : toolUse('Look')), {
      over: 'process',
    })
    const tools = [subagentTool({ tools: [look], system: 'You count.' })]
    expect(reported(await runLoop({ session, tools }))).toEqual([
      { toolUseId: 't_main', content: 'The sub-agent stopped (turn-limit).', isError: true },
    ])
    expect(answers).toBe(200)
  })

  test('is stopped with the one that called it, and so are its tools', async () => {
    const controller = new AbortController()
    const signals: AbortSignal[] = []
    const stopping = defineTool({
      name: 'Look',
      description: '',
      input: z.object({}),
      run: (_, { signal }) => {
        signals.push(signal)
        controller.abort()
        return 'a b c'
      },
    })
    const { session } = await leading(looking)
    const tools = [subagentTool({ tools: [stopping], system: 'You count.' })]
    const events = await runLoop({ session, tools, signal: controller.signal })
    expect(events.at(-1)).toMatchObject({ why: 'aborted' })
    expect(reported(events)).toEqual([{ toolUseId: 't_main', content: interrupted, isError: true }])
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  test('gives its file back when it is done: somebody else can write it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'everlong-subagent-'))
    const { stage } = await leading(looking)
    const path = join(folder, 'session.jsonl')
    const session = await stage.engine.start({ path, system: 'You lead.' })
    session.add({ role: 'user', content: 'How many are there?' })
    await runLoop({ session, tools: [subagentTool({ tools: [look], system: 'You count.' })] })
    const [agent] = findSubagents(path).agents
    const again = await stage.engine.open(agent?.path ?? '')
    expect(shapeOf(again.messages())).toBe('u a[tu] u[tr] a')
    await again.close()
    await session.close()
    rmSync(folder, { recursive: true, force: true })
  })
})
