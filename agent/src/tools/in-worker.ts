// Runs a module once in its own thread, for work that may take long and must not block the terminal.

import { Worker } from 'node:worker_threads'
import { reasonOf } from '../reason-of.ts'

export type WorkerRun<T> =
  | { readonly type: 'done'; readonly value: T }
  | { readonly type: 'failed'; readonly why: string }

export type WorkerOptions = {
  readonly data: unknown
  readonly signal: AbortSignal
  readonly timeoutMs: number
  /** The message if it took too long. */
  readonly tooSlow: string
}

/** The module reads `workerData` and posts one message. */
export async function inWorker<T>(module: URL, options: WorkerOptions): Promise<WorkerRun<T>> {
  const { data, signal, timeoutMs, tooSlow } = options
  const worker = new Worker(module, { workerData: data })
  const { promise, resolve } = Promise.withResolvers<WorkerRun<T>>()
  const fail = (why: string) => resolve({ type: 'failed', why })
  const abort = () => fail('It was stopped.')
  const timer = setTimeout(() => fail(tooSlow), timeoutMs)
  signal.addEventListener('abort', abort)
  worker.once('message', (value: T) => resolve({ type: 'done', value }))
  worker.once('error', (error) => fail(reasonOf(error)))
  if (signal.aborted) abort()
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
    await worker.terminate()
  }
}
