// The agent's side of the thread: turns its events into events for the terminal, and answers the terminal's calls.

import { join } from 'node:path'
import { textOf } from 'everlong/internal'
import { sessionFolder } from 'everlong/internal/node'
import type { Agent, Person } from '../../app.ts'
import { commandNamed } from '../../commands/run.ts'
import { reasonOf } from '../../reason-of.ts'
import { originalOf } from '../../receipt.ts'
import { todosOf } from '../../todos.ts'
import { keepCompiled } from '../keep-compiled.ts'
import { createFileFinder } from './find-files.ts'
import { createNarrator, type Narrator, readGauge } from './narrator.ts'
import type { Ask, AskAnswer, Calls, CommandInfo, FromHost, Hello, SetupScreen, ToHost } from './protocol.ts'

/** One end of a MessageChannel, or a worker's parent port. */
export type HostPort = {
  readonly postMessage: (message: FromHost) => void
  readonly on: (name: 'message', listener: (message: ToHost) => void) => unknown
  readonly close: () => void
}

export type Started =
  | (Partial<Pick<Hello, 'past' | 'notices'>> & {
      readonly bell?: boolean | undefined
      readonly type: 'agent'
      readonly agent: Agent
      readonly commands: readonly CommandInfo[]
      /** A custom command. */
      readonly statusLine?: string | undefined
      readonly folder: string
    })
  | { readonly type: 'none'; readonly why: string; readonly setup?: SetupScreen }

export type StartAgent = (person: Person) => Promise<Started>

/** Starts the agent and serves it until the terminal closes it. */
export async function serveAgent(port: HostPort, start: StartAgent): Promise<void> {
  const asking = createAsking(port)
  const waiting: ToHost[] = []
  let receive = (message: ToHost): void => void waiting.push(message)
  port.on('message', (message) =>
    message.type === 'answer' ? asking.answer(message.id, message.answer) : receive(message),
  )
  const started = await start(asking.person).catch(
    (error: unknown): Started => ({ type: 'none', why: reasonOf(error) }),
  )
  if (started.type === 'none') {
    const { why, setup } = started
    port.postMessage({ type: 'no-agent', why, ...(setup ? { setup } : {}) })
    port.close()
    return
  }
  const { agent, commands, folder, past = [], notices = [], statusLine, bell } = started
  const narrator = createNarrator(agent, {
    folder,
    send: (event) => port.postMessage({ type: 'event', event }),
    ...(statusLine === undefined ? {} : { statusLine }),
  })
  asking.onPermission(narrator.rememberDiff)
  receive = createReceiver(port, callsOf(agent, narrator, folder))
  const gauge = readGauge(agent)
  const { path } = agent.session()
  port.postMessage({
    type: 'hello',
    hello: {
      ...{ state: agent.state(), commands, past, notices },
      ...(gauge ? { gauge } : {}),
      ...(bell === undefined ? {} : { bell }),
      ...(path === undefined ? {} : { logFile: join(sessionFolder(path), 'output.log') }),
    },
  })
  for (const message of waiting) receive(message)
  keepCompiled()
}

/** Maximum characters of a message for the terminal. The transcript has all of them. */
const maxOriginal = 4_000

function callsOf(
  agent: Agent,
  narrator: Narrator,
  folder: string,
): { readonly [Name in keyof Calls]: (...args: never[]) => unknown } {
  return {
    files: createFileFinder(folder),
    submit: (prompt: Parameters<Agent['submit']>[0]) => agent.submit(prompt),
    interrupt: () => agent.interrupt(),
    takeQueued: () => agent.takeQueued(),
    setMode: (mode: Parameters<Agent['setMode']>[0]) => agent.setMode(mode),
    moveToBackground: () => agent.moveToBackground(),
    command: async (line: string, signal: AbortSignal) => {
      const result = await agent.command(line, signal).finally(narrator.refresh)
      // It may have reversed a call that wrote the list of steps.
      if (commandNamed(line)?.needsQuiet) narrator.tellTodos(await todosOf(agent.session()))
      return result
    },
    original: async (receipt: string) =>
      (await originalOf(agent.session(), receipt)).map(({ role, content }) => {
        const text = textOf(content)
        return { role, text: text.slice(0, maxOriginal), isCut: text.length > maxOriginal }
      }),
    close: async () => {
      narrator.stop()
      await agent.close()
    },
  }
}

function createReceiver(port: HostPort, calls: ReturnType<typeof callsOf>): (message: ToHost) => void {
  const running = new Map<number, AbortController>()
  const run = async (id: number, name: keyof Calls, args: readonly unknown[]): Promise<void> => {
    const stop = new AbortController()
    running.set(id, stop)
    try {
      const call = calls[name] as (...args: readonly unknown[]) => unknown
      const value = await call(...args, stop.signal)
      port.postMessage({ type: 'result', id, value })
    } catch (error) {
      port.postMessage({ type: 'result', id, error: reasonOf(error) })
    }
    running.delete(id)
    if (name === 'close') port.close()
  }
  return (message) => {
    if (message.type === 'call') void run(message.id, message.name, message.args)
    if (message.type === 'abort') running.get(message.id)?.abort()
  }
}

/** The person is in the other thread, so questions are sent there with a number, and answers return with it. */
function createAsking(port: HostPort) {
  const waiting = new Map<number, (answer: AskAnswer) => void>()
  let asked = 0
  let onPermission: (request: Extract<Ask, { readonly type: 'permission' }>['request']) => void = () => undefined
  const ask = (what: Ask, signal: AbortSignal): Promise<AskAnswer> => {
    if (signal.aborted) return Promise.resolve(undefined)
    const id = ++asked
    return new Promise((resolve) => {
      const withdraw = () => {
        port.postMessage({ type: 'withdrawn', id })
        finish(undefined)
      }
      const finish = (answer: AskAnswer) => {
        signal.removeEventListener('abort', withdraw)
        waiting.delete(id)
        resolve(answer)
      }
      waiting.set(id, finish)
      signal.addEventListener('abort', withdraw, { once: true })
      port.postMessage({ type: 'ask', id, ask: what })
    })
  }
  const person: Person = {
    askPermission: async (request, signal) => {
      onPermission(request)
      const answer = await ask({ type: 'permission', request }, signal)
      return answer !== undefined && 'type' in answer ? answer : { type: 'deny', reason: 'The turn was stopped.' }
    },
    askQuestions: async (questions, signal) => {
      const answer = await ask({ type: 'questions', questions }, signal)
      return answer !== undefined && !('type' in answer) ? answer : undefined
    },
  }
  return {
    person,
    answer: (id: number, answer: AskAnswer) => waiting.get(id)?.(answer),
    onPermission: (listener: typeof onPermission) => {
      onPermission = listener
    },
  }
}
