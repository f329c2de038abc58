// A thread that runs one session after another and reports each result.
import { parentPort } from 'node:worker_threads'
import type { Run } from './pool.ts'
import { runSession } from './session.ts'
import { strategyNamed } from './strategies.ts'

parentPort?.on('message', async ({ setup, who, name }: Run) => {
  parentPort?.postMessage(await runSession(setup, strategyNamed(who, name)))
})
