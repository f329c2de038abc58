import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { temporaryFolders, watchedDisk } from '../testing/sessions.ts'
import { type Disk, nodeDisk, type Opening, systemError } from '../write/disk.ts'
import { acquireLease, type Lease, type LeaseResult } from './lease.ts'
import type { nodeProcesses } from './lock-file.ts'

const start = Date.parse('2026-01-02T03:04:05.000Z')

/** A simulated machine: a clock that the test sets, processes that it ends, and ids in order. */
function world(folder: string) {
  const session = join(folder, 'session.jsonl')
  const dead = new Set<number>()
  let ids = 0
  const state = { now: start, isElsewhere: false }
  const acquire = (pid: number, disk: Disk = nodeDisk): LeaseResult => {
    const processes: typeof nodeProcesses = {
      self: () => ({ pid, host: 'box' }),
      isHere: () => !state.isElsewhere,
      isDead: (mark) => dead.has(mark.pid),
    }
    const ports = { now: () => state.now, newId: () => `token-${++ids}`, disk, processes, every: () => () => undefined }
    return acquireLease(session, { owner: `writer ${pid}`, ports, durationMs: 30_000, graceMs: 10_000 })
  }
  const mustAcquire = (pid: number): Lease => {
    const result = acquire(pid)
    if (result.type !== 'acquired') throw new Error(`${pid} was refused`)
    return result.lease
  }
  return { session, lock: `${session}.lock`, dead, state, acquire, mustAcquire }
}

const by = (pid: number, since = start) => ({
  owner: `writer ${pid}`,
  pid,
  host: 'box',
  since: new Date(since).toISOString(),
})

const folders = temporaryFolders()
let folder = ''
beforeEach(() => {
  folder = folders.next()
})
afterAll(folders.remove)

