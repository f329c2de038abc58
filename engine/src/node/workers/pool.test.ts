import { spawnSync } from 'node:child_process'
import { setImmediate } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { createStop } from '../../core/ports/safely.ts'
import { offline } from '../../models/offline.ts'
import { createEngine } from '../../node-engine.ts'
import { WorkerPool } from './pool.ts'

/** Answers each task after a message on its channel, or does what the task says. */
const code = `
const { parentPort } = require('node:worker_threads')
parentPort.on('message', ({ type, id, name, input }) => {
  if (type === 'cancel') parentPort.postMessage({ type: 'failed', id, why: 'canceled' })
  else if (name === 'exit') process.exit(3)
  else if (name === 'throw') throw new Error('out of order')
  else if (name === 'fail') parentPort.postMessage({ type: 'failed', id, why: 'no such thing' })
  else if (name === 'other-id') { parentPort.postMessage({ type: 'done', id: id + 100, value: 'wrong' }); parentPort.postMessage({ type: 'done', id, value: 'right' }) }
  else if (name !== 'hang') parentPort.postMessage({ type: 'done', id, value: input })
})
parentPort.postMessage({ type: 'ready' })`

function createPool(maxThreads = 1, start: (() => Worker) | undefined = undefined) {
  let started = 0
  const begin = start ?? (() => new Worker(code, { eval: true }))
  const pool = new WorkerPool({
    maxThreads,
    start: () => {
      started++
      return begin()
    },
  })
  return { pool, started: () => started }
}

const done = (value: unknown) => ({ type: 'done', value })

test('a task is done in a thread, and one thread serves many', async () => {
  const { pool, started } = createPool()
  const offload = pool.offload()
  const input = { text: 'a\ud800b', list: [undefined, null, 1], set: new Set([undefined, 'a']) }
  expect(await offload({ name: 'echo', input })).toEqual(done(input))
  expect(await offload({ name: 'echo', input: 2 })).toEqual(done(2))
  expect(started()).toBe(1)
})

test('sessions take turns, and the tasks of one are done in order', async () => {
  const { pool } = createPool()
  const order: unknown[] = []
  const sessions = ['a', 'b', 'c'].map((name) => ({ name, offload: pool.offload() }))
  const ask = async (at: number, count: number) => {
    const { name, offload } = sessions[at] ?? sessions[0]!
    const tasks = Array.from({ length: count }, (_, nth) => offload({ name: 'echo', input: `${name}${nth}` }))
    await Promise.all(tasks.map(async (task) => order.push(((await task) as { value: unknown }).value)))
  }
  await Promise.all([ask(0, 4), ask(1, 2), ask(2, 1)])
  // The first starts at once; then each waiting session has its turn.
  expect(order).toEqual(['a0', 'a1', 'b0', 'c0', 'a2', 'b1', 'a3'])
})

test('as many threads start as there is work for, and no more than allowed', async () => {
  const { pool, started } = createPool(2)
  const tasks = Array.from({ length: 5 }, (_, nth) => pool.offload()({ name: 'echo', input: nth }))
  expect(await Promise.all(tasks)).toEqual([0, 1, 2, 3, 4].map(done))
  expect(started()).toBe(2)
})

test.each([
  ['exit', 'A worker thread failed: it ended with exit code 3.'],
  ['throw', 'A worker thread failed: out of order.'],
])('a thread that dies (%s) fails its task and is replaced; those that wait are done', async (name, why) => {
  const { pool, started } = createPool()
  const offload = pool.offload()
  expect(await offload({ name: 'echo', input: 1 })).toEqual(done(1))
  const [died, next] = await Promise.all([offload({ name, input: 2 }), offload({ name: 'echo', input: 3 })])
  expect([died, next]).toEqual([{ type: 'failed', why }, done(3)])
  expect(started()).toBe(2)
  // Reported each time.
  expect(await offload({ name, input: 4 })).toEqual({ type: 'failed', why })
})

test('a task that fails in its thread leaves the thread alive', async () => {
  const { pool, started } = createPool()
  const offload = pool.offload()
  expect(await offload({ name: 'fail', input: 1 })).toEqual({ type: 'failed', why: 'no such thing' })
  expect(await offload({ name: 'other-id', input: 1 })).toEqual(done('right'))
  expect(started()).toBe(1)
})

test('an input that cannot be copied fails with a reason, and the thread stays free', async () => {
  const { pool, started } = createPool()
  const offload = pool.offload()
  const failed = await offload({ name: 'echo', input: () => undefined })
  expect(failed).toMatchObject({ type: 'failed', why: expect.stringContaining('cannot be copied') })
  expect(await offload({ name: 'echo', input: 1 })).toEqual(done(1))
  expect(started()).toBe(1)
})

