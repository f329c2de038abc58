import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Script, text, toolUse } from '@everlong/simulator'
import { describe, expect, test } from 'vitest'
import { gate, until } from '../testing/over-http.ts'
import type { Bench, BenchOptions } from '../testing/tool-bench.ts'
import { benches } from '../testing/with-bench.ts'

const setBench = benches()
const system = 'You help.'

/** The sub-agent has this script; nobody else asks the model. */
const withHelper = (script: Script, more: BenchOptions = {}): Promise<Bench> =>
  setBench({ stage: { script }, subagentSystem: system, isOnDisk: true, ...more })

const reading: Script = ({ messages }) =>
  messages.length === 1 ? toolUse('Read', { file_path: 'a.txt' }, 't_read') : text('It says hello (a.txt:1).')

describe('Task', () => {
  test('runs a sub-agent with its own window and transcript, and returns its report', async () => {
    const bench = await withHelper(reading)
    bench.write('a.txt', 'hello\n')
    const output = await bench.call('Task', { description: 'read a.txt', prompt: 'What does a.txt say?' })
    expect(output).toEqual({
      content: 'It says hello (a.txt:1).',
      details: { agentId: expect.any(String), description: 'read a.txt' },
    })
    const { agentId } = output.details as { readonly agentId: string }
    expect(readdirSync(join(bench.outside, 'session', 'subagents'))).toContain(`agent-${agentId}.jsonl`)
    const types = bench.events.flatMap((event) => (event.type === 'subagent' ? [event.event.type] : []))
    expect(types).toContain('tool-finished')
    // The parent has not read what the sub-agent has read.
    expect(await bench.say('Write', { file_path: 'a.txt', content: '' })).toContain('has not been read')
  })

  test('of a kind that only reads has no other tools; an unknown kind is refused', async () => {
    const offered: (readonly string[])[] = []
    const bench = await withHelper(({ tools = [] }) => {
      offered.push(tools.map(({ name }) => name))
      return text('Done.')
    })
    const input = { description: 'x', prompt: 'x' }
    await bench.call('Task', { ...input, subagent_type: 'explore' })
    await bench.call('Task', input)
    expect(offered[0]).toEqual(['Read', 'Grep', 'Glob', 'WebFetch'])
    expect(offered[1]).toEqual(expect.arrayContaining(['Bash', 'Edit', 'TodoWrite']))
    expect(offered[1]).not.toContain('Task')
    expect(await bench.say('Task', { ...input, subagent_type: 'poet' })).toBe(
      'ERROR: There is no kind of sub-agent poet. Known: general, explore.',
    )
  })

  test('asks the person for what its sub-agent does', async () => {
    const bench = await withHelper(
      ({ messages }) => (messages.length === 1 ? toolUse('Bash', { command: 'touch a' }, 't_run') : text('I may not.')),
      { answer: () => ({ type: 'deny' }) },
    )
    expect(await bench.say('Task', { description: 'x', prompt: 'x' })).toBe('I may not.')
    expect(bench.asked).toMatchObject([{ title: 'Run touch a', toolUseId: 't_run', reason: 'for a sub-agent' }])
  })

  test('in the background continues, is told when it has ended, and reports', async () => {
    const { opened, open } = gate()
    const bench = await withHelper(async (request, context) => {
      await opened
      return reading(request, context)
    })
    bench.write('a.txt', 'hello\n')
    const started = await bench.call('Task', { description: 'read a.txt', prompt: 'Go.', run_in_background: true })
    const { agentId: id } = started.details as { readonly agentId: string }
    expect(started.details).toEqual({ agentId: id, description: 'read a.txt', isAsync: true })
    expect(bench.tools.tasks.list()).toEqual([{ id, title: 'read a.txt', isRunning: true }])
    expect(await bench.say('TaskOutput', { task_id: id })).toBe(`Task ${id}: running.\n(no new output)`)
    open()
    await until(() => bench.tools.tasks.list()[0]?.isRunning === false)
    expect(await bench.say('TaskOutput', { task_id: id })).toBe(`Task ${id}: finished.\nIt says hello (a.txt:1).`)
    expect(JSON.stringify(bench.session.messages())).toContain(`<task-id>${id}</task-id>`)
  })

  test('tells after each answer how large its conversation is and what it has cost', async () => {
    const bench = await withHelper(reading)
    bench.write('a.txt', 'hello\n')
    await bench.call('Task', { description: 'read a.txt', prompt: 'Go.' })
    const spent = bench.events.flatMap((event) =>
      event.type === 'subagent' && event.event.type === 'spent' ? [event.event] : [],
    )
    expect(spent).toHaveLength(2)
    const [first, second] = spent
    expect(second?.tokens).toBeGreaterThan(first?.tokens ?? Number.POSITIVE_INFINITY)
    expect(second?.cost).toBeGreaterThan(first?.cost ?? Number.POSITIVE_INFINITY)
  })

  test('continues in the background when the person says so, and an interrupt of the turn does not stop it', async () => {
    const { opened, open } = gate()
    const bench = await withHelper(async (request, context) => {
      await opened
      return reading(request, context)
    })
    bench.write('a.txt', 'hello\n')
    const stop = new AbortController()
    const called = bench.call('Task', { description: 'read a.txt', prompt: 'Go.' }, stop.signal)
    await until(() => bench.tools.tasks.moveAll() === 1)
    const { details, content } = await called
    const { agentId: id } = details as { readonly agentId: string }
    expect(content).toBe(
      `The user sent it to the background as ${id}. You are told when it has ended; TaskOutput returns its report, TaskStop ends it.`,
    )
    stop.abort()
    const shown = bench.events.length
    open()
    expect(await bench.say('TaskOutput', { task_id: id, block: true })).toBe(
      `Task ${id}: finished.\nIt says hello (a.txt:1).`,
    )
    expect(bench.tools.tasks.find(id)?.recent()).toEqual(['Read a.txt', 'It says hello (a.txt:1).'])
    expect(bench.events.length).toBe(shown)
  })

  test('in the background is stopped by TaskStop, and with the tools', async () => {
    const never: Script = () => new Promise(() => undefined)
    const bench = await withHelper(never)
    const start = async () => {
      const { details } = await bench.call('Task', { description: 'wait', prompt: 'Go.', run_in_background: true })
      return (details as { readonly agentId: string }).agentId
    }
    const first = await start()
    await start()
    expect(await bench.say('TaskStop', { task_id: first })).toBe(`Stopped task ${first} (wait).`)
    await bench.tools.close()
    expect(bench.tools.tasks.list().map(({ isRunning }) => isRunning)).toEqual([false, false])
  })
})

describe('recall', () => {
  test.each([true, false])('finds what has left the context (on disk: %s)', async (isOnDisk) => {
    const bench = await setBench({ isOnDisk })
    bench.session.add({ role: 'user', content: 'The launch code is heliotrope.' })
    bench.session.add({ role: 'assistant', content: 'Noted.' })
    bench.write('a.txt', 'hello\n')
    await bench.call('Read', { file_path: 'a.txt' })
    expect(await bench.say('recall', { query: 'heliotrope' })).toContain('The launch code is heliotrope.')
    expect(await bench.say('recall', { read: 'toolu_1' })).toContain('1\thello')
    expect(await bench.say('recall', { read: 'nothing' })).toMatch(/^ERROR: Nothing/)
  })

  test('says so when its thread has ended, and works again with the next call', async () => {
    const bench = await setBench({ isOnDisk: true })
    bench.session.add({ role: 'user', content: 'The launch code is heliotrope.' })
    process.once('worker', (worker) => void worker.terminate())
    expect(await bench.say('recall', { query: 'heliotrope' })).toBe('ERROR: Recall failed: its thread has ended')
    expect(await bench.say('recall', { query: 'heliotrope' })).toContain('The launch code is heliotrope.')
  })
})
