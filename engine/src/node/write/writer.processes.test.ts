// The writer in real processes, which are stopped and killed.
import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { mulberry32 } from '../../testing/random.ts'
import { nodeProcesses, readLock } from '../lease/lock-file.ts'
import { type NumberedRecord, sumOf, temporaryFolders } from '../testing/sessions.ts'
import { nodeDisk } from './disk.ts'
import { openWriter } from './writer.ts'

type Worker = {
  readonly pid: number
  /** All answers so far. */
  readonly answers: readonly unknown[]
  readonly next: () => Promise<unknown>
  readonly ask: (command: object) => Promise<unknown>
  readonly tell: (command: object) => void
  readonly signal: (signal: NodeJS.Signals) => void
  readonly ended: Promise<void>
}

const folders = temporaryFolders()
let folder = ''
let session = ''
const started = new Set<ChildProcess>()
beforeEach(() => {
  folder = folders.next()
  session = join(folder, 'session.jsonl')
})
afterEach(() => {
  for (const child of started) child.kill('SIGKILL')
  started.clear()
})
afterAll(folders.remove)

async function startWorker(): Promise<Worker> {
  const script = join(import.meta.dirname, '..', 'testing', 'session-worker.ts')
  const child = spawn(process.execPath, [script], { stdio: ['pipe', 'pipe', 'pipe'] })
  started.add(child)
  const answers: unknown[] = []
  let errors = ''
  let rest = ''
  let read = 0
  let wake: () => void = () => undefined
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  child.stdout.on('data', (chunk) => {
    const lines = `${rest}${String(chunk)}`.split('\n')
    rest = lines.pop() ?? ''
    answers.push(...lines.map((line): unknown => JSON.parse(line)))
    wake()
  })
  // Ignores errors of writing to a child that was just killed.
  child.stdin.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => {
      started.delete(child)
      resolve()
      wake()
    })
  })
  const next = async () => {
    while (read >= answers.length) {
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(`A worker ended: ${errors}`)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    return answers[read++]
  }
  const tell = (command: object) => {
    child.stdin.write(`${JSON.stringify(command)}\n`)
  }
  const ask = (command: object) => {
    tell(command)
    return next()
  }
  expect(await next()).toBe('ready')
  return { pid: child.pid ?? 0, answers, next, ask, tell, signal: (name) => child.kill(name), ended }
}

async function deadProcess(): Promise<number> {
  const worker = await startWorker()
  worker.signal('SIGKILL')
  await worker.ended
  return worker.pid
}

/** The lock of a dead process. Its age makes no difference. */
function leaveLock(path: string, pid: number, round: number): void {
  const now = Date.now()
  const lock = {
    owner: 'the dead',
    ...nodeProcesses.self(),
    pid,
    token: `dead-${round}`,
    acquiredAt: new Date(now).toISOString(),
    expiresAt: new Date(now + 30_000).toISOString(),
  }
  writeFileSync(`${path}.lock`, JSON.stringify(lock))
}

function lockHolder(): number | undefined {
  return readLock({ disk: nodeDisk, path: `${session}.lock` })?.pid
}

describe('writers that are killed at random', () => {
  test('lose no record that they had said was written, and never write into one another', {
    timeout: 120_000,
  }, async () => {
    const seed = 20_261_115
    const random = mulberry32(seed)
    const kills = 6
    const told = new Map<string, Worker>()
    const running: Worker[] = []
    const startOne = async () => {
      const worker = await startWorker()
      const name = `writer-${told.size}`
      told.set(name, worker)
      worker.tell({ type: 'contend', path: session, name, seed: seed + told.size })
      return worker
    }
    for (let at = 0; at < 3; at++) running.push(await startOne())
    for (let kill = 0; kill < kills; kill++) {
      await pause(20 + random() * 80)
      // Mostly the process that is writing, because it has the most to lose.
      const writing = running.findIndex((worker) => worker.pid === lockHolder())
      const at = writing >= 0 && random() < 0.7 ? writing : Math.floor(random() * running.length)
      running[at]?.signal('SIGKILL')
      await running[at]?.ended
      running[at] = await startOne()
    }
    await pause(200)
    for (const worker of running) worker.signal('SIGKILL')
    for (const worker of running) await worker.ended

    const lines = readFileSync(session, 'utf8').split('\n')
    // The file may end in the middle of a record. Otherwise nothing follows its last newline.
    const last = lines.pop()
    if (last !== undefined && last !== '') lines.push(last)
    const read = lines.map((line): NumberedRecord | 'torn' => {
      try {
        return JSON.parse(line) as NumberedRecord
      } catch (error) {
        if (error instanceof SyntaxError) return 'torn'
        throw error
      }
    })
    const records = read.filter((record) => record !== 'torn')

    expect(records.filter((record) => sumOf(record) !== record.sum)).toEqual([])
    // One holder after the other: each token is one block, and a torn line ends a block.
    const blocks = read.flatMap((record, at) => {
      const before = read[at - 1]
      if (record === 'torn') return ['torn']
      return before !== undefined && before !== 'torn' && before.token === record.token ? [] : [record.token]
    })
    const tokens = blocks.filter((block) => block !== 'torn')
    expect(new Set(tokens).size).toBe(tokens.length)
    expect(blocks.length - tokens.length).toBeLessThanOrEqual(kills + 3)

    let acknowledged = 0
    for (const [name, worker] of told) {
      const written = records.filter((record) => record.name === name).map((record) => record.seq)
      expect(written).toEqual(written.map((_, at) => at + 1))
      const answers = worker.answers.slice(1)
      expect(answers).toEqual(answers.map((_, at) => ({ seq: at + 1 })))
      acknowledged += answers.length
      // The file may have one more: the process was killed after the write, before it could report it.
      expect([answers.length, answers.length + 1]).toContain(written.length)
    }
    expect(acknowledged).toBeGreaterThan(100)
    expect(tokens.length).toBeGreaterThan(kills / 2)

    const after = await openWriter(session, { owner: 'who comes after' })
    if (after.type !== 'opened') throw new Error(JSON.stringify(after))
    expect(after.writer.appendAll([{ uuid: 'after' }]).type).toBe('appended')
    after.writer.close()
    expect(readFileSync(session, 'utf8').endsWith('\n{"uuid":"after"}\n')).toBe(true)
    expect(readdirSync(folder)).toEqual(['session.jsonl'])
  })
})

