// Several worker processes share the sessions of one database while they are killed, paused for longer than their lease, and the
// database restarts. Afterwards every session must equal the work of one undisturbed worker.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import type { JsonObject } from '../../core/message/json.ts'
import { noPosition, type SessionStore } from '../../core/ports/session-store.ts'
import { foldEntries } from '../../core/transcript/view/fold.ts'
import { createEngine } from '../../engine.ts'
import { offline } from '../../models/offline.ts'
import { mulberry32 } from '../../testing/random.ts'
import { copySessions } from '../copy.ts'
import { jsonlSessions } from '../disk/jsonl.ts'
import type { TestServer } from './postgres-server.ts'
import { type Acknowledged, prompt, sessionName, type WorkerInput, type WorkerLine } from './worker.ts'

export type ScenarioOptions = {
  readonly sessions: number
  readonly turns: number
  readonly seed: number
  /** Minimum number of each disturbance. More follow as long as the workers run. */
  readonly kills: number
  readonly pauses: number
  readonly leaseMs: number
  /** Milliseconds between two disturbances. */
  readonly everyMs: number
}

export type ScenarioReport = {
  readonly records: number
  readonly acknowledged: number
  readonly kills: number
  readonly pauses: number
  readonly restarts: number
  /** How often a worker found that another one had taken its session. */
  readonly lost: number
  /** Problems as sentences. Empty if everything is correct. */
  readonly problems: readonly string[]
}

type Counts = { kills: number; pauses: number; restarts: number; lost: number; problems: string[] }

export async function runScenario(server: TestServer, options: ScenarioOptions): Promise<ScenarioReport> {
  const schema = `scenario_${options.seed}`
  const store = server.store({ schema, tenant: 'scenario' })
  await store.ready()
  const acknowledged: Acknowledged[] = []
  const counts: Counts = { kills: 0, pauses: 0, restarts: 0, lost: 0, problems: [] }
  const crew = hire({ server, schema, options, acknowledged, counts })
  while (acknowledged.length === 0 && crew.isBusy()) await pause(20)
  await disturb(crew, { server, options, counts })
  await crew.finished()
  const checked = await checkSessions(store, options, acknowledged)
  return {
    records: checked.records,
    acknowledged: acknowledged.length,
    ...counts,
    problems: [...counts.problems, ...checked.problems],
  }
}

type Crew = {
  readonly workers: () => readonly ChildProcess[]
  readonly isBusy: () => boolean
  readonly finished: () => Promise<void>
}

type Hiring = {
  readonly server: TestServer
  readonly schema: string
  readonly options: ScenarioOptions
  readonly acknowledged: Acknowledged[]
  readonly counts: Counts
}

/** Three workers. A killed one is replaced. */
function hire({ server, schema, options, acknowledged, counts }: Hiring): Crew {
  const { sessions, turns, leaseMs } = options
  const running = new Set<ChildProcess>()
  let hired = 0
  let isOver = false
  const start = () => {
    const name = `worker ${++hired}`
    const input: WorkerInput = { url: server.url, schema, name, seed: options.seed + hired, sessions, turns, leaseMs }
    const script = join(import.meta.dirname, 'worker.ts')
    const child = spawn(process.execPath, [script, JSON.stringify(input)], { stdio: ['ignore', 'pipe', 'pipe'] })
    running.add(child)
    const errors: string[] = []
    child.stderr.on('data', (chunk: unknown) => errors.push(String(chunk)))
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as WorkerLine
      if ('session' in line) acknowledged.push(line)
      else if ('lost' in line) counts.lost++
      else isOver = true
    })
    child.once('close', (code, signal) => {
      running.delete(child)
      if (code !== 0 && signal !== 'SIGKILL') counts.problems.push(`${name} ended with ${code}: ${errors.join('')}`)
      if (signal === 'SIGKILL' && !isOver) start()
    })
  }
  for (let at = 0; at < 3; at++) start()
  return {
    workers: () => [...running],
    isBusy: () => running.size > 0 && !isOver,
    finished: async () => {
      while (running.size > 0) await pause(20)
    },
  }
}

