// A thread that does the long, pure work of compactions, one task at a time. It has no state, no files and no network.
import { parentPort } from 'node:worker_threads'
import { type TaskName, tasks, workOf } from '../../core/compaction/tasks.ts'
import { errorText } from '../../core/message/json.ts'
import { doInSlices } from '../../core/text/slices.ts'
import { nextTurn } from '../../models/ports.ts'
import type { FromThread, ToThread } from './pool.ts'

const canceled = new Set<number>()
const post = (message: FromThread) => parentPort?.postMessage(message)

async function work({ id, name, input }: Extract<ToThread, { readonly type: 'task' }>): Promise<void> {
  try {
    if (!Object.hasOwn(tasks, name)) throw new Error(`There is no task ${name}.`)
    // Between two slices a message that cancels it can arrive.
    const pause = async () => {
      await nextTurn()
      if (canceled.has(id)) throw new Error('canceled')
    }
    const value = await doInSlices(workOf(name as TaskName, input as never), pause)
    post({ type: 'done', id, value })
  } catch (error) {
    post({ type: 'failed', id, why: errorText(error) })
  } finally {
    canceled.delete(id)
  }
}

parentPort?.on('message', (message: ToThread) => {
  if (message.type === 'task') void work(message)
  else canceled.add(message.id)
})
post({ type: 'ready' })