describe('the lease of a dead process', () => {
  test('goes to exactly one of six processes that want it at the same moment, round after round', async () => {
    const workers = await Promise.all(Array.from({ length: 6 }, startWorker))
    const pid = await deadProcess()
    for (let round = 0; round < 12; round++) {
      leaveLock(session, pid, round)
      const at = Date.now() + 15
      const results = await Promise.all(workers.map((worker) => worker.ask({ type: 'race', path: session, at })))
      expect(results.toSorted()).toEqual(['acquired', 'held', 'held', 'held', 'held', 'held'])
      await Promise.all(workers.map((worker) => worker.ask({ type: 'release' })))
      expect(readdirSync(folder)).toEqual([])
    }
  })

  test('goes to exactly one of many that ask in one process', async () => {
    leaveLock(session, await deadProcess(), 0)
    const asked = Array.from({ length: 12 }, (_, at) => openWriter(session, { owner: `asker ${at}` }))
    const results = await Promise.all(asked)
    expect(results.map((result) => result.type).toSorted()).toEqual([...Array(11).fill('held'), 'opened'])
    for (const result of results) if (result.type === 'opened') result.writer.close()
  })

  // If the system does not tell when a process started, only the time can decide.
  const systemTells = nodeProcesses.self().started !== undefined
  test.runIf(systemTells)('is free also when another process has its number by now', async () => {
    const other = await startWorker()
    leaveLock(session, other.pid, 0)
    expect((await openWriter(session, { owner: 'a test' })).type).toBe('opened')
  })
})

describe('a writer that was stopped past the end of its lease', () => {
  const openAndStop = async () => {
    const worker = await startWorker()
    const terms = { durationMs: 300, graceMs: 150 }
    expect(await worker.ask({ type: 'open', path: session, ...terms })).toBe('opened')
    expect(await worker.ask({ type: 'append', record: { from: 'the first' } })).toMatchObject({ type: 'appended' })
    worker.signal('SIGSTOP')
    return worker
  }

  test('is informed that the lease is lost when another took it, and writes nothing', async () => {
    const worker = await openAndStop()
    let result = await openWriter(session, { owner: 'the second', graceMs: 150 })
    for (let tries = 0; tries < 500 && result.type === 'held'; tries++) {
      await pause(10)
      result = await openWriter(session, { owner: 'the second', graceMs: 150 })
    }
    if (result.type !== 'opened') throw new Error(JSON.stringify(result))
    result.writer.appendAll([{ from: 'the second' }])
    worker.signal('SIGCONT')
    for (let tries = 0; tries < 2; tries++) {
      expect(await worker.ask({ type: 'append', record: { from: 'the first, again' } })).toMatchObject({
        type: 'lease-lost',
        by: { owner: 'the second', pid: process.pid },
      })
    }
    result.writer.appendAll([{ from: 'the second, again' }])
    result.writer.close()
    expect(readFileSync(session, 'utf8')).toBe(
      '{"from":"the first"}\n{"from":"the second"}\n{"from":"the second, again"}\n',
    )
  })

  test('continues when nobody took it', async () => {
    const worker = await openAndStop()
    await pause(600)
    worker.signal('SIGCONT')
    const appended = await worker.ask({ type: 'append', record: { from: 'the first, again' } })
    expect(appended).toMatchObject({ type: 'appended' })
    expect(readFileSync(session, 'utf8')).toBe('{"from":"the first"}\n{"from":"the first, again"}\n')
  })
})