test('an abort ends a running task at once, its thread is used again, and a late answer is ignored', async () => {
  const { pool, started } = createPool()
  const offload = pool.offload()
  const stop = createStop()
  const hanging = offload({ name: 'hang', input: 1 }, stop.signal)
  const next = offload({ name: 'echo', input: 2 })
  await setImmediate()
  stop.stop()
  expect(await hanging).toEqual({ type: 'aborted' })
  expect(await next).toEqual(done(2))
  expect(started()).toBe(1)
})

test('an abort takes a waiting task out of the queue; one that comes too late starts nothing', async () => {
  const { pool, started } = createPool()
  const [one, other] = [pool.offload(), pool.offload()]
  const first = one({ name: 'echo', input: 1 })
  const stop = createStop()
  const waiting = [other({ name: 'exit', input: 2 }, stop.signal), other({ name: 'echo', input: 3 })]
  stop.stop()
  expect(await Promise.all([first, ...waiting])).toEqual([done(1), { type: 'aborted' }, done(3)])
  expect(await other({ name: 'exit', input: 4 }, stop.signal)).toEqual({ type: 'aborted' })
  expect(await one({ name: 'echo', input: 5 })).toEqual(done(5))
  // The aborted tasks would have ended the thread.
  expect(started()).toBe(1)
})

test.each([
  [
    'its file is missing',
    () => new Worker(new URL('./nowhere.js', import.meta.url)),
    /^No worker thread could be started: .*nowhere/,
  ],
  ['it cannot be made', () => new Worker('not a path'), /^No worker thread could be started: /],
])(
  'if no thread starts because %s, every session is told once, and nothing is tried again',
  async (_, start, problem) => {
    const { pool, started } = createPool(1, start as () => Worker)
    const [one, other] = [pool.offload(), pool.offload()]
    const ask = (offload: typeof one) => offload({ name: 'echo', input: 1 })
    const first = await Promise.all([ask(one), ask(one), ask(other)])
    const [whys = [], [otherWhy] = []] = [first.slice(0, 2), first.slice(2)].map((outcomes) =>
      outcomes.flatMap((outcome) => (outcome.type === 'failed' ? (outcome.why ?? []) : ['done'])),
    )
    expect(whys).toEqual([expect.stringMatching(problem)])
    expect(whys).toEqual([expect.stringContaining('compaction-worker.js')])
    expect(otherWhy).toBe(whys[0])
    expect(await Promise.all([ask(one), ask(other)])).toEqual([{ type: 'failed' }, { type: 'failed' }])
    expect(started()).toBe(1)
  },
)

function run(script: string, ...options: readonly string[]) {
  const words = [...options, '--input-type=module', '-e', script]
  return spawnSync(process.execPath, words, { cwd: import.meta.dirname, encoding: 'utf8', timeout: 60_000 })
}

const compaction = `
import { createEngine } from '${new URL('../../node.ts', import.meta.url).href}'
import { offline } from '${new URL('../../index.ts', import.meta.url).href}'
const onEvent = ({ type, problem }) => type === 'worker-failed' && console.log(problem)
const session = await createEngine({ model: offline(), worker: true, environment: {}, onEvent }).start()
session.add({ role: 'user', content: 'Never drop orders_2019. ' + 'It is needed. '.repeat(500) })
session.record({ content: 'I will not. '.repeat(500) })
const compacted = session.compact()`

test('the process waits for a compaction that somebody waits for, and for no idle thread', () => {
  expect(run(`${compaction}\nconsole.log((await compacted).type)`)).toMatchObject({ status: 0, stdout: 'compacted\n' })
})

test('modules that the process preloads are not loaded into threads, and its environment stays outside', () => {
  const preload = `data:text/javascript,import{isMainThread as m}from'node:worker_threads';console.log('loaded',m)`
  expect(run(`${compaction}\nconsole.log((await compacted).type)`, `--import=${preload}`)).toMatchObject({
    status: 0,
    stdout: 'loaded true\ncompacted\n',
  })
})

test('where threads are forbidden, the compaction is done on the main thread and says so', () => {
  const { status, stdout } = run(
    `${compaction}\nconsole.log((await compacted).type)`,
    '--permission',
    '--allow-fs-read=*',
    '--allow-child-process',
  )
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^No worker thread could be started: .*\ncompacted\n$/)])
})

test('an abort during a compaction ends it, and the session is unchanged', async () => {
  const session = await createEngine({ model: offline(), worker: true, environment: {} }).start()
  session.add({ role: 'user', content: 'Never drop orders_2019. '.repeat(20_000) })
  session.record({ content: 'I will not. '.repeat(500) })
  const before = JSON.stringify(await session.entries())
  const stop = new AbortController()
  const compacting = session.compact({ signal: stop.signal })
  await setImmediate()
  stop.abort()
  expect(await compacting).toMatchObject({ type: 'failed', reason: 'aborted' })
  expect(JSON.stringify(await session.entries())).toBe(before)
})

test('worker must be a boolean', () => {
  const wrong = { model: offline(), worker: 'yes' } as never
  expect(() => createEngine(wrong)).toThrow('createEngine(): worker must be true or false; it is "yes".')
})
