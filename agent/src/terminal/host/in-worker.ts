// Serves an agent from a worker thread. The worker's module calls this with a function that starts its agent.
import { parentPort, workerData } from 'node:worker_threads'
import { type HostPort, type StartAgent, serveAgent } from './serve.ts'

export function serveInWorker<Data>(
  start: (data: Data, person: Parameters<StartAgent>[0]) => ReturnType<StartAgent>,
): void {
  if (!parentPort) throw new Error('This module runs in a worker thread.')
  void serveAgent(parentPort as HostPort, (person) => start(workerData as Data, person))
}
