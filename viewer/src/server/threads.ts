// Starts readers in threads of their own and asks them.
import { Worker } from 'node:worker_threads'
import type { Question, ReaderOptions } from './reader.ts'
import type { Answered, Asked } from './reader-worker.ts'

export type Thread = {
  /** The answer as JSON; undefined if there is nothing with this name. Throws a ReadError if a file cannot be read. */
  readonly ask: (question: Question) => Promise<string | undefined>
  readonly end: () => Promise<void>
}

export class ReadError extends Error {}

export function startThread(options: ReaderOptions): Thread {
  const worker = new Worker(new URL('./reader-worker.ts', import.meta.url), { workerData: options })
  // It must not keep the process alive.
  worker.unref()
  const waiting = new Map<number, { resolve: (json: string | undefined) => void; reject: (error: Error) => void }>()
  let asked = 0
  let ended: Error | undefined
  const failAll = (error: Error) => {
    ended ??= error
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('message', (answered: Answered) => {
    const { resolve, reject } = waiting.get(answered.id) ?? {}
    waiting.delete(answered.id)
    if ('json' in answered) resolve?.(answered.json ?? undefined)
    else reject?.(answered.isExpected ? new ReadError(answered.trouble) : new Error(answered.trouble))
  })
  worker.on('error', (error) => failAll(error instanceof Error ? error : new Error(String(error))))
  worker.on('exit', () => failAll(new Error('The reader ended.')))
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended)
        const id = asked++
        waiting.set(id, { resolve, reject })
        worker.postMessage({ id, question } satisfies Asked)
      }),
    end: async () => {
      await worker.terminate()
    },
  }
}
