import { expect, test } from 'vitest'
import { runCommand } from './run-command.ts'

test('a command whose compaction was aborted before it began is ended at once', async () => {
  const run = await runCommand('sleep 30', {
    cwd: process.cwd(),
    input: '',
    timeoutMs: 60_000,
    signal: AbortSignal.abort(),
  })
  expect(run).toEqual({ exit: undefined, stdout: '', stderr: '', end: 'aborted' })
})
