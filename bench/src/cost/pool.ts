// Runs sessions on as many threads as there are processors, and gives the outcomes in the order they were asked for.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Outcome } from './session.ts'
import type { Setup } from './setup.ts'

export type Run = { readonly setup: Setup; readonly who: string; readonly name: string }
export type Ran = Run & { readonly outcome: Outcome }

export async function runAll(runs: readonly Run[], done: (ran: Ran) => void): Promise<readonly Ran[]> {
  const outcomes: Ran[] = []
  let next = 0
  const work = async () => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url))
    try {
      while (next < runs.length) {
        const at = next++
        const run = runs[at]
        if (!run) break
        const ran = { ...run, outcome: await answerOf(worker, run) }
        outcomes[at] = ran
        done(ran)
      }
    } finally {
      await worker.terminate()
    }
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), runs.length) }, work))
  return outcomes
}

function answerOf(worker: Worker, run: Run): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    worker.once('message', (outcome: Outcome) => {
      worker.removeAllListeners('error')
      resolve(outcome)
    })
    worker.once('error', reject)
    worker.postMessage(run)
  })
}
