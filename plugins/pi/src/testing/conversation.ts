// Drives pi in its RPC mode for tests: sends commands as JSON lines, and waits for what comes back.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { type JsonObject, stringAt } from 'everlong/internal'

export type Conversation = {
  /** Until the agent has nothing more to do. */
  readonly prompt: (message: string) => Promise<unknown>
  /** A command of the extension: what it tells the person. */
  readonly command: (message: string) => Promise<string>
  readonly compact: () => Promise<JsonObject>
  readonly end: () => Promise<void>
}

export type Started = { readonly cwd: string; readonly env: NodeJS.ProcessEnv }

const patience = 90_000

export function openConversation(args: readonly string[], { cwd, env }: Started): Conversation {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const listeners = new Set<(event: JsonObject) => void>()
  const seen: string[] = []
  const send = (command: JsonObject) => child.stdin.write(`${JSON.stringify(command)}\n`)
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event: JsonObject = JSON.parse(line)
    seen.push(line.slice(0, 200))
    // Every question of the extension is answered with yes.
    if (event.method === 'confirm') send({ type: 'extension_ui_response', id: event.id, confirmed: true })
    for (const listener of listeners) listener(event)
  })
  const ask = (command: JsonObject, isIt: (event: JsonObject) => boolean) =>
    new Promise<JsonObject>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`pi did not answer. Its last events:\n${seen.slice(-8).join('\n')}`)),
        patience,
      )
      const listener = (event: JsonObject) => {
        if (!isIt(event)) return
        clearTimeout(timer)
        listeners.delete(listener)
        resolve(event)
      }
      listeners.add(listener)
      send(command)
    })
  return {
    prompt: (message) => ask({ type: 'prompt', message }, ({ type }) => type === 'agent_settled'),
    command: async (message) => {
      const isNote = ({ method }: JsonObject) => method === 'notify'
      return stringAt(await ask({ type: 'prompt', message }, isNote), 'message') ?? ''
    },
    compact: () => ask({ type: 'compact' }, ({ type, command }) => type === 'response' && command === 'compact'),
    end: async () => {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.stdin.end()
      await ended
    },
  }
}