describe('a lease', () => {
  test('is a lock file that says who, where, since when and until when', () => {
    const { lock, mustAcquire } = world(folder)
    mustAcquire(7)
    expect(JSON.parse(readFileSync(lock, 'utf8'))).toEqual({
      owner: 'writer 7',
      pid: 7,
      host: 'box',
      token: 'token-1',
      acquiredAt: '2026-01-02T03:04:05.000Z',
      expiresAt: '2026-01-02T03:04:35.000Z',
    })
    expect(readdirSync(folder)).toEqual(['session.jsonl.lock'])
  })

  test('tells a second writer who has it, also one in the same process', () => {
    const { acquire, mustAcquire } = world(folder)
    mustAcquire(7)
    expect([acquire(8), acquire(7)]).toEqual([
      { type: 'held', by: by(7) },
      { type: 'held', by: by(7) },
    ])
    expect(readdirSync(folder)).toEqual(['session.jsonl.lock'])
  })

  test('tells one on another machine, which sees no crash, when it is free', () => {
    const { acquire, mustAcquire, state } = world(folder)
    mustAcquire(7)
    state.isElsewhere = true
    expect(acquire(8)).toEqual({ type: 'held', by: { ...by(7), freeInMs: 40_000 } })
    state.now = start + 39_999
    expect(acquire(8)).toEqual({ type: 'held', by: { ...by(7), freeInMs: 1 } })
    state.now = start + 40_000
    expect(acquire(8).type).toBe('acquired')
  })

  test('leaves nothing behind when it is released, and is free again', () => {
    const { acquire, mustAcquire } = world(folder)
    const lease = mustAcquire(7)
    lease.release()
    expect(readdirSync(folder)).toEqual([])
    expect(lease.confirm()).toEqual({ type: 'lease-lost' })
    expect(acquire(8).type).toBe('acquired')
  })

  test('of the dead is free at once', () => {
    const { acquire, dead, mustAcquire } = world(folder)
    const lease = mustAcquire(7)
    dead.add(7)
    expect(acquire(8).type).toBe('acquired')
    expect(lease.confirm()).toEqual({ type: 'lease-lost', by: by(8) })
    expect(readdirSync(folder)).toEqual(['session.jsonl.lock'])
  })

  test('is cleared of what the dead left beside it, and of nothing else', () => {
    const { acquire, dead, mustAcquire, lock } = world(folder)
    mustAcquire(7)
    const text = readFileSync(lock, 'utf8')
    const others = ['lock.bak', 'lock.a.b.next', 'lock.draft', 'other.lock.a.next'].map((end) => `session.jsonl.${end}`)
    for (const name of others) writeFileSync(join(folder, name), text)
    for (const end of ['a.draft', 'b.next']) writeFileSync(`${lock}.${end}`, text)
    writeFileSync(`${lock}.c.draft`, '{"half')
    writeFileSync(`${lock}.d.draft`, text.replace('"pid":7', '"pid":9'))
    dead.add(7)
    expect(acquire(8).type).toBe('acquired')
    const kept = ['session.jsonl.lock', 'session.jsonl.lock.d.draft', ...others]
    expect(readdirSync(folder).toSorted()).toEqual(kept.toSorted())
  })

  test('that nobody has is taken without reading the folder, which may hold thousands of sessions', () => {
    const lists: string[] = []
    const disk = {
      ...nodeDisk,
      list: (name: string) => {
        lists.push(name)
        return nodeDisk.list(name)
      },
    }
    const { acquire, dead } = world(folder)
    const first = acquire(7, disk)
    if (first.type === 'acquired') first.lease.release()
    acquire(8, disk)
    expect(lists).toEqual([])
    dead.add(8)
    acquire(9, disk)
    expect(lists).toEqual([folder])
  })

  test('whose id could name another file is a mistake of whoever gives the ids', () => {
    const ports = { newId: () => '../up' }
    expect(() => acquireLease(join(folder, 'session.jsonl'), { owner: 'a test', ports })).toThrow(
      'newId returned "../up"; an id must be 1 to 64 letters, digits, "-" or "_".',
    )
    expect(readdirSync(folder)).toEqual([])
  })

  test('of somebody who may be alive is left to him until the grace is over', () => {
    const { acquire, mustAcquire, state } = world(folder)
    const lease = mustAcquire(7)
    state.now = start + 39_999
    expect(acquire(8)).toEqual({ type: 'held', by: by(7) })
    state.now = start + 40_000
    expect(acquire(8).type).toBe('acquired')
    expect(lease.confirm()).toEqual({ type: 'lease-lost', by: by(8, state.now) })
    lease.release()
    expect(JSON.parse(readFileSync(world(folder).lock, 'utf8')).pid).toBe(8)
  })

  test('is renewed when half of it is over, and keeps its token', () => {
    const { lock, mustAcquire, state } = world(folder)
    const lease = mustAcquire(7)
    state.now = start + 20_000
    expect(lease.confirm()).toEqual({ type: 'held' })
    expect(lease.token()).toBe('token-1')
    expect(JSON.parse(readFileSync(lock, 'utf8')).expiresAt).toBe('2026-01-02T03:04:55.000Z')
  })

  test('is renewed by itself three times in its length, also when nothing is written', () => {
    const { lock, state } = world(folder)
    const timers: { readonly ms: number; readonly run: () => void }[] = []
    let stopped = 0
    const every = (ms: number, run: () => void) => {
      timers.push({ ms, run })
      return () => {
        stopped++
      }
    }
    const ports = { now: () => state.now, every }
    const result = acquireLease(join(folder, 'session.jsonl'), { owner: 'a test', ports, durationMs: 30_000 })
    if (result.type !== 'acquired') throw new Error('refused')
    expect(timers.map((timer) => timer.ms)).toEqual([10_000])
    for (const at of [10_000, 20_000]) {
      state.now = start + at
      for (const timer of timers) timer.run()
    }
    expect(JSON.parse(readFileSync(lock, 'utf8')).expiresAt).toBe('2026-01-02T03:04:55.000Z')
    result.lease.release()
    expect(stopped).toBe(1)
  })

  test('that nobody took while its holder slept is taken anew, under another token', () => {
    const { acquire, mustAcquire, state } = world(folder)
    const lease = mustAcquire(7)
    state.now = start + 8 * 3_600_000
    expect(lease.confirm()).toEqual({ type: 'held' })
    expect(lease.token()).toBe('token-2')
    expect(acquire(8)).toEqual({ type: 'held', by: by(7) })
    expect(readdirSync(folder)).toEqual(['session.jsonl.lock'])
  })

  test('that was taken and given back while its holder slept is lost to it', () => {
    const { mustAcquire, state } = world(folder)
    const lease = mustAcquire(7)
    state.now = start + 60_000
    mustAcquire(8).release()
    expect(lease.confirm()).toEqual({ type: 'lease-lost' })
  })

  test('whose file cannot be read belongs to somebody unknown until that file is old', () => {
    for (const text of [
      '',
      '{"owner":"x"',
      '{"owner":"x","pid":1,"host":"h","token":"../../up","acquiredAt":"","expiresAt":""}',
    ]) {
      const { acquire, lock, state } = world(folder)
      writeFileSync(lock, text)
      state.now = Date.now()
      expect(acquire(8).type).toBe('held')
      state.now = Date.now() + 41_000
      const result = acquire(8)
      expect(result.type).toBe('acquired')
      if (result.type === 'acquired') result.lease.release()
      expect(existsSync(lock)).toBe(false)
    }
  })

  test('is kept through a disk that is full, for as long as it lasts', () => {
    const { acquire, state } = world(folder)
    let full = false
    const disk = watchedDisk((operation) => {
      if (full && operation === 'open') throw systemError('ENOSPC', 'ENOSPC')
    })
    const reading = {
      ...disk,
      open: (path: string, opening: Opening) => (opening === 'read' ? nodeDisk : disk).open(path, opening),
    }
    const result = acquire(7, reading)
    if (result.type !== 'acquired') throw new Error('refused')
    full = true
    state.now = start + 20_000
    expect(result.lease.confirm()).toEqual({ type: 'held' })
    state.now = start + 31_000
    expect(() => result.lease.confirm()).toThrow('ENOSPC')
    full = false
    expect(result.lease.confirm()).toEqual({ type: 'held' })
  })
})

