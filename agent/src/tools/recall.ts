// recall: searches and reads everything that was ever said in the session, including text that has left the context. It works in
// its own thread, because indexing a long session takes time.
import { Worker } from 'node:worker_threads'
import { type Archive, createRecallTool, recallTool } from 'everlong/node'
import type { AnyTool, ToolOutput } from '../tool.ts'
import { failed } from './kit.ts'
import type { RecallAnswer, RecallRequest } from './recall-worker.ts'

export type Recall = { readonly tool: AnyTool; readonly close: () => Promise<void> }

/** Only for the tool's name and input. The thread has the archive. */
const { name, description, input_schema } = createRecallTool({
  get archive(): Archive {
    throw new Error('The archive is in another thread.')
  },
})

export function createRecall(): Recall {
  let worker: Worker | undefined
  const waiting = new Map<number, (answer: ToolOutput) => void>()
  let calls = 0
  const fail = (why: string) => {
    for (const resolve of waiting.values()) resolve(failed(`Recall failed: ${why}`))
    waiting.clear()
    worker = undefined
  }
  /** A thread that fails emits `error` and then `exit`; another one may have started by then. */
  const end = (ended: Worker, why: string) => {
    if (ended === worker) fail(why)
  }
  const start = () => {
    const started = new Worker(new URL('./recall-worker.ts', import.meta.url))
    started.unref()
    started.on('message', ({ id, text, isError }: RecallAnswer) => {
      waiting.get(id)?.({ content: text, ...(isError ? { isError } : {}) })
      waiting.delete(id)
    })
    started.on('error', (error) => end(started, String(error)))
    started.on('exit', () => end(started, 'its thread has ended'))
    return started
  }
  const ask = (path: string, input: unknown) =>
    new Promise<ToolOutput>((resolve) => {
      worker ??= start()
      const request: RecallRequest = { id: ++calls, path, input }
      waiting.set(request.id, resolve)
      worker.postMessage(request)
    })
  return {
    tool: {
      name,
      description,
      isParallel: true,
      definition: { name, description, input_schema },
      call: async (input, { session }) => {
        await session.stored()
        if (session.path !== undefined) return ask(session.path, input)
        const { text, isError } = await recallTool(session).run(input)
        return { content: text, ...(isError ? { isError } : {}) }
      },
    },
    close: async () => {
      const running = worker
      fail('the agent is closing')
      await running?.terminate()
    },
  }
}
