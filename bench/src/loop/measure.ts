// A process of its own: plays one scenario with the engine of a folder, and prints how long the event loop was held.
// `measure.ts ROOT SCENARIO THREADS SESSIONS`
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

type Everlong = typeof import('everlong')
type Session = Awaited<ReturnType<ReturnType<Everlong['createEngine']>['start']>>

export type Measured = {
  readonly step: string
  /** Milliseconds of the processor that the event loop was held. */
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Milliseconds by the clock. */
  readonly clock: { readonly p99: number; readonly max: number }
  /** From the first call to the last result. */
  readonly took: number
  /** Milliseconds of the processor, of the main thread. */
  readonly cpu: number
}

const [root = '', scenario = '', threads = 'main', count = '200'] = process.argv.slice(2)
const sources = `${pathToFileURL(root).href}/engine/src`
const { createEngine, offline }: Everlong = await import(`${sources}/index.ts`)
const small = { contextWindow: 60_000, autoCompactAt: 30_000, maxOutputTokens: 8_000 }
const settings = scenario === 'large' ? { contextWindow: 1_000_000 } : small
const options = {
  model: offline(),
  environment: {},
  // All must summarize the same: results of finished turns are not cleared before.
  settings: { ...settings, economy: 'claude-code', sessionMemory: false, recall: true },
} as const
const engine = threads === 'worker' ? await engineWithWorker() : createEngine(options)

/** Without files and git, which the engine for any runtime does not have either. */
async function engineWithWorker() {
  const { createEngine: onNode }: typeof import('everlong/node') = await import(`${sources}/node.ts`)
  const files = { read: async () => ({ type: 'missing' }) as const }
  const workspace = { state: async () => ({ type: 'unknown', why: 'not asked' }) as const }
  return onNode({ ...options, files, workspace, worker: true })
}

async function filled(nth: number, turns: number): Promise<Session> {
  const session = await engine.start()
  for (let turn = 0; turn < turns; turn++) addTurn(session, nth, turn)
  session.add({ role: 'user', content: 'And now?' })
  return session
}

function addTurn(session: Session, nth: number, turn: number, tokens = 640 * (turn + 1)): void {
  const id = `${nth}-${turn}`
  const file = Array.from({ length: 40 }, (_, line) => {
    return `${line}\tconst value${(nth * 31 + turn * 7 + line) % 977} = parse(order${(turn * line) % 53}, '${id}-${line}');`
  })
  session.add({ role: 'user', content: `Turn ${turn}: never restart db-${turn}; look at file ${turn}.` })
  session.record(
    answer(`m${id}`, 1, [{ type: 'tool_use', id: `t${id}`, name: 'Read', input: { file_path: `/r/${turn}.ts` } }]),
  )
  session.add({ role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${id}`, content: file.join('\n') }] })
  session.record(answer(`n${id}`, tokens, [{ type: 'text', text: `Done with file ${turn}.` }]))
}

function answer(id: string, input_tokens: number, content: readonly object[]) {
  const usage = { input_tokens, output_tokens: 1 }
  const stop_reason = content.some((block) => 'name' in block) ? 'tool_use' : 'end_turn'
  return { id, type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', content, stop_reason, usage } as never
}

/**
 * Two measures while `work` runs: by the clock (`monitorEventLoopDelay`), which on a busy machine includes the time of other
 * processes, and the processor time of this thread between two firings of a timer of one millisecond.
 */
async function measured(step: string, work: () => Promise<unknown>): Promise<Measured> {
  globalThis.gc?.()
  await setTimeout(20)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const held: number[] = []
  let last = cpuNow()
  const timer = setInterval(() => {
    const now = cpuNow()
    held.push(now - last)
    last = now
  }, 1)
  await setTimeout(10)
  delay.reset()
  held.length = 0
  const [started, before] = [performance.now(), cpuNow()]
  await work()
  const took = performance.now() - started
  const cpu = cpuNow() - before
  await setTimeout(50)
  clearInterval(timer)
  delay.disable()
  const sorted = held.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  const clock = { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 }
  return { step, p50: at(0.5), p99: at(0.99), max: at(1), clock, took, cpu }
}

/** Milliseconds of this thread. */
function cpuNow(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function sessions(): Promise<readonly Measured[]> {
  const all: Session[] = []
  for (let nth = 0; nth < Number(count); nth++) {
    all.push(await filled(nth, 60))
    await setImmediate()
  }
  const each = (step: (session: Session, nth: number) => Promise<unknown>) => () => Promise.all(all.map(step))
  const compacting = each(async (session) => {
    const { compaction } = await session.prepare()
    if (!compaction) throw new Error('A session did not compact.')
  })
  const turns = each(async (session, nth) => {
    // Requests of different users do not come in the same millisecond.
    await setTimeout(nth)
    for (let turn = 60; turn < 65; turn++) {
      addTurn(session, nth, turn, 9_000)
      session.add({ role: 'user', content: 'And now?' })
      const ready = await session.prepare()
      if (ready.type !== 'ready') throw new Error(ready.why)
      await setTimeout(20)
      session.record(answer(`a${nth}-${turn}`, 9_000, [{ type: 'text', text: 'Done.' }]))
    }
  })
  const recalling = each((session) => session.recall('restart db-33'))
  return [await measured('compact', compacting), await measured('turns', turns), await measured('recall', recalling)]
}

async function large(): Promise<readonly Measured[]> {
  const session = await filled(0, 1_250)
  await setImmediate()
  const steps = [await measured('prepare', () => session.prepare())]
  session.record(answer('last', 800_000, [{ type: 'text', text: 'Done.' }]))
  session.add({ role: 'user', content: 'And now?' })
  steps.push(await measured('prepare again', () => session.prepare()))
  steps.push(await measured('recall', () => session.recall('restart db-33')))
  const compact = async () => {
    const { type } = await session.compact()
    if (type !== 'compacted') throw new Error('It was not compacted.')
  }
  return [...steps, await measured('compact', compact)]
}

// The code of a compaction and of a search is loaded by the first of them.
for (let nth = 1; nth <= 5; nth++) {
  const warm = await filled(-nth, 60)
  await warm.prepare()
  await warm.recall('restart db-33')
  await warm.compact()
}
console.log(JSON.stringify(scenario === 'large' ? await large() : await sessions()))
