import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { nodeProcesses } from './lock-file.ts'

const { isDead, self } = nodeProcesses
const here = self()

describe('a process', () => {
  test('that runs is alive, and one that has ended is dead', () => {
    const ended = spawnSync(process.execPath, ['--version']).pid
    expect([isDead(here), isDead({ ...here, pid: ended })]).toEqual([false, true])
  })

  test('of another machine, of another boot, or without a number may be alive', () => {
    const ended = { ...here, pid: spawnSync(process.execPath, ['--version']).pid }
    const marks = [
      { ...ended, host: `not-${here.host}` },
      { ...ended, machine: 'another' },
      { ...here, pid: 0 },
    ]
    expect([...marks, { ...here, pid: -1 }].map(isDead)).toEqual([false, false, false, false])
  })
})

describe.runIf(existsSync('/proc/self/stat'))('where the system tells more', () => {
  test('a number that is used again does not bring the dead back', () => {
    expect(isDead({ ...here, started: '1' })).toBe(true)
  })

  test('one that was killed and not yet fetched by its parent is dead', async () => {
    // The shell becomes a program that never waits for the child it inherits. The child must live until then, because the shell
    // reaps one that ends earlier.
    const parent = spawn('sh', ['-c', 'sleep 1 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const [line] = await once(parent.stdout, 'data')
      const { started: _, ...mark } = { ...here, pid: Number(String(line)) }
      for (let tries = 0; tries < 6000 && !isDead(mark); tries++) await pause(5)
      expect(existsSync(`/proc/${mark.pid}`)).toBe(true)
      expect(isDead(mark)).toBe(true)
    } finally {
      parent.kill('SIGKILL')
    }
  })
})
