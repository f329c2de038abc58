// One session after another in a thread of its own: told what to run, says how it went.
import { parentPort } from 'node:worker_threads'
import type { Run } from './pool.ts'
import { runSession } from './session.ts'
import { strategyNamed } from './strategies.ts'

parentPort?.on('message', async ({ setup, who, name }: Run) => {
  parentPort?.postMessage(await runSession(setup, strategyNamed(who, name)))
})
