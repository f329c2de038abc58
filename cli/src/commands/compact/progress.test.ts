import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import type { Io, Output } from '../../io.ts'
import { createCompactProgress } from './progress.ts'

function terminal(isTTY: boolean) {
  const written: string[] = []
  const raw: boolean[] = []
  const stderr = Object.assign(new PassThrough(), { isTTY })
  stderr.on('data', (chunk) => written.push(String(chunk)))
  const stdin = Object.assign(new PassThrough(), {
    isTTY,
    setRawMode: (isRaw: boolean) => {
      raw.push(isRaw)
    },
  })
  let time = 0
  const io: Io = {
    stdin,
    stdout: stderr as unknown as Output,
    stderr: stderr as unknown as Output,
    env: {},
    cwd: '/',
    now: () => (time += 4_000),
  }
  return { io, written, raw, stdin }
}

test('phase, tokens and time are shown on a terminal, and gone at the end', () => {
  const { io, written, raw } = terminal(true)
  const progress = createCompactProgress(io)
  progress.onEvent({ type: 'compaction-progressed', phase: 'summarizing', outputTokens: 1_234 })
  progress.onEvent({ type: 'compaction-progressed', phase: 'restoring' })
  progress.end()
  const text = written.join('')
  expect(text).toContain('summarizing, 1,234 tokens, 4 s  (Esc to stop)')
  expect(text).toContain('restoring context, 8 s')
  expect(text.endsWith('\u001b[2K')).toBe(true)
  expect(raw).toEqual([true, false])
})

test('Esc stops it, and so does Ctrl-C; an arrow key does not', async () => {
  for (const [key, stops] of [
    ['\u001b', true],
    ['\u0003', true],
    ['\u001b[A', false],
  ] as const) {
    const { io, stdin } = terminal(true)
    const progress = createCompactProgress(io)
    stdin.write(key)
    await new Promise((resolve) => setImmediate(resolve))
    expect(progress.signal.aborted).toBe(stops)
    progress.end()
  }
})

test('without a terminal nothing is shown and no key is read', () => {
  const { io, written, raw } = terminal(false)
  const progress = createCompactProgress(io)
  progress.onEvent({ type: 'compaction-progressed', phase: 'summarizing', outputTokens: 5 })
  progress.end()
  expect([written, raw]).toEqual([[], []])
})
