#!/usr/bin/env node
// Connects the program to the process: streams, signals, exit code.
import { run } from './program.ts'

process.stdout.on('error', async (error: NodeJS.ErrnoException) => {
  // A reader that closes the pipe early, such as `| head`, is not an error.
  if (error.code === 'EPIPE') process.exit(0)
  const { systemTrouble } = await import('./outcome.ts')
  const trouble = systemTrouble('the output cannot be written', error)
  if (trouble === undefined) throw error
  process.stderr.write(`everlong: ${trouble}\n`)
  process.exit(1)
})
// Nothing can be reported any more.
process.stderr.on('error', () => process.exit(1))

function onInterrupt(cleanUp: () => void): () => void {
  const end = () => {
    cleanUp()
    process.exit(130)
  }
  process.once('SIGINT', end)
  return () => process.off('SIGINT', end)
}

/** A terminal and a launcher may both send Ctrl-C, so a second signal within a second is ignored. A later one ends the process. */
function onStop(stop: () => void): () => void {
  const sameMs = 1_000
  let stoppedAt: number | undefined
  const end = () => {
    if (stoppedAt !== undefined && Date.now() - stoppedAt > sameMs) process.exit(130)
    stoppedAt ??= Date.now()
    stop()
  }
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, end)
  return () => {
    for (const signal of signals) process.off(signal, end)
  }
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    onStop(resolve)
  })
}

process.exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  now: Date.now,
  onInterrupt,
  onStop,
  untilStopped,
})
