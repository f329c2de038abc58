// Helpers for tests of the simulator: take a request, return the status and the parsed answer. Not part of the package.
import type { Block } from 'everlong'
import { isObject, type JsonObject } from 'everlong/internal'
import type { SimulatorOptions } from '../api/world.ts'
import type { Script } from '../script/script.ts'
import { createSimulator, type Simulator } from '../simulator.ts'

export type Told = { readonly status: number; readonly body: JsonObject }

export const saysHello: Script = () => ({ content: [{ type: 'text', text: 'Hello.' }] })

/** Calls a tool if there is one, then answers plainly, which every client must be able to handle. */
export function callsOnce(call: readonly Block[]): Script {
  return ({ messages, tools }) => {
    const last = messages.at(-1)
    const isAnswered = Array.isArray(last?.content) && last.content.some((block) => block.type === 'tool_result')
    if (tools.length > 0 && !isAnswered) return { content: call }
    return { content: [{ type: 'text', text: 'A plain answer with 🎈 in it, long enough to come in several pieces.' }] }
  }
}

export function simulate(options: Partial<SimulatorOptions> = {}): Simulator {
  return createSimulator({ script: saysHello, ...options })
}

const usual = { 'content-type': 'application/json', 'x-api-key': 'key', 'anthropic-version': '2026-10-21' }

export function send(
  simulator: Simulator,
  body: unknown,
  { path = '/v1/messages', headers = {} }: { path?: string; headers?: Readonly<Record<string, string>> } = {},
): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return simulator.fetch(`http://simulator${path}`, { method: 'POST', body: text, headers: { ...usual, ...headers } })
}

export async function ask(simulator: Simulator, body: unknown, options?: Parameters<typeof send>[2]): Promise<Told> {
  const response = await send(simulator, body, options)
  const parsed: unknown = await response.json()
  return { status: response.status, body: isObject(parsed) ? parsed : {} }
}

export function errorOf(told: Told): unknown {
  return told.body.error
}

/** The events of a stream, in order. */
export async function eventsIn(response: Response): Promise<readonly JsonObject[]> {
  const text = await response.text()
  return text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => {
      const [name = '', data = ''] = part.split('\n')
      const event: unknown = JSON.parse(data.replace(/^data: /, ''))
      if (!isObject(event) || `event: ${String(event.type)}` !== name) throw new Error(`not an event: ${part}`)
      return event
    })
}
