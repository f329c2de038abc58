// The terminal's side of the thread: the agent as an object whose methods return promises.

import { Worker } from 'node:worker_threads'
import type { CommandResult, PermissionMode, Prompt } from '../../app.ts'
import { reasonOf } from '../../reason-of.ts'
import type { Ask, AskAnswer, FromHost, Hello, OriginalMessage, SetupScreen, ToHost, UiEvent } from './protocol.ts'

export type RemoteAgent = {
  readonly submit: (prompt: Prompt) => Promise<void>
  readonly interrupt: () => Promise<readonly Prompt[]>
  readonly takeQueued: () => Promise<readonly Prompt[]>
  readonly setMode: (mode: PermissionMode) => Promise<void>
  readonly moveToBackground: () => Promise<number>
  readonly command: (line: string, signal?: AbortSignal) => Promise<CommandResult>
  readonly original: (receipt: string) => Promise<readonly OriginalMessage[]>
  readonly files: (typed: string) => Promise<readonly string[]>
  readonly answer: (id: number, answer: AskAnswer) => void
  readonly close: () => Promise<void>
}

/** Callbacks for the terminal. */
export type RemoteListener = {
  readonly hello: (hello: Hello) => void
  readonly noAgent: (why: string, setup: SetupScreen | undefined) => void
  readonly event: (event: UiEvent) => void
  readonly ask: (id: number, ask: Ask) => void
  readonly withdrawn: (id: number) => void
  /** Something in the agent's thread wrote to standard output or error, or Node issued a warning there. */
  readonly printed: (text: string) => void
  /** The agent's thread ended although nobody closed it. */
  readonly lost: (why: string) => void
}

/** Limits the room for new objects, because Node never returns it to the system. */
const resourceLimits = { maxYoungGenerationSizeMb: 6 }

/** Runs the agent of this module in its own thread; `data` is the worker's `workerData`. */
export function connectToWorker(module: URL, data: unknown, listener: RemoteListener): RemoteAgent {
  const worker = new Worker(module, { workerData: data, stdout: true, stderr: true, resourceLimits })
  for (const stream of [worker.stdout, worker.stderr]) stream.setEncoding('utf8').on('data', listener.printed)
  const pending = new Map<number, { readonly resolve: (value: never) => void; readonly reject: (why: Error) => void }>()
  let isStarted = false
  let isClosing = false
  let calls = 0
  worker.on('message', (message: FromHost) => {
    if (message.type === 'hello') {
      isStarted = true
      listener.hello(message.hello)
    }
    if (message.type === 'no-agent') {
      isClosing = true
      listener.noAgent(message.why, message.setup)
    }
    if (message.type === 'event') listener.event(message.event)
    if (message.type === 'ask') listener.ask(message.id, message.ask)
    if (message.type === 'withdrawn') listener.withdrawn(message.id)
    if (message.type === 'result') {
      const waiting = pending.get(message.id)
      pending.delete(message.id)
      if (message.error === undefined) waiting?.resolve(message.value as never)
      else waiting?.reject(new Error(message.error))
    }
  })
  const end = (why: string) => {
    for (const { reject } of pending.values()) reject(new Error(why))
    pending.clear()
    if (!isClosing) listener.lost(why)
    isClosing = true
  }
  worker.on('error', (error) => end(reasonOf(error)))
  worker.on('exit', (code) => end(`The agent's thread ended with code ${code}.`))
  const post = (message: ToHost) => worker.postMessage(message)
  const call = <Result>(
    name: Extract<ToHost, { type: 'call' }>['name'],
    args: readonly unknown[],
    signal?: AbortSignal,
  ) => {
    const id = ++calls
    return new Promise<Result>((resolve, reject) => {
      pending.set(id, { resolve, reject })
      post({ type: 'call', id, name, args })
      signal?.addEventListener('abort', () => post({ type: 'abort', id }), { once: true })
    })
  }
  return {
    submit: (prompt) => call('submit', [prompt]),
    interrupt: () => call('interrupt', []),
    takeQueued: () => call('takeQueued', []),
    setMode: (mode) => call('setMode', [mode]),
    moveToBackground: () => call('moveToBackground', []),
    command: (line, signal) => call('command', [line], signal),
    original: (receipt) => call('original', [receipt]),
    files: (typed) => call('files', [typed]),
    answer: (id, answer) => post({ type: 'answer', id, answer }),
    close: async () => {
      if (isClosing) return
      isClosing = true
      // Before the start there is nothing to save, and it may be waiting for an answer.
      if (isStarted) await call<void>('close', []).catch(() => undefined)
      await worker.terminate()
    },
  }
}
