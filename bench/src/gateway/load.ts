// An upstream that streams answers, clients that read them, and the process between them. Clients and upstream share a process, so
// that one clock measures the way of a request to the upstream and of the first event back.
import { type ChildProcess, fork } from 'node:child_process'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Used } from './serve.ts'

export const kinds = ['direct', 'hono', 'observe', 'answer'] as const
export type Kind = (typeof kinds)[number] | 'manage'

const eventsPerSecond = 4

/** How long an answer takes: the first event at once, then four a second. */
export async function startUpstream(): Promise<{ url: string; streamMs: (ms: number) => void; close: () => void }> {
  let streamMs = 0
  const server = createServer((incoming, outgoing) => {
    incoming.resume()
    incoming.on('end', () => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      outgoing.write(head)
      // Of the streams that a run begins with, some are nearly over.
      const share = Number(incoming.headers['x-bench-share'] ?? 1)
      let left = Math.round((share * streamMs * eventsPerSecond) / 1_000)
      if (left === 0) return outgoing.end(tail)
      const timer = setInterval(() => {
        if (left-- > 0) return outgoing.write(delta)
        clearInterval(timer)
        return outgoing.end(tail)
      }, 1_000 / eventsPerSecond)
      outgoing.on('close', () => clearInterval(timer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streamMs: (ms) => {
      streamMs = ms
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const event = (data: { readonly type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  model: 'claude-opus-5',
  content: [],
  stop_reason: null,
}
const usage = { input_tokens: 10, output_tokens: 1, cache_read_input_tokens: 2_000, cache_creation_input_tokens: 100 }
const head = [
  event({ type: 'message_start', ...{ message: { ...message, usage } } }),
  event({ type: 'content_block_start', ...{ index: 0, content_block: { type: 'text', text: '' } } }),
].join('')
const delta = event({
  type: 'content_block_delta',
  ...{ index: 0, delta: { type: 'text_delta', text: 'A few words of an answer. ' } },
})
const tail = [
  delta,
  event({ type: 'content_block_stop', ...{ index: 0 } }),
  event({ type: 'message_delta', ...{ delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 40 } } }),
  event({ type: 'message_stop' }),
].join('')

/** Bodies of a size, as of many conversations: a long history that is known, and something new each time. */
export function bodies(bytes: number): () => { readonly session: string; readonly body: Buffer } {
  const sessions = 100
  const size = bytes >= 100_000 ? 5_000 : 1_000
  const words = 'The herons of the marsh are counted twice a year, in spring and in autumn. '
  const history = Array.from({ length: Math.max(1, Math.round(bytes / size)) }, (_, at) => ({
    role: at % 2 === 0 ? 'user' : 'assistant',
    content: `${at}: ${words.repeat(size / words.length)}`,
  }))
  const known = JSON.stringify(history).slice(1, -1)
  let count = 0
  return () => {
    const session = `s${count % sessions}`
    const said = JSON.stringify({ role: 'user', content: `Question ${count++}.` })
    const first = JSON.stringify({ role: 'user', content: `This is session ${session}.` })
    const text = `{"model":"claude-opus-5","max_tokens":1000,"stream":true,"messages":[${first},${known},${said}]}`
    return { session, body: Buffer.from(text) }
  }
}

export type Target = { readonly url: string; readonly used: () => Promise<Used>; readonly stop: () => Promise<void> }

/** Starts the process under load. */
export async function startTarget(kind: Kind, upstream: string, data: string): Promise<Target> {
  if (kind === 'direct') return { url: upstream, used: async () => ({ rss: 0, cpuMs: 0 }), stop: async () => undefined }
  const child = fork(join(import.meta.dirname, 'serve.ts'), [kind, upstream, data], { execArgv: ['--expose-gc'] })
  const url = String(await nextMessage(child))
  return {
    url,
    used: () => {
      child.send('used')
      return nextMessage(child) as Promise<Used>
    },
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.send('stop')
      }),
  }
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('exit', (code) => reject(new Error(`the process under load ended with ${code}`)))
  })
}

export type Asking = {
  readonly url: string
  readonly agent: Agent
  readonly session: string
  readonly body: Buffer
  readonly share?: number
}

export const newAgent = () => new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

/** `first`: milliseconds from sending to the first byte of the answer. `ended` resolves at its last. */
export function ask({ url, agent, session, body, share = 1 }: Asking): {
  first: Promise<number>
  ended: Promise<void>
} {
  const first = Promise.withResolvers<number>()
  const ended = Promise.withResolvers<void>()
  const headers = {
    ...{ 'content-type': 'application/json', 'content-length': body.length, 'x-api-key': 'bench' },
    ...{ 'anthropic-version': '2023-06-01', 'x-everlong-session': session, 'x-bench-share': String(share) },
  }
  const fail = (error: Error) => {
    first.reject(error)
    ended.reject(error)
  }
  const start = performance.now()
  const sent = request(`${url}/v1/messages`, { method: 'POST', agent, headers }, (response) => {
    if (response.statusCode !== 200) fail(new Error(`status ${response.statusCode}`))
    response.once('data', () => first.resolve(performance.now() - start))
    response.resume()
    response.on('end', () => ended.resolve())
    response.on('error', fail)
  })
  sent.on('error', fail)
  sent.end(body)
  return { first: first.promise, ended: ended.promise }
}
