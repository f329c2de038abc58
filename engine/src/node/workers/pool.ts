// Worker threads shared by all engines of a process. Sessions take turns: each gets one task done before any gets a second one.
// Threads start on demand, and an idle one does not keep the process alive.
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { errorText } from '../../core/message/json.ts'
import type { Offload, Offloaded, OffloadedTask } from '../../core/ports/ports.ts'

export type ToThread =
  | ({ readonly type: 'task'; readonly id: number } & OffloadedTask)
  | { readonly type: 'cancel'; readonly id: number }

export type FromThread =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly why: string }

type Job = { readonly id: number; readonly task: OffloadedTask; readonly end: (outcome: Offloaded) => void }

type Thread = { readonly worker: Worker; isReady: boolean; job: Job | undefined }

export type PoolOptions = { readonly maxThreads: number; readonly start: () => Worker }

export class WorkerPool {
  private readonly options: PoolOptions
  private readonly threads = new Set<Thread>()
  /** The jobs of each waiting session, next session first. */
  private readonly waiting = new Map<object, Job[]>()
  /** The reason why no thread can start. */
  private problem: string | undefined
  private lastId = 0

  constructor(options: PoolOptions) {
    this.options = options
  }

  /** For one session. */
  offload(): Offload {
    const session = {}
    let wasTold = false
    return async (task, signal) => {
      if (signal?.aborted) return { type: 'aborted' }
      const outcome = this.problem === undefined ? await this.done(session, task, signal) : { type: 'failed' as const }
      if (outcome.type !== 'failed' || this.problem === undefined) return outcome
      const why = wasTold ? {} : { why: this.problem }
      wasTold = true
      return { type: 'failed', ...why }
    }
  }

  private done(session: object, task: OffloadedTask, signal: Parameters<Offload>[1]): Promise<Offloaded> {
    return new Promise((resolve) => {
      const abort = () => this.abort(session, job)
      const end = (outcome: Offloaded) => {
        signal?.removeEventListener('abort', abort)
        resolve(outcome)
      }
      const job: Job = { id: ++this.lastId, task, end }
      signal?.addEventListener('abort', abort, { once: true })
      this.waiting.set(session, [...(this.waiting.get(session) ?? []), job])
      this.assign()
    })
  }

  /** The thread that works on it stops after its slice, and is busy until then. */
  private abort(session: object, job: Job): void {
    const left = (this.waiting.get(session) ?? []).filter((other) => other !== job)
    if (left.length > 0) this.waiting.set(session, left)
    else this.waiting.delete(session)
    for (const { worker, job: own } of this.threads) if (own === job) post(worker, { type: 'cancel', id: job.id })
    job.end({ type: 'aborted' })
  }

  private assign(): void {
    while (this.waiting.size > 0) {
      const thread = [...this.threads].find(({ job }) => job === undefined) ?? this.startThread()
      const job = thread && this.next()
      if (!job) return
      thread.job = job
      // Keeps the process alive while a caller waits for the work.
      thread.worker.ref()
      try {
        post(thread.worker, { type: 'task', id: job.id, ...job.task })
      } catch (error) {
        this.release(thread, {
          type: 'failed',
          why: `Its input cannot be copied to a worker thread: ${errorText(error)}`,
        })
      }
    }
  }

  private next(): Job | undefined {
    const [first] = this.waiting
    if (!first) return undefined
    const [session, [job, ...later]] = first
    this.waiting.delete(session)
    if (later.length > 0) this.waiting.set(session, later)
    return job
  }

  private release(thread: Thread, outcome: Offloaded): void {
    const { job } = thread
    thread.job = undefined
    thread.worker.unref()
    job?.end(outcome)
  }

  /** Undefined if all are busy or none can be started. */
  private startThread(): Thread | undefined {
    if (this.threads.size >= this.options.maxThreads) return undefined
    try {
      const thread: Thread = { worker: this.options.start(), isReady: false, job: undefined }
      this.threads.add(thread)
      const { worker } = thread
      worker.on('message', (message: FromThread) => this.onThreadMessage(thread, message))
      worker.on('error', (error) => this.lose(thread, errorText(error)))
      worker.on('exit', (code) => this.lose(thread, `it ended with exit code ${code}`))
      worker.unref()
      return thread
    } catch (error) {
      this.giveUp(errorText(error))
      return undefined
    }
  }

  private onThreadMessage(thread: Thread, message: FromThread): void {
    if (message.type === 'ready') {
      thread.isReady = true
      return
    }
    if (message.id !== thread.job?.id) return
    const { id: _, ...outcome } = message
    this.release(thread, outcome)
    this.assign()
  }

  /** Its task runs elsewhere, and the next task starts another thread. A thread that was never ready would fail again. */
  private lose(thread: Thread, why: string): void {
    if (!this.threads.delete(thread)) return
    if (!thread.isReady) this.giveUp(why)
    this.release(thread, { type: 'failed', why: `A worker thread failed: ${why}.` })
    this.assign()
  }

  private giveUp(why: string): void {
    this.problem ??= `No worker thread could be started: ${why}. ${howToFix}`
    const jobs = [...this.waiting.values()].flat()
    this.waiting.clear()
    for (const job of jobs) job.end({ type: 'failed' })
  }
}

const howToFix =
  'All work is done on the main thread. If your server is bundled, keep "everlong" out of the bundle (external), or copy node_modules/everlong/dist/compaction-worker.js next to the bundle.'

function post(worker: Worker, message: ToThread): void {
  worker.postMessage(message)
}

/**
 * Compactions are rare and take a tenth of a second, so four threads do about forty per second. One processor is left for the
 * event loop.
 */
const maxThreads = Math.min(4, Math.max(1, availableParallelism() - 1))

let shared: WorkerPool | undefined

/** The pool of this process. */
export function sharedPool(): WorkerPool {
  shared ??= new WorkerPool({ maxThreads, start: startWorker })
  return shared
}

/** Without the options and the environment of the process, because it needs neither preloaded modules nor secrets. */
function startWorker(): Worker {
  return new Worker(new URL('./compaction-worker.ts', import.meta.url), { name: 'everlong', execArgv: [], env: {} })
}
