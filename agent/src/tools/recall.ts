// recall: searches and reads everything that was ever said in the session, also what has left the context. It works in a
// thread of its own, because indexing a long session takes time.
import { Worker } from 'node:worker_threads'
import { type Archive, createRecallTool, type Session } from 'everlong/node'
import type { AnyTool, ToolOutput } from '../tool.ts'
import { failed } from './kit.ts'
import type { RecallAnswer, RecallRequest } from './recall-worker.ts'

export type Recall = { readonly tool: AnyTool; readonly close: () => Promise<void> }

/** Only what the tool is called and takes: the thread has the archive. */
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
  const start = () => {
    const started = new Worker(new URL('./recall-worker.ts', import.meta.url))
    started.unref()
    started.on('message', ({ id, text, isError }: RecallAnswer) => {
      waiting.get(id)?.({ content: text, ...(isError ? { isError } : {}) })
      waiting.delete(id)
    })
    started.on('error', (error) => fail(String(error)))
    started.on('exit', () => fail('its thread has ended'))
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
        return session.path === undefined ? inMemory(session, input) : ask(session.path, input)
      },
    },
    close: async () => {
      const running = worker
      worker = undefined
      await running?.terminate()
    },
  }
}

/** A session without a file has no archive; its own recall is simpler. */
async function inMemory(session: Session, input: unknown): Promise<ToolOutput> {
  const { query, read } = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  if (typeof read === 'string') {
    const text = await session.read(read)
    return text === undefined ? failed('Nothing has this id. Search for it first.') : { content: text.slice(0, 16_000) }
  }
  if (typeof query !== 'string') return failed('Expected a query, or the id to read.')
  const { matches } = await session.recall(query, { limit: 5 })
  if (matches.length === 0) return { content: 'Nothing matches.' }
  return {
    content: matches
      .map((match) => JSON.stringify(match))
      .join('\n')
      .slice(0, 16_000),
  }
}