async function disturb(
  crew: Crew,
  { server, options, counts }: Omit<Hiring, 'schema' | 'acknowledged'>,
): Promise<void> {
  const random = mulberry32(options.seed)
  const { everyMs, leaseMs } = options
  const resumed: Promise<void>[] = []
  for (let step = 1; crew.isBusy(); step++) {
    await pause(everyMs * (0.5 + random()))
    const workers = crew.workers()
    const chosen = workers[Math.floor(random() * workers.length)]
    if (!chosen || !crew.isBusy()) break
    if (counts.restarts === 0 && step >= 3) {
      counts.restarts++
      await server.restart('crash')
    } else if (step % 2 === 1 && counts.kills < options.kills) {
      counts.kills++
      chosen.kill('SIGKILL')
    } else if (counts.pauses < options.pauses && chosen.kill('SIGSTOP')) {
      counts.pauses++
      resumed.push(pause(leaseMs * 2).then(() => void chosen.kill('SIGCONT')))
    }
  }
  await Promise.all(resumed)
}

async function checkSessions(store: SessionStore, { sessions, turns }: ScenarioOptions, told: readonly Acknowledged[]) {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-scenario-'))
  const problems: string[] = []
  let records = 0
  try {
    const disk = jsonlSessions({ folder })
    const copied = await copySessions({ from: store, to: disk })
    if (copied.sessions !== sessions) problems.push(`${copied.sessions} sessions instead of ${sessions}`)
    for (let at = 0; at < sessions; at++) {
      const id = sessionName(at)
      const found = await recordsIn(store, id)
      records += found.length
      problems.push(...problemsIn(id, { found, turns, told: told.filter(({ session }) => session === id) }))
      problems.push(...(await viewProblems(id, found, [store, disk])))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { records, problems }
}

async function recordsIn(store: SessionStore, id: string): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  for await (const { record } of store.records(id)) found.push(record)
  return found
}

type Session = {
  readonly found: readonly JsonObject[]
  readonly turns: number
  readonly told: readonly Acknowledged[]
}

/** Every prompt once and in order, each with one answer; everything acknowledged; nothing from another session. */
function problemsIn(id: string, { found, turns, told }: Session): readonly string[] {
  const problems: string[] = []
  const uuids = found.flatMap(({ uuid }) => (typeof uuid === 'string' ? [uuid] : []))
  if (new Set(uuids).size !== uuids.length) problems.push(`${id}: a uuid occurs twice`)
  if (found.some(({ sessionId }) => sessionId !== undefined && sessionId !== id))
    problems.push(`${id}: a foreign record`)
  const spoken = found.filter(({ type, isCompactSummary }) => isSpoken(type) && isCompactSummary !== true)
  const prompts = spoken.filter(({ type }) => type === 'user').map(({ message }) => contentOf(message))
  const expected = Array.from({ length: turns }, (_, at) => prompt(id, at + 1))
  if (JSON.stringify(prompts) !== JSON.stringify(expected)) problems.push(`${id}: prompts ${prompts.join(' | ')}`)
  const order = spoken.map(({ type }) => (type === 'user' ? 'u' : 'a')).join('')
  if (order !== 'ua'.repeat(turns)) problems.push(`${id}: prompts and answers do not take turns: ${order}`)
  const known = new Set(uuids)
  const missing = told.flatMap(({ asked, answered }) => [asked, answered]).filter((uuid) => !known.has(uuid))
  if (missing.length > 0) problems.push(`${id}: acknowledged and gone: ${missing.join(', ')}`)
  return problems
}

function isSpoken(type: unknown): boolean {
  return type === 'user' || type === 'assistant'
}

function contentOf(message: unknown): unknown {
  return (message as { readonly content?: unknown } | undefined)?.content
}

/** An engine's view of the session, from the database and from disk, equals the fold of all records. */
async function viewProblems(id: string, records: readonly JsonObject[], stores: readonly SessionStore[]) {
  const whole = foldEntries(records.map((record) => ({ record, position: noPosition })))
  const problems: string[] = []
  for (const [at, store] of stores.entries()) {
    const session = await createEngine({ model: offline(), store }).open(id)
    const isSame = JSON.stringify(session.messages()) === JSON.stringify(whole.messages)
    if (!isSame) problems.push(`${id}: the view ${at === 0 ? 'from the database' : 'on disk'} differs`)
    await session.close()
  }
  return problems
}