describe('taking over the lease of the dead', () => {
  /** The event before step number `at` of a contender: it dies, or others run one after the other. */
  type Turn = { readonly at: number; readonly event: 'dies' | 'pauses' | 'pauses-then-others-release' }
  const turns = fc.record<Turn>({
    at: fc.nat({ max: 45 }),
    event: fc.constantFrom('dies', 'pauses', 'pauses', 'pauses', 'pauses-then-others-release'),
  })

  test('has one winner at the most, wherever contenders are stopped or killed, and is never stuck', () => {
    fc.assert(
      fc.property(fc.array(turns, { minLength: 1, maxLength: 7 }), (script) => {
        const here = mkdtempSync(join(folder, 'round-'))
        const { acquire, dead, mustAcquire } = world(here)
        mustAcquire(1)
        dead.add(1)
        const held = new Map<number, Lease>()
        const queue = [...script]
        let nextPid = 2
        const contend = () => {
          const pid = nextPid++
          let turn = queue.shift()
          let step = 0
          const disk = watchedDisk(() => {
            if (dead.has(pid)) throw new Error('killed')
            const event = turn !== undefined && step++ === turn.at ? turn.event : undefined
            if (event === undefined) return
            if (event === 'dies') {
              dead.add(pid)
              throw new Error('killed')
            }
            contend()
            contend()
            if (event === 'pauses-then-others-release') {
              for (const [other, lease] of held) {
                if (other < pid || dead.has(other)) continue
                lease.release()
                held.delete(other)
              }
            }
          })
          try {
            const result = acquire(pid, disk)
            turn = undefined
            if (result.type === 'acquired') held.set(pid, result.lease)
          } catch (error) {
            if (!(error instanceof Error && error.message === 'killed')) throw error
          }
        }
        while (queue.length > 0) contend()
        const holders = [...held].filter(([pid]) => !dead.has(pid))
        expect(holders.length).toBeLessThanOrEqual(1)
        expect(holders.map(([, lease]) => lease.confirm())).toEqual(holders.map(() => ({ type: 'held' })))
        expect(acquire(99).type).toBe(holders.length === 1 ? 'held' : 'acquired')
        rmSync(here, { recursive: true })
      }),
      { numRuns: 400 },
    )
  })

  test('has exactly one winner when a second contender runs whole at any step of the first, and leaves no litter', () => {
    for (let at = 0; at < 40; at++) {
      const here = mkdtempSync(join(folder, 'round-'))
      const { acquire, dead, mustAcquire } = world(here)
      mustAcquire(1)
      dead.add(1)
      const results: LeaseResult[] = []
      let step = 0
      const disk = watchedDisk(() => {
        if (step++ === at) results.push(acquire(3))
      })
      results.push(acquire(2, disk))
      if (results.length === 1) results.push(acquire(3))
      expect(results.map((result) => result.type).toSorted()).toEqual(['acquired', 'held'])
      expect(readdirSync(here)).toEqual(['session.jsonl.lock'])
    }
  })
})
