#!/usr/bin/env node
// The bin: gives the program the real world and takes its exit code. Nothing is decided here.
import { run } from './program.ts'

// A reader that has seen enough (| head) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

function onInterrupt(tidyUp: () => void): () => void {
  const end = () => {
    tidyUp()
    process.exit(130)
  }
  process.once('SIGINT', end)
  return () => process.off('SIGINT', end)
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
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
  untilStopped,
})
