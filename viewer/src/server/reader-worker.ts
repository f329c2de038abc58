// The reader in a thread of its own.
import { parentPort, workerData } from 'node:worker_threads'
import { createReader, type Question, type ReaderOptions } from './reader.ts'

export type Asked = { readonly id: number; readonly question: Question }

/** JSON as text: cheaper to pass between threads than objects. `null`: there is no such thing. */
export type Answered = { readonly id: number } & (
  | { readonly json: string | null }
  | { readonly trouble: string; readonly isExpected: boolean }
)

const port = parentPort
const read = createReader(workerData as ReaderOptions)

async function answer({ id, question }: Asked): Promise<Answered> {
  try {
    const found = await read(question)
    return { id, json: found === undefined ? null : JSON.stringify(found) }
  } catch (error) {
    // A file that is gone or unreadable is nobody's fault; anything else is a bug.
    const isExpected = error instanceof Error && 'code' in error
    return { id, trouble: error instanceof Error ? error.message : String(error), isExpected }
  }
}

// One at a time: sessions are kept in memory between questions.
let queue = Promise.resolve()
port?.on('message', (asked: Asked) => {
  queue = queue.then(async () => port.postMessage(await answer(asked)))
})
