import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const program = join(import.meta.dirname, '../../bin.ts')

test('a start takes the compiled code of the agent from the start before', () => {
  const root = mkdtempSync(join(tmpdir(), 'everlong-compiled-'))
  const [folder, home] = [join(root, 'project'), join(root, 'home')]
  mkdirSync(folder)
  const { NODE_COMPILE_CACHE: _, ...inherited } = process.env
  const env = { ...inherited, TMPDIR: root, EVERLONG_HOME: home, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' }
  const isTaken = () => {
    const options = { env, input: '/quit\n', encoding: 'utf8', maxBuffer: 100_000_000 } as const
    const args = [program, 'agent', folder, '--model', 'demo', '--plain']
    const { status, stderr } = spawnSync(process.execPath, args, options)
    expect(status).toBe(0)
    return /code cache for ESM \S*\/create-agent\.ts was accepted/.test(stderr)
  }
  try {
    expect([isTaken(), isTaken()]).toEqual([false, true])
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
})
